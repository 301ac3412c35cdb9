/**
 * Documents that hold words side by side. Postings say which documents hold all of the words; their texts say whether
 * these are neighbours. Where the page has no whole texts, all of the words must occur, and that is told.
 */
export class Phrases {
  /**
   * @param {import("./corpus_finder.js").CorpusFinder} finder
   * @param {((document: number) => Promise<string | null>) | null} textOf the text that is searched: title, empty line,
   *   text; null where the page does not hold whole texts
   */
  constructor(finder, textOf) {
    this.finder = finder;
    this.textOf = textOf;
    this.found = new Map();
  }

  /**
   * @param {string[]} stems
   * @returns {Promise<{documents: Set<number>, isExact: boolean}>}
   */
  async documentsWith(stems) {
    const key = stems.join("\n");
    if (!this.found.has(key)) this.found.set(key, await this.lookUp(stems));
    return this.found.get(key);
  }

  async lookUp(stems) {
    const numbers = stems.map((stem) => this.finder.numberOf(stem));
    if (numbers.includes(undefined)) return { documents: new Set(), isExact: true };
    const together = this.documentsWithAll([...new Set(numbers)]);
    if (stems.length === 1) return { documents: new Set(together), isExact: true };
    if (this.textOf === null) return { documents: new Set(together), isExact: false };
    const documents = new Set();
    for (const document of together) {
      const text = await this.textOf(document);
      if (text !== null && this.hasPhrase(text, stems)) documents.add(document);
    }
    return { documents, isExact: true };
  }

  /** The documents that hold every word, from the rarest on. */
  documentsWithAll(numbers) {
    const { postings } = this.finder;
    const [rarest, ...others] = numbers.sort((a, b) => postings.nDocumentsWith(a) - postings.nDocumentsWith(b));
    let found = Array.from(postings.documentsWith(rarest));
    for (const number of others) {
      const list = postings.documentsWith(number);
      let at = 0;
      found = found.filter((document) => {
        while (at < list.length && list[at] < document) at++;
        return list[at] === document;
      });
    }
    return found;
  }

  hasPhrase(text, stems) {
    const held = this.finder.tokenizer.searchTokens(text).flatMap((token) => token.words.map((word) => word.stem));
    for (let start = held.indexOf(stems[0]); start >= 0; start = held.indexOf(stems[0], start + 1)) {
      if (stems.every((stem, i) => held[start + i] === stem)) return true;
    }
    return false;
  }
}
