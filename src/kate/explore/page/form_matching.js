/** Finds known words in a text where the program that cut the documents is not at hand: the longest form first. */

// Scripts that put no spaces between words: a word may begin and end at any of their characters.
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]/u;
const IN_WORD = /[\p{L}\p{N}\p{M}]/u;
const LONGEST = 40; // characters that are tried at a place

/**
 * Where known words stand, and runs of letters that are none.
 * @param {string} text
 * @param {{has(form: string): boolean, longest: number}} forms
 * @param {(piece: string) => string} fold makes a form of a piece of the text
 * @returns {[number, number][]} start and end of each
 */
export function cutByForms(text, forms, fold) {
  const found = [];
  const longest = Math.min(forms.longest, LONGEST);
  let start = 0;
  while (start < text.length) {
    const first = String.fromCodePoint(text.codePointAt(start));
    const end = knownEnd(text, start, longest, forms, fold);
    if (end > start) {
      found.push([start, end]);
      start = end;
    } else if (!IN_WORD.test(first)) {
      start += first.length;
    } else if (UNSPACED.test(first)) {
      found.push([start, start + first.length]);
      start += first.length;
    } else {
      const stop = runEnd(text, start);
      found.push([start, stop]);
      start = stop;
    }
  }
  return found;
}

/** Where the longest known word ends that begins here; `start` if there is none. */
function knownEnd(text, start, longest, forms, fold) {
  if (/\p{White_Space}/u.test(text[start])) return start;
  for (let end = Math.min(text.length, start + longest); end > start; end--) {
    if (isInsideOfWord(text, end)) continue;
    const piece = text.slice(start, end);
    const form = fold(piece);
    if (form !== "" && forms.has(form)) return end;
  }
  return start;
}

/** Whether a place parts two letters that belong together. */
function isInsideOfWord(text, place) {
  if (place === 0 || place >= text.length) return false;
  if (text.charCodeAt(place) >= 0xdc00 && text.charCodeAt(place) < 0xe000) return true;
  const after = String.fromCodePoint(text.codePointAt(place));
  const before = lastCharacter(text, place);
  if (!IN_WORD.test(before) || !IN_WORD.test(after)) return false;
  return !UNSPACED.test(before) && !UNSPACED.test(after);
}

function lastCharacter(text, end) {
  const low = text.charCodeAt(end - 1);
  return low >= 0xdc00 && low < 0xe000 ? text.slice(Math.max(0, end - 2), end) : text[end - 1];
}

function runEnd(text, start) {
  let end = start;
  while (end < text.length) {
    const character = String.fromCodePoint(text.codePointAt(end));
    if (!IN_WORD.test(character) || UNSPACED.test(character)) break;
    end += character.length;
  }
  return end;
}
