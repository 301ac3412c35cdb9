/** Words of a query that hardly a document holds, and what may be meant (kate.search.suggestions). */

import { closeNames } from "./spelling.js";

const SUGGESTED_FOR = 5;
const LOOKED_AT = 50;
const SUGGESTED_AMONG = 5000;
const FREQUENT = 20000;
const SURELY_MISSPELLED = 0.88;
const RARE = 3;

/**
 * Words that no document holds, and words of one or two documents that look like a frequent one.
 * @param {{stem: string, word: string, number: number | undefined}[]} words of a query
 * @param {import("./corpus_finder.js").CorpusFinder} finder
 * @returns {Map<string, string[]>} word → words that may be meant
 */
export function suggestionsFor(words, finder) {
  const close = new Map();
  for (const { stem, word, number } of words.slice(0, LOOKED_AT)) {
    if (close.size === SUGGESTED_FOR) break;
    if (number === undefined) {
      close.set(word, closeWords(word, finder));
    } else if (finder.table.column(stem) === undefined && /^\p{L}+$/u.test(word)) {
      if (finder.postings.nDocumentsWith(number) >= RARE) continue;
      const frequent = frequentWordsLike(word, finder.table);
      if (frequent.length) close.set(word, frequent);
    }
  }
  return close;
}

/**
 * Words of the documents that are spelled like one that none of them holds.
 * @returns {string[]}
 */
export function closeWords(word, { table, postings }, n = 3) {
  const length = [...word].length;
  const ending = word.slice(-2);
  const alike = [];
  table.readable.forEach((other, number) => {
    if (postings.nDocumentsWith(number) === 0 || Math.abs([...other].length - length) > 2) return;
    if (other.startsWith(word.slice(0, 1)) || other.endsWith(ending)) alike.push(number);
  });
  alike.sort((a, b) => postings.nDocumentsWith(b) - postings.nDocumentsWith(a));
  return closeNames(word, alike.slice(0, SUGGESTED_AMONG).map((number) => table.readable[number]), n, 0.7);
}

function frequentWordsLike(word, table) {
  const alike = table.readable
    .slice(0, Math.min(FREQUENT, table.nColumns))
    .filter((other) => other[0] === word[0] && Math.abs(other.length - word.length) <= 1);
  return closeNames(word, alike, 2, SURELY_MISSPELLED);
}
