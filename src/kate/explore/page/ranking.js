/** The best of many: documents in the order of their scores. */

/** @typedef {{rows: number[], scores: number[]}} Ranking documents and their scores, the best first */

// Scores that differ by less are equal, as in kate.search.joining.
const DIGITS = 1e5;

/** @returns {Ranking} */
export function emptyRanking() {
  return { rows: [], scores: [] };
}

/**
 * The `top` rows of highest score, the best first; of equals the earlier row.
 * @param {Float32Array} scores of all rows
 * @param {number} top
 * @param {((row: number) => boolean) | null} isAllowed which rows count; asked only for rows that may be among the best
 * @returns {Ranking}
 */
export function bestRows(scores, top, isAllowed = null) {
  // a heap whose root is the worst that is kept: the lowest score, and of equals the latest row
  const heap = [];
  const isWorse = (a, b) => scores[a] < scores[b] || (scores[a] === scores[b] && a > b);
  const sink = (place) => {
    const row = heap[place];
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isWorse(heap[child + 1], heap[child])) child++;
      if (!isWorse(heap[child], row)) break;
      heap[place] = heap[child];
      place = child;
    }
    heap[place] = row;
  };
  for (let row = 0; row < scores.length; row++) {
    if (heap.length === top && !(scores[row] > scores[heap[0]])) continue;
    if (isAllowed !== null && !isAllowed(row)) continue;
    if (heap.length < top) {
      heap.push(row);
      if (heap.length === top) for (let place = (top >> 1) - 1; place >= 0; place--) sink(place);
    } else {
      heap[0] = row;
      sink(0);
    }
  }
  heap.sort((a, b) => scores[b] - scores[a] || a - b);
  return { rows: heap, scores: heap.map((row) => scores[row]) };
}

/**
 * Rows by their scores, the best first; scores that differ in the sixth digit are equal, and the earlier row comes first.
 * @param {ArrayLike<number>} rows
 * @param {ArrayLike<number>} scores
 * @param {number} top
 * @returns {Ranking}
 */
export function ordered(rows, scores, top) {
  let best = 0;
  for (let i = 0; i < scores.length; i++) best = Math.max(best, Math.abs(scores[i]));
  const order = orderOf(rows, scores, best || 1).slice(0, top);
  return { rows: order.map((i) => rows[i]), scores: order.map((i) => scores[i]) };
}

/**
 * Places of rows in the order of their rounded scores.
 * @param {number} unit what scores are divided by before they are rounded
 * @returns {number[]}
 */
export function orderOf(rows, scores, unit = 1) {
  const rounded = Float64Array.from(scores, (score) => Math.round((score / unit) * DIGITS));
  return [...rounded.keys()].sort((a, b) => rounded[b] - rounded[a] || rows[a] - rows[b]);
}
