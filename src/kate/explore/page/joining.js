/**
 * Words and meaning together, as kate.search.joining does it:
 *
 *   score = w · BM25 / the best BM25 + (1 − w) · cosine / the best cosine,    w = 0.2 + 0.3 / words of the query
 *
 * The five documents that answer best move the query towards their mean, and its cosines are taken once more.
 */

import { orderOf, ordered } from "./ranking.js";

const WEIGHT_OF_WORDS = 0.2;
const MORE_FOR_ONE_WORD = 0.3;
const STEP = 1;
const AMONG = 5;
const LEAST_COSINE = 0.1;
/** Documents of each half that are joined. */
export const POOL = 300;

/** How much the words weigh beside the meaning, for a query of so many words. */
export function weightOfWords(nWords) {
  return WEIGHT_OF_WORDS + MORE_FOR_ONE_WORD / Math.max(nWords, 1);
}

/**
 * The `top` best documents by both halves; by one of them where the other found nothing.
 * @param {{ranking: import("./ranking.js").Ranking, score: (row: number) => number}} words
 * @param {{ranking: import("./ranking.js").Ranking, query: Float32Array,
 *   vectors: import("./document_vectors.js").DocumentVectors} | null} meaning
 * @param {number} nWords known words of the query
 * @param {number} top
 * @returns {import("./ranking.js").Ranking}
 */
export function joinHalves(words, meaning, nWords, top) {
  if (meaning === null || meaning.ranking.rows.length === 0) {
    const { rows, scores } = words.ranking;
    const best = Math.max(1e-6, ...scores);
    return ordered(rows, scores.map((score) => score / best), top);
  }
  if (words.ranking.rows.length === 0) return ordered(meaning.ranking.rows, meaning.ranking.scores, top);
  const rows = [...new Set([...words.ranking.rows, ...meaning.ranking.rows])].sort((a, b) => a - b);
  const vectors = rows.map((row) => meaning.vectors.of(row));
  const byWords = rows.map(words.score);
  const weight = weightOfWords(nWords);
  const query = Float64Array.from(meaning.query);
  const first = sumOf(byWords, vectors.map((vector) => product(vector, query)), weight);
  const mean = new Float64Array(query.length);
  for (const i of orderOf(rows, first).slice(0, AMONG)) {
    for (let k = 0; k < mean.length; k++) mean[k] += first[i] * vectors[i][k];
  }
  const length = Math.max(Math.sqrt(product(mean, mean)), 1e-9);
  const moved = query.map((value, k) => value + (STEP * mean[k]) / length);
  const movedLength = Math.max(Math.sqrt(product(moved, moved)), 1e-9);
  const second = sumOf(byWords, vectors.map((vector) => product(vector, moved) / movedLength), weight);
  return ordered(rows, second.map(Math.fround), top);
}

/** Each half divided by its best score, so that 1 is the best of both. */
function sumOf(byWords, cosines, weight) {
  const bestWords = Math.max(1e-6, ...byWords);
  const bestCosine = Math.max(LEAST_COSINE, ...cosines);
  return byWords.map((score, i) => (weight * score) / bestWords + ((1 - weight) * cosines[i]) / bestCosine);
}

function product(one, other) {
  let sum = 0;
  for (let k = 0; k < one.length; k++) sum += one[k] * other[k];
  return sum;
}
