/** Where in a text the words stand that something depends on: those that put it into its topic, those that were searched. */

/**
 * @typedef {Object} Span
 * @property {number} start
 * @property {number} end
 * @property {number} weight 0 to 1
 * @property {string} word
 * @property {number} part of all that speaks for the topic
 * @property {boolean} [asked] whether a search was for it
 */

const FAINTEST = 0.15; // of the strongest word: what adds less is not marked
const BEFORE = 0.3; // of a passage stands before the first word that was found

/**
 * What every word of a document adds to its topic, rather than to topics at large. The model is one linear map, so that
 * these are the parts of one sum, and not a guess.
 * @param {import("./corpus_finder.js").CorpusFinder} finder
 * @param {number} row
 * @param {ArrayLike<number>} direction
 * @returns {Map<number, number>} column → its part of all that speaks for the topic
 */
export function partsOfWords(finder, row, direction) {
  const { encoder } = finder, { map, nComponents: d } = encoder;
  const counts = finder.documentWords.of(row), scaled = encoder.scale(counts);
  const added = new Map();
  let total = 0;
  for (let at = 0; at < scaled.length; at++) {
    const column = counts.columns[at];
    let sum = 0;
    for (let k = 0; k < d; k++) sum += map[column * d + k] * direction[k];
    if (sum * scaled[at] <= 0) continue;
    added.set(column, sum * scaled[at]);
    total += sum * scaled[at];
  }
  for (const [column, sum] of added) added.set(column, sum / total);
  return added;
}

/**
 * Where those words stand.
 * @param {import("./corpus_finder.js").CorpusFinder} finder
 * @param {string} text
 * @param {Map<number, number>} parts
 * @returns {Span[]} weights 0 to 1, in the order of the text
 */
export function topicSpans(finder, text, parts) {
  const most = Math.max(...parts.values(), 1e-9);
  const strong = (part) => part / most >= FAINTEST;
  const spans = [];
  let before = null; // the word before this one may be the first of a phrase
  for (const { start, end, words } of finder.tokenizer.modelTokens(text, finder.hasPhrases)) {
    if (!words.length) {
      before = null;
      continue;
    }
    const column = finder.table.column(words[0].stem);
    const span = { start, end, word: words[0].word, part: parts.get(column) ?? 0 };
    const phrase = before && finder.hasPhrases ? parts.get(finder.table.column(`${before.stem} ${words[0].stem}`)) : undefined;
    if (phrase !== undefined) {
      span.part = Math.max(span.part, phrase);
      before.span.part = Math.max(before.span.part, phrase);
    }
    spans.push(span);
    before = { stem: words.at(-1).stem, span };
  }
  return spans.filter(({ part }) => strong(part)).map((span) => ({ ...span, weight: span.part / most }));
}

/** Where the words of a query stand. */
export function askedSpans(tokenizer, text, worth) {
  return tokenizer.searchTokens(text).flatMap(({ start, end, words }) => {
    const found = words.find(({ stem }) => worth.has(stem));
    return found ? [{ start, end, stem: found.stem, word: found.word, weight: 0, part: 0, asked: true }] : [];
  });
}

/** Two lists of spans as one, in the order of the text; a word that is in both is asked and weighs. */
export function mergedSpans(spans, asked) {
  const at = new Map(spans.map((span) => [span.start, span]));
  for (const span of asked) at.set(span.start, { ...span, ...at.get(span.start), asked: true });
  return [...at.values()].sort((one, other) => one.start - other.start);
}

/**
 * The passage of a text that holds most of the words of a query, and where they stand in it.
 * @param {import("./tokenizer.js").Tokenizer} tokenizer
 * @param {string} text
 * @param {Map<string, number>} worth of each stem that was searched
 * @param {number} length of the passage
 * @returns {{text: string, spans: Span[]}|null} null where the text holds none of them
 */
export function bestPassage(tokenizer, text, worth, length) {
  const hits = askedSpans(tokenizer, text, worth);
  if (!hits.length) return null;
  const from = startOfPassage(text, hits[bestHit(hits, worth, length)].start, length);
  const cut = text.slice(from, from + length);
  const until = from + (from + length < text.length ? Math.max(cut.lastIndexOf(" "), 0.6 * length) | 0 : cut.length);
  const lead = from > 0 ? "…" : "";
  const spans = hits.filter(({ start, end }) => start >= from && end <= until)
    .map(({ start, end, word }) => ({ start: start - from + lead.length, end: end - from + lead.length, weight: 0, word, part: 0, asked: true }));
  // a line break is as wide as the space that stands for it: places stay right
  const shown = text.slice(from, until).replace(/\s/g, " ");
  return { text: lead + shown + (until < text.length ? "…" : ""), spans };
}

/** The hit from which on a passage holds most: every word once. */
function bestHit(hits, worth, length) {
  let best = 0, most = -1;
  for (let first = 0; first < hits.length; first++) {
    const held = new Set();
    for (let at = first; at < hits.length && hits[at].end - hits[first].start < (1 - BEFORE) * length; at++) held.add(hits[at].stem);
    const sum = [...held].reduce((total, stem) => total + worth.get(stem), 0);
    if (sum > most + 1e-9) [best, most] = [first, sum];
  }
  return best;
}

function startOfPassage(text, hit, length) {
  const wanted = Math.max(hit - Math.floor(BEFORE * length), 0);
  if (wanted === 0) return 0;
  const space = text.indexOf(" ", wanted);
  return space >= 0 && space < hit ? space + 1 : hit;
}
