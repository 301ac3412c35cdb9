/** What a query asks for: words, "phrases" that must occur, and -words and -"phrases" that must not. */

const QUOTES = /[“”„‟«»＂]/gu;
// a phrase or a word, with a minus before it that stands at the start or after a space
const PART = /((?:(?<=\p{White_Space})|^)-(?=\P{White_Space}))?(?:"([^"]*)"|([^\p{White_Space}"]+))/gu;

/** A query that asks for nothing, or that cannot be read; its message is a sentence for the user. */
export class QueryError extends Error {}

/**
 * A query that was read.
 * @typedef {object} Query
 * @property {string} text what is asked for, without the rest: what the meaning is made of
 * @property {Map<string, string>} words stem → the word as it was written; stop words only where there is nothing else
 * @property {string[][]} phrases stems that must stand side by side
 * @property {string[][]} without stems, or phrases of them, that must not occur
 * @property {string[][]} joined words that were written as one, such as F-16: a phrase, if any document has it
 */

/**
 * @param {string} given
 * @param {import("./tokenizer.js").Tokenizer} tokenizer
 * @returns {Query}
 */
export function readQuery(given, tokenizer) {
  const text = given.toWellFormed?.() ?? given;
  const query = text.replace(QUOTES, '"');
  if (query.trim() === "") throw new QueryError("The query is empty; give some words to look for.");
  if (query.split('"').length % 2 === 0) {
    throw new QueryError('The query has a " without its partner; close the phrase, or leave it out.');
  }
  const asked = [];
  const words = [];
  const found = { phrases: [], without: [], joined: [] };
  for (const [, minus, phrase, word] of query.matchAll(PART)) {
    const content = phrase ?? word;
    const read = tokenizer.searchTokens(content).flatMap((token) => token.words);
    const stems = read.map((one) => one.stem);
    if (minus) {
      if (stems.length) found.without.push(stems);
      continue;
    }
    asked.push(content);
    words.push(...read);
    if (phrase !== undefined) {
      if (stems.length) found.phrases.push(stems);
    } else if (stems.length > 1) {
      found.joined.push(stems);
    }
  }
  if (words.length === 0) {
    throw new QueryError(
      found.without.length
        ? "The query says only what to leave out; give some words to look for as well."
        : "The query has no word; give letters or numbers to look for.",
    );
  }
  const telling = words.filter(({ word }) => !tokenizer.isStopWord(word));
  return { text: asked.join(" "), words: firstOfEach(telling.length ? telling : words), ...found };
}

/** Stem → the word that has it first. */
function firstOfEach(words) {
  const found = new Map();
  for (const { word, stem } of words) if (!found.has(stem)) found.set(stem, word);
  return found;
}
