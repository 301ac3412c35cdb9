// Which document lies under the pointer: documents by the cell of a grid that they lie in.

const CELLS = 256;
const SHIFT = 8; // 65536 places of an axis, 256 cells

export class PointGrid {
  /** @param {Uint16Array} x @param {Uint16Array} y */
  constructor(x, y) {
    Object.assign(this, { x, y });
    const starts = new Uint32Array(CELLS * CELLS + 1);
    const cellOf = (row) => (y[row] >> SHIFT) * CELLS + (x[row] >> SHIFT);
    for (let row = 0; row < x.length; row++) starts[cellOf(row) + 1]++;
    for (let cell = 0; cell < CELLS * CELLS; cell++) starts[cell + 1] += starts[cell];
    const next = starts.slice(), rows = new Uint32Array(x.length);
    for (let row = 0; row < x.length; row++) rows[next[cellOf(row)]++] = row;
    Object.assign(this, { starts, rows });
  }

  /**
   * The document nearest to a place of the map, -1 for none.
   * @param {number} x 0 to 1
   * @param {number} y
   * @param {number} reachX how far it may be, along each axis
   * @param {number} reachY
   * @param {(row: number) => boolean} wanted
   */
  nearest(x, y, reachX, reachY, wanted) {
    let found = -1, least = 1;
    this.within(x - reachX, y - reachY, x + reachX, y + reachY, (row) => {
      const dx = (this.x[row] / 65535 - x) / reachX, dy = (this.y[row] / 65535 - y) / reachY;
      const distance = dx * dx + dy * dy;
      if (distance < least && wanted(row)) [found, least] = [row, distance];
    });
    return found;
  }

  /** Visit the documents of all cells that a rectangle touches. */
  within(left, bottom, right, top, visit) {
    const cell = (place) => Math.min(Math.max(Math.floor((place * 65535) / 256), 0), CELLS - 1);
    for (let row = cell(bottom); row <= cell(top); row++) {
      const from = this.starts[row * CELLS + cell(left)], to = this.starts[row * CELLS + cell(right) + 1];
      for (let at = from; at < to; at++) visit(this.rows[at]);
    }
  }
}
