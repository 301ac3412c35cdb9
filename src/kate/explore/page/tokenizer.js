/**
 * Text → words, exactly as Python reads them: kate.text.tokenizer for what the model counts, and
 * kate.search.search_words for what is searched (every word, numbers and single letters too).
 */

import { cleanText, cleanWord, isLongerThan } from "./cleaning.js";
import { cutByForms } from "./form_matching.js";

const APOSTROPHES = "'’‘‛ʼ＇`´";
const INVISIBLE = "\u00ad\u200c\u200d";
const INSIDE = `\\p{M}\\p{Nd}·${INVISIBLE}${APOSTROPHES}`;
const MODEL_CHUNK = `\\p{L}[\\p{L}${INSIDE}]+|\\p{Nd}[${INSIDE}]*\\p{L}[\\p{L}${INSIDE}]*`;
// What ends a phrase: punctuation, numbers, single letters, an empty line.
const BREAK = "[^\\p{White_Space}\\p{L}\\p{Nd}\\p{M}'’\\-]+|\\p{Nd}+|\\p{L}|\\n\\p{White_Space}*\\n";
const SEARCH_CHUNK =
  `\\p{Nd}+(?:[.,]\\p{Nd}+)+|[\\p{L}\\p{N}][\\p{L}\\p{N}\\p{M}·${INVISIBLE}${APOSTROPHES}]*`;
const CHUNKS = new RegExp(MODEL_CHUNK, "gu");
const CHUNKS_AND_BREAKS = new RegExp(`${MODEL_CHUNK}|${BREAK}`, "gu");
const SEARCH_CHUNKS = new RegExp(SEARCH_CHUNK, "gu");
const BETWEEN_SPACES = /\P{White_Space}+/gu;
const ANY_APOSTROPHE = new RegExp(`[${APOSTROPHES}]`, "gu");
const ENDINGS = new Set(["s", "d", "m", "ll", "ve", "re"]);
// Characters that belong to the spelling of one language and are dropped in the others.
const SPELLING = { persian: "\u200c" };
const LONGEST_SEARCH_WORD = 60;
const NOTHING_STOPS = { words: new Set(), longest: 0 };

/**
 * A piece of a text and the words that it stands for.
 * @typedef {{start: number, end: number, words: {word: string, stem: string}[]}} Token
 */

/** How texts become words; `settings` are those of the part `words` (its field `tokens`). */
export class Tokenizer {
  /**
   * @param {{kind: "letters" | "spaces" | "forms", language: string | null, unspaced: boolean, stop_words: string[],
   *   cleaning: object}} settings
   * @param {(form: string) => string} stemOf the stem of a word
   * @param {{entities?: Record<string, string>, forms?: {has(form: string): boolean, longest: number}}} [known]
   */
  constructor(settings, stemOf, known = {}) {
    this.settings = settings;
    this.stemOf = stemOf;
    this.entities = known.entities ?? {};
    this.forms = known.forms ?? { has: () => false, longest: 1 };
    this.stops = {
      words: new Set(settings.stop_words),
      longest: Math.max(0, ...settings.stop_words.map((word) => word.length)),
    };
    const kept = SPELLING[settings.language] ?? "";
    this.invisible = new RegExp(`[${[...INVISIBLE].filter((one) => !kept.includes(one)).join("")}]`, "gu");
  }

  /** Whether a word, as {@link fold} gives it, is a stop word. */
  isStopWord(word) {
    return this.stops.words.has(word);
  }

  /**
   * The words that the model counts, in their order. With `breaks` there are tokens without words where a phrase ends.
   * @param {string} text
   * @returns {Token[]}
   */
  modelTokens(text, breaks = false) {
    const clean = cleanText(text, this.settings.cleaning, this.entities);
    return this.tokens(clean, breaks ? CHUNKS_AND_BREAKS : CHUNKS, (chunk) => this.modelWords(chunk));
  }

  /**
   * Every word, as search counts them.
   * @param {string} text
   * @returns {Token[]}
   */
  searchTokens(text) {
    const markup = { strip_html: this.settings.cleaning.strip_html };
    return this.tokens(cleanText(text, markup, this.entities), SEARCH_CHUNKS, (chunk) => this.searchWords(chunk));
  }

  tokens({ text, places }, pattern, wordsOf) {
    const found = [];
    const add = (start, end, chunk) => {
      const words = wordsOf(chunk);
      found.push({ start: places ? places[start] : start, end: places ? places[end - 1] + 1 : end, words });
    };
    if (this.settings.kind === "forms") {
      for (const [start, end] of cutByForms(text, this.forms, (piece) => this.fold(piece))) {
        add(start, end, text.slice(start, end));
      }
      return found;
    }
    const chunks = this.settings.kind === "spaces" ? BETWEEN_SPACES : pattern;
    for (const match of text.matchAll(chunks)) add(match.index, match.index + match[0].length, match[0]);
    return found;
  }

  modelWords(chunk) {
    if (this.settings.language === null && this.settings.kind !== "letters") return this.wordsAsTheyAre(chunk);
    const found = [];
    for (const part of this.parts(this.fold(chunk), this.stops)) {
      const word = cleanWord(part, this.settings.cleaning);
      const isLongEnough = this.settings.unspaced ? isLongerThanOneByte(word) : isLongerThan(word, 1);
      if (!isLongEnough || !/\p{L}/u.test(word) || this.stops.words.has(word)) continue;
      found.push({ word, stem: this.stemOf(word) });
    }
    return found;
  }

  searchWords(chunk) {
    if (this.settings.language === null && this.settings.kind !== "letters") return this.wordsAsTheyAre(chunk);
    const found = [];
    for (const part of this.parts(this.fold(chunk), NOTHING_STOPS)) {
      const word = part.replace(/(\p{Nd}),/gu, "$1");
      if (!/[\p{L}\p{N}]/u.test(word) || isLongerThan(word, LONGEST_SEARCH_WORD)) continue;
      found.push({ word, stem: this.stemOf(word) });
    }
    return found;
  }

  /** Words that the user made: each is its own stem. */
  wordsAsTheyAre(chunk) {
    const word = this.fold(chunk);
    return word === "" ? [] : [{ word, stem: word }];
  }

  /** The same spelling for all forms of a word: lower case, one kind of apostrophe, one Unicode form. */
  fold(chunk) {
    if (this.settings.language === null && this.settings.kind !== "letters") return this.foldOwn(chunk);
    let word = chunk.replace(ANY_APOSTROPHE, "'").replace(/['·]+$/u, "");
    if (!/^[\x00-\x7f]*$/.test(word)) {
      word = word
        .replace(this.invisible, "")
        .normalize("NFKC")
        .replace(/\p{White_Space}/gu, "")
        .replace(/İ|i\u0307/gu, "i");
    }
    if (this.settings.language === "turkish") word = word.replaceAll("I", "ı");
    return word.toLowerCase();
  }

  foldOwn(chunk) {
    const word = chunk.replace(/\p{White_Space}+/gu, " ").trim();
    // the user's function may have made small letters of large ones
    if (this.settings.kind !== "forms" || this.forms.has(word)) return word;
    const lower = word.toLowerCase();
    return this.forms.has(lower) ? lower : word;
  }

  parts(word, stops) {
    if (!word.includes("'") && !word.includes("·")) return [word];
    const pieces = this.settings.language === "catalan" ? [word] : word.split("·");
    return pieces.flatMap((piece) => splitAtApostrophes(piece, stops));
  }
}

/** Takes endings such as 's off; a contraction that is a stop word is nothing, another one is one word. */
function splitAtApostrophes(word, stops) {
  const parts = word.split("'");
  let length = word.length;
  const isStopWord = () => length <= stops.longest && stops.words.has(parts.join("'"));
  while (parts.length > 1) {
    if (isStopWord()) return [];
    const ending = parts.pop();
    length -= ending.length + 1;
    const isEnding = ENDINGS.has(ending);
    if ((isEnding || ending === "t") && isStopWord()) return [];
    if (ending === "t") return [[...parts, ending].join("'")];
    if (!isEnding) return [...parts, ending].filter((part) => part !== "");
  }
  return parts;
}

function isLongerThanOneByte(word) {
  return word.length > 1 || (word.length === 1 && word.charCodeAt(0) > 127);
}
