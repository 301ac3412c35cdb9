// The use of a word through time: the share of the documents of each period that hold it.

import { drawn, fill } from "../elements.js";
import { axisMarks, periodName, smoothed } from "../periods.js";
import { share } from "../wording.js";

const HEIGHT = 74, AXIS = 18, SIDE = 10, TOP = 14;
const PERIODS_PER_BELL = 90;

/**
 * @param {{periods: Object, places: Int32Array, first: number, last: number}} time of the corpus
 * @param {ArrayLike<number>} rows documents that hold the word
 * @param {number} width
 */
export function wordCurve(time, rows, width, word) {
  const { periods, places, first, last } = time;
  const shares = sharesOfPeriods(time, rows);
  const most = Math.max(1e-9, ...shares), peak = shares.indexOf(most);
  const x = (day) => SIDE + ((Math.min(Math.max(day, first), last) - first) / Math.max(last - first, 1)) * (width - 2 * SIDE);
  const middle = (period) => x((periods.starts[period] + periods.starts[period + 1]) / 2);
  const y = (part) => TOP + (HEIGHT - TOP) * (1 - part / most);
  const points = Array.from(shares, (part, period) => `${middle(period).toFixed(1)} ${y(part).toFixed(1)}`).join("L");
  const said = `at most ${share(most)} of the documents, ${periodName(periods, peak)}`;
  const svg = drawn("svg", { class: "word-curve", viewBox: `0 0 ${width} ${HEIGHT + AXIS}`, width, height: HEIGHT + AXIS, role: "img", "aria-label": `The use of ${word} through time: ${said}` });
  const at = middle(peak), anchor = at > width - 90 ? "end" : at < 90 ? "start" : "middle";
  const cursor = drawn("g", { class: "curve-cursor" });
  fill(svg,
    axisMarks(first, last, Math.max(2, width / 70)).map(({ day, text }) => [
      drawn("path", { class: "mark", d: `M${x(day)} ${TOP}V${HEIGHT + 3}` }),
      drawn("text", { class: "tick", x: x(day), y: HEIGHT + 14, "text-anchor": x(day) > width - 24 ? "end" : x(day) < 16 ? "start" : "middle" }, text),
    ]),
    drawn("path", { class: "under", d: `M${middle(0)} ${HEIGHT}L${points}L${middle(periods.n - 1)} ${HEIGHT}Z` }),
    drawn("path", { class: "line", d: `M${points}` }),
    drawn("circle", { class: "peak", cx: at, cy: y(most), r: 2.5 }),
    drawn("text", { class: "peak-text", x: at, y: TOP - 5, "text-anchor": anchor }, `${share(most)}, ${periodName(periods, peak)}`),
    cursor,
  );
  svg.addEventListener("pointermove", (event) => {
    const day = first + ((event.clientX - svg.getBoundingClientRect().left - SIDE) / Math.max(width - 2 * SIDE, 1)) * (last - first);
    const period = periods.place(Math.round(Math.min(Math.max(day, first), last)));
    if (period < 0) return;
    const to = middle(period), end = to > width - 110;
    fill(cursor, drawn("path", { class: "cursor", d: `M${to} ${TOP}V${HEIGHT}` }),
      drawn("text", { class: "peak-text", x: to + (end ? -5 : 5), y: TOP + 11, "text-anchor": end ? "end" : "start" }, `${periodName(periods, period)}: ${share(shares[period])}`));
    svg.classList.add("pointed");
  });
  svg.addEventListener("pointerleave", () => { fill(cursor); svg.classList.remove("pointed"); });
  return svg;
}

function sharesOfPeriods({ periods, places }, rows) {
  const totals = new Float64Array(periods.n), held = new Float64Array(periods.n);
  for (const place of places) if (place >= 0) totals[place]++;
  for (const row of rows) if (places[row] >= 0) held[places[row]]++;
  const width = periods.n / PERIODS_PER_BELL;
  const all = smoothed(totals, width);
  return smoothed(held, width).map((one, period) => (all[period] > 1e-9 ? one / all[period] : 0));
}
