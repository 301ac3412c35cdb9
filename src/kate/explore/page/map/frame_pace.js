// How much of the points is drawn while the map moves: all of them where the machine keeps up, and fewer where it does not.

const SLOW = 30, QUICK = 21; // milliseconds between two frames
const FEWER = 0.5, MORE = 1.1;
const BUDGET = 14; // milliseconds that the points of a moving frame may take
const FEWEST = 12_000; // points

export class FramePace {
  /** @param {number} n points */
  constructor(n) {
    Object.assign(this, { least: Math.min(1, FEWEST / Math.max(n, 1)), part: 1, before: null });
  }

  /** The part of the points that the frame at a time should show. */
  next(now) {
    if (this.before !== null) {
      const gap = now - this.before;
      if (gap > SLOW) this.part = Math.max(this.part * FEWER, this.least);
      else if (gap < QUICK) this.part = Math.min(this.part * MORE, 1);
    }
    this.before = now;
    return this.part;
  }

  /** All points took so long to draw: a movement begins with as many as can be drawn in time. */
  took(milliseconds) {
    this.part = Math.min(Math.max(BUDGET / Math.max(milliseconds, 1), this.least), 1);
  }

  /** The map stands still: the time until it moves again says nothing. */
  rest() {
    this.before = null;
  }
}
