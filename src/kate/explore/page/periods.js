// Time in equal periods: as long as the span of the dates suggests.

import { NO_DATE } from "./page_data.js";
import { dateOf, dayOf, shortMonth } from "./wording.js";

const MOST = 260;

/** How long periods may be: the name, how many of the finest unit (months or days) they take, and their name for people. */
const LENGTHS = [
  { name: "day", days: 1 },
  { name: "week", days: 7 },
  { name: "month", months: 1 },
  { name: "quarter", months: 3 },
  { name: "year", months: 12 },
  { name: "5 years", months: 60 },
  { name: "decade", months: 120 },
  { name: "century", months: 1200 },
];

/**
 * Periods from the first day to the last.
 * @param {number} first day since 1970
 * @param {number} last
 * @returns {{name: string, n: number, place: (day: number) => number, starts: Int32Array}}
 */
export function periodsBetween(first, last) {
  // a corpus of a few months by days, of years by months, of centuries by years
  const length = LENGTHS.find((one) => spanned(one, first, last) <= MOST) ?? LENGTHS.at(-1);
  const n = spanned(length, first, last);
  const starts = new Int32Array(n + 1);
  for (let period = 0; period <= n; period++) starts[period] = startOf(length, first, period);
  const place = (day) => (day === NO_DATE || day < first || day > last ? -1 : placeOf(length, first, day));
  return { name: length.name, n, place, starts };
}

const monthOf = (day) => {
  const date = dateOf(day);
  return 12 * date.getUTCFullYear() + date.getUTCMonth();
};

function placeOf(length, first, day) {
  if (length.days) return Math.floor((day - first) / length.days);
  return Math.floor(monthOf(day) / length.months) - Math.floor(monthOf(first) / length.months);
}

const spanned = (length, first, last) => placeOf(length, first, last) + 1;

function startOf(length, first, period) {
  if (length.days) return first + period * length.days;
  const month = (Math.floor(monthOf(first) / length.months) + period) * length.months;
  return dayOf(Math.floor(month / 12), month - 12 * Math.floor(month / 12));
}

/** The name of a period for people. */
export function periodName(periods, period) {
  const date = dateOf(periods.starts[period]);
  const year = date.getUTCFullYear();
  switch (periods.name) {
    case "day": return `${date.getUTCDate()} ${shortMonth(date.getUTCMonth())} ${year}`;
    case "week": return `week of ${date.getUTCDate()} ${shortMonth(date.getUTCMonth())} ${year}`;
    case "month": return `${shortMonth(date.getUTCMonth())} ${year}`;
    case "quarter": return `${year}, ${["1st", "2nd", "3rd", "4th"][Math.floor(date.getUTCMonth() / 3)]} quarter`;
    case "year": return String(year);
    case "5 years": return `${year}–${year + 4}`;
    case "decade": return `${year}s`;
    default: return `${year}–${year + 99}`;
  }
}

/** Where an axis has its marks: [{day, text}], no more than `most`. */
export function axisMarks(first, last, most) {
  const days = last - first + 1;
  const steps = [
    ...[1, 2, 7, 14].map((n) => ({ days: n })),
    ...[1, 3, 6].map((n) => ({ months: n })),
    ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => ({ months: 12 * n })),
  ];
  const step = steps.find((one) => days / (one.days ?? 30.44 * one.months) <= most) ?? steps.at(-1);
  const marks = [];
  if (step.days) {
    for (let day = Math.ceil(first / step.days) * step.days; day <= last; day += step.days) {
      const date = dateOf(day);
      marks.push({ day, text: `${date.getUTCDate()} ${shortMonth(date.getUTCMonth())}` });
    }
    return marks;
  }
  for (let month = Math.ceil(monthOf(first) / step.months) * step.months; ; month += step.months) {
    const year = Math.floor(month / 12), inYear = month - 12 * year;
    const day = dayOf(year, inYear);
    if (day > last) return marks;
    if (day >= first) marks.push({ day, text: inYear && step.months < 12 ? shortMonth(inYear) : String(year) });
  }
}

/** Values smoothed by a bell curve over the periods around, so that a line shows what lasts. */
export function smoothed(values, width) {
  const reach = Math.ceil(3 * width);
  if (reach < 1 || width < 0.3) return Float64Array.from(values);
  const bell = Float64Array.from({ length: 2 * reach + 1 }, (_, at) => Math.exp(-0.5 * ((at - reach) / width) ** 2));
  const found = new Float64Array(values.length);
  for (let at = 0; at < values.length; at++) {
    const from = Math.max(0, at - reach), to = Math.min(values.length - 1, at + reach);
    for (let near = from; near <= to; near++) found[at] += bell[near - at + reach] * values[near];
  }
  return found;
}
