/** Stems of words that no document has: those of the documents are in the table of forms (word_table.js). */

import { STEMMERS } from "../bundle/stemmers.js";

/**
 * What makes a stem of a word in lower case; the word itself where the page has no stemmer.
 * @param {string | null} language
 * @returns {(word: string) => string}
 */
export function stemmerOf(language) {
  if (language === null || !Object.hasOwn(STEMMERS, language)) return (word) => word;
  const stemmer = STEMMERS[language]();
  return (word) => stemmer.stemWord(word);
}
