/**
 * Takes markup, addresses and endless words out of a text, as kate.text.cleaning does, and remembers where every
 * character stood, so that words can be marked in the text as it was.
 */

// Letters, digits, marks and connectors: what \w means beyond ASCII.
const WORD = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]";
const NO_SPACE = "[^\\p{White_Space}<>\"']";
const AT_EDGE = `(?<!${WORD})`;
// Elements that people write without attributes and without a slash.
const ELEMENTS =
  "a|abbr|article|aside|b|big|blockquote|body|br|button|center|cite|code|dd|del|div|dl|dt|em|figcaption|figure|font|" +
  "footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|label|li|link|main|meta|nav|ol|option|p|pre|q|s|" +
  "script|section|select|small|span|strike|strong|style|sub|sup|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|" +
  "ul|video";
const NAME = "[a-z][\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}:.\\-]*";
const SPACE = "\\p{White_Space}";
const HIDDEN = new RegExp(
  `<!--.*?-->|<script(?!${WORD}).*?</script${SPACE}*>|<style(?!${WORD}).*?</style${SPACE}*>`,
  "gisu",
);
const TAG = new RegExp(
  `<(?:${ELEMENTS})(?:${SPACE}[^<>]*)?/?>|</${NAME}${SPACE}*>|<${NAME}(?:${SPACE}[^<>]*)?/>` +
    `|<${NAME}${SPACE}[^<>]*=${SPACE}*["'][^<>]*>`,
  "giu",
);
const ENTITY = /&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});/gu;
const URL = new RegExp(
  `${AT_EDGE}(?:https?|ftp)://${NO_SPACE}+|${AT_EDGE}www\\.(?:${WORD}|-)+\\.${NO_SPACE}+`,
  "giu",
);
const EMAIL = new RegExp(`(?:${WORD}|[.+\\-])+@(?:${WORD}|-)+(?:\\.(?:${WORD}|-)+)+`, "gu");
const HANDLE = new RegExp(`(^|[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}@.])@${WORD}{2,}`, "gu");
const RUN = /([\p{L}\p{Nl}\p{No}])\1{3,}/gu;
const LONGEST_WORD = 60;
// What every page knows; a page has those of its documents besides.
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&nbsp;": "\u00a0" };

/**
 * A text without what is to go, and where its characters stood.
 * @typedef {{text: string, places: Int32Array | null}} CleanText `places` is null where nothing was moved; it has one
 *   more entry than the text has characters
 */

/**
 * @param {string} text
 * @param {{strip_html: boolean, strip_urls: boolean, strip_emails: boolean, strip_handles: boolean}} cleaning
 * @param {Record<string, string>} [entities] those that stand in the documents
 * @returns {CleanText}
 */
export function cleanText(text, cleaning, entities = {}) {
  let clean = { text, places: null };
  if (cleaning.strip_html && text.includes("<")) {
    clean = replaced(replaced(clean, HIDDEN, () => " "), TAG, () => " ");
  }
  if (cleaning.strip_html && text.includes("&")) {
    clean = replaced(clean, ENTITY, ([entity]) => meaningOf(entity, entities));
  }
  if (cleaning.strip_urls && /:\/\/|www\.|WWW\./.test(clean.text)) clean = replaced(clean, URL, () => " ");
  if (clean.text.includes("@")) {
    if (cleaning.strip_emails) clean = replaced(clean, EMAIL, () => " ");
    if (cleaning.strip_handles) clean = replaced(clean, HANDLE, ([, before]) => `${before} `);
  }
  return clean;
}

/**
 * A word (in lower case) with its runs cut: "soooo" is "soo"; "" for one that is too long to be a word.
 * @param {string} word
 * @param {{cut_runs: boolean}} cleaning
 */
export function cleanWord(word, cleaning) {
  if (!cleaning.cut_runs) return word;
  const cut = word.replace(RUN, "$1$1");
  return isLongerThan(cut, LONGEST_WORD) ? "" : cut;
}

/** Whether a text has more than so many characters (not halves of them). */
export function isLongerThan(text, most) {
  if (text.length <= most) return false;
  return text.length > 2 * most || [...text].length > most;
}

function meaningOf(entity, entities) {
  const known = entities[entity] ?? ENTITIES[entity];
  if (known !== undefined) return known;
  const [, hex, digits] = /^&#(?:[xX]([0-9a-fA-F]+)|([0-9]+));$/.exec(entity) ?? [];
  if (hex === undefined && digits === undefined) return entity;
  const code = hex === undefined ? Number(digits) : parseInt(hex, 16);
  const isCharacter = code > 31 && code < 0x110000 && !(code >= 0xd800 && code < 0xe000);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}

/** @returns {CleanText} */
function replaced(clean, pattern, change) {
  const { text, places } = clean;
  const pieces = [];
  const moved = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    pieces.push(text.slice(end, match.index));
    for (let i = end; i < match.index; i++) moved.push(places ? places[i] : i);
    const instead = change(match);
    pieces.push(instead);
    const here = places ? places[match.index] : match.index;
    for (let i = 0; i < instead.length; i++) moved.push(here);
    end = match.index + match[0].length;
  }
  if (end === 0 && pieces.length === 0) return clean;
  pieces.push(text.slice(end));
  for (let i = end; i <= text.length; i++) moved.push(places ? places[i] : i);
  return { text: pieces.join(""), places: Int32Array.from(moved) };
}
