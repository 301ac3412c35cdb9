// Numbers, shares and dates as people read them.

const grouped = new Intl.NumberFormat("en-US");
const DAY = 86_400_000;
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

export const count = (n) => grouped.format(n);
export const documents = (n) => (n === 1 ? "1 document" : `${count(n)} documents`);

/** 14 %, 3.2 %, < 0.1 % */
export function share(part) {
  if (!Number.isFinite(part)) return "–";
  const percent = 100 * part;
  if (percent === 0) return "0%";
  if (percent < 0.1) return "<0.1%";
  return percent < 9.95 ? `${percent.toFixed(1)}%` : `${Math.round(percent)}%`;
}

export const dayOf = (year, month = 0, day = 1) => {
  const date = new Date(0);
  date.setUTCFullYear(year, month, day); // Date.UTC takes the years 0 to 99 for those of the 20th century
  return Math.round(date.getTime() / DAY);
};

export const dateOf = (day) => new Date(day * DAY);
export const isoDay = (day) => dateOf(day).toISOString().slice(0, 10);
export const yearOf = (day) => dateOf(day).getUTCFullYear();

/** The day of 1861-03-04; null where it is none. */
export function dayFromIso(text) {
  const found = /^(-?\d{1,6})-(\d\d)-(\d\d)$/.exec(text ?? "");
  return found ? dayOf(Number(found[1]), Number(found[2]) - 1, Number(found[3])) : null;
}

/** 4 March 1861; a first of January in a corpus of years is the year alone. */
export function longDate(day, yearsOnly = false) {
  const date = dateOf(day);
  if (yearsOnly) return String(date.getUTCFullYear());
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

export const shortMonth = (month) => MONTHS[month].slice(0, 3);

/** Markup that breaks a line, as the line break that it is; other markup stays as it was written. */
export const withLines = (text) => text.replace(/<br\s*\/?>/gi, "\n");

/** A text cut at a space, with an ellipsis where something is missing. */
export function shortened(text, length) {
  const flat = text.slice(0, 4 * length).replace(/\s+/g, " ").trim();
  if (flat.length <= length && text.length <= 4 * length) return flat;
  const cut = flat.slice(0, length);
  const space = cut.lastIndexOf(" ");
  return (space > 0.6 * length ? cut.slice(0, space) : cut) + "…";
}
