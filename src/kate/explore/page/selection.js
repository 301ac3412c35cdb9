// Which documents are chosen. Every filter is one bit of a document: a document is chosen if none of its bits is set, and a
// panel that shows what a filter leaves out ignores the bit of its own.

export const BITS = { topics: 1, period: 2, group: 4, lasso: 8, query: 16 };

/** Of a visitor (served_corpus.js) that no search has found: it passes no filter and is counted nowhere. */
const HIDDEN = 128;

export class Selection {
  /** @param {number} nRows @param {number} nDocuments those of the page; rows behind them are of visitors */
  constructor(nRows, nDocuments = nRows) {
    this.failing = new Uint8Array(nRows).fill(HIDDEN, nDocuments);
    this.nDocuments = nDocuments;
    this.active = 0; // bits of the filters that are in use
  }

  /** Show these of the visitors and no others; whether there are any. */
  reveal(rows) {
    const { failing, nDocuments } = this;
    for (let row = nDocuments; row < failing.length; row++) failing[row] |= HIDDEN;
    const visitors = rows.filter((row) => row >= nDocuments);
    for (const row of visitors) failing[row] &= ~HIDDEN;
    return visitors.length > 0;
  }

  isHidden(row) {
    return (this.failing[row] & HIDDEN) !== 0;
  }

  /**
   * Set one filter anew.
   * @param {keyof BITS} name
   * @param {?((row: number) => boolean)} passes null for no filter
   */
  filter(name, passes) {
    const bit = BITS[name], { failing } = this;
    this.active = passes ? this.active | bit : this.active & ~bit;
    for (let row = 0; row < failing.length; row++) {
      if (passes && !passes(row)) failing[row] |= bit;
      else failing[row] &= ~bit;
    }
  }

  /** Whether a document passes all filters, those of `but` left out. */
  holds(row, but = 0) {
    return (this.failing[row] & ~but) === 0;
  }

  size(but = 0) {
    let found = 0;
    for (const bits of this.failing) if ((bits & ~but) === 0) found++;
    return found;
  }

  rows(but = 0) {
    const found = new Uint32Array(this.size(but));
    let at = 0;
    for (let row = 0; row < this.failing.length; row++) if ((this.failing[row] & ~but) === 0) found[at++] = row;
    return found;
  }
}

/** How many chosen documents each code has; codes of `n` and above count for none. */
export function countCodes(codes, n, selection, but = 0) {
  const counts = new Uint32Array(n);
  const { failing } = selection;
  for (let row = 0; row < codes.length; row++) {
    if ((failing[row] & ~but) === 0 && codes[row] < n && codes[row] >= 0) counts[codes[row]]++;
  }
  return counts;
}

/** Chosen documents by two codes: counts[first * nSecond + second]. */
export function countPairs(first, nFirst, second, nSecond, selection, but = 0) {
  const counts = new Uint32Array(nFirst * nSecond);
  const { failing } = selection;
  for (let row = 0; row < first.length; row++) {
    const one = first[row], other = second[row];
    if ((failing[row] & ~but) === 0 && one >= 0 && one < nFirst && other >= 0 && other < nSecond) counts[one * nSecond + other]++;
  }
  return counts;
}

/** Whether a point lies inside a polygon of corners [x, y]. */
export function isInside(corners, x, y) {
  let inside = false;
  for (let at = 0, before = corners.length - 1; at < corners.length; before = at++) {
    const [x1, y1] = corners[at], [x2, y2] = corners[before];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) inside = !inside;
  }
  return inside;
}

/** A line of corners with fewer of them: those that change its shape least are left out (Ramer, Douglas, Peucker). */
export function simplified(corners, tolerance) {
  if (corners.length < 3) return corners;
  const [first, last] = [corners[0], corners.at(-1)];
  const [dx, dy] = [last[0] - first[0], last[1] - first[1]];
  const length = Math.hypot(dx, dy);
  let farthest = 0, most = 0;
  for (let at = 1; at < corners.length - 1; at++) {
    const [x, y] = [corners[at][0] - first[0], corners[at][1] - first[1]];
    const distance = length ? Math.abs(dx * y - dy * x) / length : Math.hypot(x, y);
    if (distance > most) [farthest, most] = [at, distance];
  }
  if (most <= tolerance) return [first, last];
  return [...simplified(corners.slice(0, farthest + 1), tolerance).slice(0, -1), ...simplified(corners.slice(farthest), tolerance)];
}
