/** What is known of single words: words like them, where they are used, and which words tell a choice of documents apart. */

const TELLING_IN = 3; // documents that must hold a word before it can tell them apart

export class WordUses {
  /** @param {import("./corpus_finder.js").CorpusFinder} finder */
  constructor(finder) {
    this.finder = finder;
    const { map, nComponents: d } = finder.encoder;
    this.lengths = new Float64Array(finder.table.nColumns);
    for (let word = 0; word < this.lengths.length; word++) {
      let sum = 0;
      for (let k = 0; k < d; k++) sum += map[word * d + k] ** 2;
      this.lengths[word] = Math.sqrt(sum);
    }
  }

  /** The number of a word in any of its forms; undefined where neither a document nor the model has it. */
  find(word) {
    const { table, tokenizer } = this.finder;
    const known = table.ofForm.get(word) ?? table.ofForm.get(word.toLowerCase()) ?? table.ofStem.get(word);
    if (known !== undefined) return known;
    const [token] = tokenizer.searchTokens(word);
    return token?.words.length === 1 ? table.ofStem.get(token.words[0].stem) : undefined;
  }

  readable(word) {
    return this.finder.table.readable[word];
  }

  /** Every form in which a word stands in the documents. */
  formsOf(word) {
    return [...this.finder.table.formsOf(word)];
  }

  /**
   * The words whose weights point the same way, as kate.TextModel.similar_words finds them.
   * @param {ArrayLike<number>} vector
   * @param {number} top
   * @param {Set<number>} but words that are left out
   * @returns {{word: number, cosine: number}[]}
   */
  nearest(vector, top, but) {
    const { map, nComponents: d } = this.finder.encoder;
    let length = 0;
    for (let k = 0; k < d; k++) length += vector[k] ** 2;
    length = Math.sqrt(length);
    const best = [];
    for (let word = 0; word < this.lengths.length; word++) {
      if (but.has(word) || this.lengths[word] === 0) continue;
      let sum = 0;
      for (let k = 0, at = word * d; k < d; k++) sum += map[at + k] * vector[k];
      const cosine = length ? sum / (length * this.lengths[word]) : 0;
      if (best.length === top && cosine <= best[top - 1].cosine) continue;
      if (best.length === top) best.pop();
      let place = best.length;
      while (place > 0 && best[place - 1].cosine < cosine) place--;
      best.splice(place, 0, { word, cosine });
    }
    return best;
  }

  /** Words like one that the model knows; none for another word. */
  neighbours(word, top) {
    const { map, nComponents: d } = this.finder.encoder;
    if (word >= this.lengths.length || this.lengths[word] === 0) return [];
    return this.nearest(map.subarray(word * d, (word + 1) * d), top, new Set([word]));
  }

  /** The documents that hold a word, rising. */
  documentsWith(word) {
    return this.finder.postings.documentsWith(word);
  }

  /**
   * The words that tell some documents from all: p(word | chosen) · log(p(word | chosen) / p(word)), the rule of the words of topics.
   * @param {ArrayLike<number>} rows
   * @param {number} top
   * @returns {{word: number, times: number}[]} `times`: how much more often these documents hold it than all do
   */
  telling(rows, top) {
    const { documentWords, postings, table, nDocuments } = this.finder;
    const held = new Uint32Array(table.nColumns);
    for (const row of rows) for (const column of documentWords.of(row).columns) held[column]++;
    const found = [];
    for (let word = 0; word < held.length; word++) {
      const everywhere = Math.max(postings.nDocumentsWith(word), held[word]);
      if (held[word] < Math.min(TELLING_IN, rows.length)) continue;
      const part = held[word] / rows.length, times = part / (everywhere / nDocuments);
      if (times > 1) found.push({ word, times, score: part * Math.log(times) });
    }
    return found.sort((one, other) => other.score - one.score || one.word - other.word).slice(0, top);
  }
}
