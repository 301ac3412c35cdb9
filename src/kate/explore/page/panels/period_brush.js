// Choosing a period by dragging over the drawing of time.

import { drawn } from "../elements.js";

const GRIP = 7;

export class PeriodBrush {
  /** @param {import("./time_panel.js").TimePanel} panel */
  constructor(panel) {
    Object.assign(this, { panel, drag: null, justBrushed: false });
    for (const svg of [panel.strip, panel.ridges]) {
      svg.addEventListener("pointerdown", (event) => this.down(event, svg));
      svg.addEventListener("pointermove", (event) => this.move(event, svg));
      svg.addEventListener("pointerup", (event) => this.up(event));
      svg.addEventListener("pointercancel", () => { this.drag = null; });
      svg.addEventListener("pointerleave", () => !this.drag && panel.say(null));
    }
  }

  x(event, svg) {
    return event.clientX - svg.getBoundingClientRect().left;
  }

  down(event, svg) {
    if (event.button !== 0) return;
    const x = this.x(event, svg), { panel } = this, { period } = panel.explorer.view;
    if (x < panel.left - GRIP) return;
    const edges = period?.map((day) => panel.x(day));
    this.drag = { from: x, moved: false, fixed: null, whole: null };
    // an edge of the period is moved, its middle moves all of it, elsewhere a new one begins
    if (edges && svg === panel.strip) {
      if (Math.abs(x - edges[0]) <= GRIP) this.drag.fixed = period[1];
      else if (Math.abs(x - edges[1]) <= GRIP) this.drag.fixed = period[0];
      else if (x > edges[0] && x < edges[1]) this.drag.whole = period;
    }
    this.drag.fixed ??= panel.dayAt(x);
    this.justBrushed = false;
    this.pointer = { id: event.pointerId, svg };
  }

  move(event, svg) {
    const x = this.x(event, svg), { panel, drag } = this;
    panel.say(x < panel.left ? null : panel.periods.place(panel.dayAt(x)));
    if (!drag) return;
    if (!drag.moved) {
      if (Math.abs(x - drag.from) < 4) return;
      drag.moved = true;
      // from here on the drag is ours, wherever the pointer goes; a click stays the ridge's
      try {
        this.pointer.svg.setPointerCapture(this.pointer.id);
      } catch { /* a pointer that is gone already */ }
    }
    panel.explorer.state.change({ period: this.period(x) }, { remember: false });
  }

  period(x) {
    const { panel, drag } = this;
    if (drag.whole) {
      const [first, last] = drag.whole;
      const by = Math.min(Math.max(panel.dayAt(x) - panel.dayAt(drag.from), panel.first - first), panel.last - last);
      return [first + by, last + by];
    }
    const days = [drag.fixed, panel.dayAt(x)].sort((one, other) => one - other);
    // whole periods: what the drawing shows is what is chosen
    const { periods } = panel;
    const start = periods.starts[periods.place(days[0])], end = periods.starts[periods.place(days[1]) + 1] - 1;
    return [Math.max(start, panel.first), Math.min(end, panel.last)];
  }

  up() {
    const { drag, panel } = this;
    this.drag = null;
    if (!drag) return;
    this.justBrushed = drag.moved;
    setTimeout(() => { this.justBrushed = false; }, 0);
    if (!drag.moved && this.pointer.svg === panel.strip && panel.explorer.view.period) panel.explorer.state.change({ period: null });
  }

  /** The chosen period on the strip, with its two edges. */
  shapes(height) {
    const { panel } = this, { period } = panel.explorer.view;
    if (!period) return [];
    const [from, to] = [panel.x(period[0]), panel.x(period[1])];
    return [
      drawn("rect", { class: "period", x: from, y: 0, width: Math.max(to - from, 1), height }),
      ...[from, to].map((x) => drawn("path", { class: "grip", d: `M${x} 0V${height}` })),
    ];
  }

  /** What is not chosen lies in the shade. */
  shade(height) {
    const { panel } = this, { period } = panel.explorer.view;
    if (!period) return [];
    const [from, to] = [panel.x(period[0]), panel.x(period[1])];
    return [
      drawn("rect", { class: "outside", x: panel.left, y: 0, width: Math.max(from - panel.left, 0), height }),
      drawn("rect", { class: "outside", x: to, y: 0, width: Math.max(panel.width - to, 0), height }),
    ];
  }
}
