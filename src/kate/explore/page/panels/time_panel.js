// Topics through time: a ridge for each, and above them all documents, on which a period is chosen.

import { drawn, element, fill } from "../elements.js";
import { axisMarks, periodName, periodsBetween, smoothed } from "../periods.js";
import { BITS, countCodes, countPairs } from "../selection.js";
import { treeOrder } from "../topic_tree.js";
import { count, isoDay, dayFromIso, share } from "../wording.js";
import { PeriodBrush } from "./period_brush.js";

const ROW = 23, RIDGE = 36, STRIP = 44, AXIS = 20, RIGHT = 12;
const PERIODS_PER_BELL = 70;
const FEW = 3; // documents: where there are hardly more, a share says little and is drawn smaller

export class TimePanel {
  /** @param {import("../explorer.js").Explorer} explorer */
  constructor(explorer) {
    const { first, last } = explorer.corpus.manifest.date;
    Object.assign(this, { explorer, first, last, periods: periodsBetween(first, last) });
    this.places = Int32Array.from(explorer.corpus.dates, this.periods.place);
    this.strip = drawn("svg", { class: "strip", role: "img", "aria-label": "Documents through time; drag to choose a period" });
    this.ridges = drawn("svg", { class: "ridges", role: "img", "aria-label": "The share of every topic through time" });
    this.said = element("p", { class: "said", "aria-live": "polite" });
    this.fields = this.makeFields();
    this.scroll = element("div", { class: "ridges-scroll" }, this.ridges);
    this.root = element("section", { class: "panel time-panel", id: "panel-time", "aria-label": "Time" },
      element("div", { class: "strip-frame" }, this.strip), this.scroll,
      element("div", { class: "time-foot" }, this.said, this.fields),
    );
    this.brush = new PeriodBrush(this);
    explorer.listen(["cut", "selection", "colours"], () => this.draw());
    explorer.listen("light", () => this.light());
    explorer.state.listen(["period"], () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.root);
  }

  makeFields() {
    const field = (label, at) => element("input", {
      type: "date", "aria-label": label, min: isoDay(this.first), max: isoDay(this.last), on: { change: () => this.takeFields(at) },
    });
    this.from = field("First day", 0);
    this.to = field("Last day", 1);
    this.all = element("button", { type: "button", class: "quiet", on: { click: () => this.explorer.state.change({ period: null }) } }, "All time");
    return element("div", { class: "period-fields" }, this.from, element("span", { "aria-hidden": "true" }, "–"), this.to, this.all);
  }

  takeFields() {
    const days = [dayFromIso(this.from.value) ?? this.first, dayFromIso(this.to.value) ?? this.last];
    if (days[0] <= days[1]) this.explorer.state.change({ period: days });
  }

  get left() {
    return this.width < 560 ? 8 : Math.min(Math.max(0.2 * this.width, 120), 190);
  }

  x(day) {
    return this.left + ((day - this.first) / Math.max(this.last - this.first, 1)) * (this.width - this.left - RIGHT);
  }

  dayAt(x) {
    const part = (x - this.left) / Math.max(this.width - this.left - RIGHT, 1);
    return Math.round(this.first + Math.min(Math.max(part, 0), 1) * (this.last - this.first));
  }

  /** The middle of a period on the screen. */
  middle(period) {
    const { starts } = this.periods;
    return this.x(Math.min(Math.max((starts[period] + starts[period + 1]) / 2, this.first), this.last));
  }

  draw() {
    this.follow();
    this.width = this.scroll.clientWidth || this.root.clientWidth;
    if (!this.width || !this.root.offsetParent) return;
    this.drawStrip();
    this.drawRidges();
    const { period } = this.explorer.view;
    this.from.value = isoDay(period?.[0] ?? this.first);
    this.to.value = isoDay(period?.[1] ?? this.last);
    this.all.hidden = !period;
    this.say(null);
  }

  /** Documents that came in later have their places, too. */
  follow() {
    const { corpus } = this.explorer;
    if (corpus.moves === this.moves) return;
    this.moves = corpus.moves;
    this.places = Int32Array.from(corpus.dates, this.periods.place);
  }

  drawStrip() {
    const { explorer, periods } = this;
    const counts = countCodes(this.places, periods.n, explorer.selection, BITS.period);
    const most = Math.max(1, ...counts);
    const points = Array.from(counts, (n, period) => `${this.middle(period).toFixed(1)} ${(STRIP - 2 - (STRIP - 8) * (n / most)).toFixed(1)}`);
    const area = `M${this.middle(0).toFixed(1)} ${STRIP - 2}L${points.join("L")}L${this.middle(periods.n - 1).toFixed(1)} ${STRIP - 2}Z`;
    const marks = axisMarks(this.first, this.last, Math.max(2, (this.width - this.left) / 64));
    setSize(this.strip, this.width, STRIP + AXIS);
    fill(this.strip,
      marks.map(({ day, text }) => [
        drawn("path", { class: "mark", d: `M${this.x(day)} 0V${STRIP + 4}` }),
        drawn("text", { class: "tick", x: this.x(day), y: STRIP + 16, "text-anchor": edgeAnchor(this.x(day), this.width) }, text),
      ]),
      drawn("path", { class: "all", d: area }),
      this.left > 20 && drawn("text", { class: "ridge-name all-name", x: this.left - 10, y: STRIP - 6, "text-anchor": "end" }, "documents"),
      this.brush.shapes(STRIP),
    );
    this.marks = marks;
  }

  drawRidges() {
    const { explorer, periods } = this, { cut, selection, view } = explorer;
    const pairs = countPairs(cut.assignments, cut.codes, this.places, periods.n, selection, BITS.period | BITS.topics);
    const width = periods.n / PERIODS_PER_BELL;
    const totals = new Float64Array(periods.n);
    for (let at = 0; at < pairs.length; at++) totals[at % periods.n] += pairs[at];
    const whole = smoothed(totals, width);
    const chosen = new Set(view.topics);
    const order = this.ordered().filter((topic) => !chosen.size || chosen.has(topic.number));
    this.curves = order.map((topic) => {
      const counts = pairs.subarray(topic.number * periods.n, (topic.number + 1) * periods.n);
      const shares = smoothed(counts, width).map((one, at) => one / (whole[at] + FEW));
      return { topic, counts, shares };
    });
    const highest = Math.max(1e-9, ...this.curves.map(({ shares }) => Math.max(...shares)));
    const height = RIDGE + ROW * order.length + 4;
    const base = (at) => RIDGE + ROW * (at + 0.5);
    setSize(this.ridges, this.width, height);
    fill(this.ridges,
      this.marks.map(({ day }) => drawn("path", { class: "mark", d: `M${this.x(day)} 0V${height}` })),
      this.curves.map((curve, at) => this.ridge(curve, base(at), highest)),
      this.brush.shade(height),
      // where there is no room beside the ridges, names stand on them, and on the shade
      this.left < 20 && this.curves.map(({ topic }, at) => drawn("text", { class: "ridge-name", x: 8, y: base(at) - 8, lang: "" }, fitted(topic.name, 40))),
      drawn("path", { class: "cursor", d: "" }),
    );
    this.light();
  }

  /** Topics by when they were talked of; those of the tree's order where that says nothing. */
  ordered() {
    const { cut, corpus, selection } = this.explorer;
    const sums = new Float64Array(cut.codes), sizes = new Float64Array(cut.codes);
    for (let row = 0; row < this.places.length; row++) {
      const topic = cut.assignments[row];
      if (topic >= cut.codes || this.places[row] < 0 || !selection.holds(row, BITS.period | BITS.topics)) continue;
      sums[topic] += this.places[row];
      sizes[topic]++;
    }
    const rank = new Map(treeOrder(corpus.splits, cut.n).map((number, at) => [number, at]));
    const when = (topic) => (sizes[topic.number] ? sums[topic.number] / sizes[topic.number] : Infinity);
    return [...cut.topics].sort((one, other) => when(one) - when(other) || rank.get(one.number) - rank.get(other.number));
  }

  ridge({ topic, shares }, base, highest) {
    const { explorer, periods } = this;
    const own = Math.max(1e-9, ...shares);
    // a small topic would be a flat line: its ridge is higher than its share, and the peak says how large it is
    const scale = (RIDGE - 4) * (0.35 + 0.65 * (own / highest)) / own;
    const points = Array.from(shares, (one, period) => `${this.middle(period).toFixed(1)} ${(base - scale * one).toFixed(1)}`).join("L");
    const ends = [this.middle(0), this.middle(periods.n - 1)];
    const peak = shares.indexOf(Math.max(...shares));
    const colour = explorer.css(topic.number);
    const narrow = this.left < 20;
    return drawn("g", {
      class: "ridge", data: { topic: topic.number }, style: { "--c": colour },
      on: {
        click: (event) => !this.brush.justBrushed && explorer.chooseTopic(topic.number, event.shiftKey || event.ctrlKey || event.metaKey),
        pointerenter: () => explorer.light(topic.number), pointerleave: () => explorer.light(null),
      },
    },
      drawn("path", { class: "under", d: `M${ends[0]} ${base}L${points}L${ends[1]} ${base}Z` }),
      drawn("path", { class: "line", d: `M${points}` }),
      drawn("rect", { class: "touch", x: 0, y: base - ROW + 6, width: this.width, height: ROW }),
      !narrow && drawn("text", { class: "ridge-name", x: this.left - 10, y: base - 1, "text-anchor": "end", lang: "" }, this.besideRidge(topic.name)),
      drawn("circle", { class: "peak", cx: this.middle(peak), cy: base - scale * own, r: 2 }),
      drawn("title", {}, `${topic.name}: ${share(own)} at most, ${periodName(periods, peak)}`),
    );
  }

  /** As much of a name as there is room for, in the letters that this reader's screen has. */
  besideRidge(name) {
    this.pen ??= document.createElement("canvas").getContext("2d");
    this.pen.font = `650 12px ${getComputedStyle(this.root).fontFamily}`;
    let n = name.length;
    while (n > 1 && this.pen.measureText(fitted(name, n)).width > this.left - 14) n--;
    return fitted(name, n);
  }

  light() {
    const { litOfChosen: lit } = this.explorer;
    this.ridges.classList.toggle("some-lit", lit !== null);
    for (const ridge of this.ridges.querySelectorAll(".ridge")) ridge.classList.toggle("lit", Number(ridge.dataset.topic) === lit);
  }

  /** Tell about the period under the pointer. */
  say(period) {
    const cursor = this.ridges.querySelector(".cursor");
    if (period === null || period < 0 || period >= this.periods.n) {
      cursor?.setAttribute("d", "");
      this.said.textContent = "Drag to choose a period.";
      return;
    }
    cursor?.setAttribute("d", `M${this.middle(period)} 0V9999`);
    const best = [...(this.curves ?? [])].sort((one, other) => other.shares[period] - one.shares[period]).slice(0, 3);
    const n = this.curves.reduce((sum, curve) => sum + curve.counts[period], 0);
    fill(this.said, element("b", {}, periodName(this.periods, period)), ` ${count(n)} `,
      best.map(({ topic, shares }) => element("span", { class: "of", style: { "--c": this.explorer.css(topic.number) } },
        element("i", { class: "dot" }), `${fitted(topic.name, 28)} ${share(shares[period])}`)));
  }
}

function setSize(svg, width, height) {
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("width", width);
  svg.setAttribute("height", height);
}

const fitted = (text, n) => (text.length > n ? text.slice(0, Math.max(n - 1, 1)).replace(/[,\s]+$/, "") + "…" : text);
const edgeAnchor = (x, width) => (x > width - 24 ? "end" : x < 16 ? "start" : "middle");
