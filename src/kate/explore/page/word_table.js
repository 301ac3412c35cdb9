/**
 * The words of the page by number: the model's columns first, then all others of the documents. Every form of a word
 * that stands in a document is here, with the stem that Python gave it.
 */
export class WordTable {
  /**
   * @param {string} text the part `forms`: a line for each word, its stem (nothing if it is the first form), its forms
   * @param {number} nColumns how many words the model knows
   */
  constructor(text, nColumns) {
    this.nColumns = nColumns;
    /** @type {string[]} */
    this.stems = [];
    /** @type {string[]} the most frequent form of each word, as people read it */
    this.readable = [];
    /** @type {Map<string, number>} form → word */
    this.ofForm = new Map();
    /** @type {Map<string, number>} stem → word */
    this.ofStem = new Map();
    this.longest = 1;
    if (text !== "") text.split("\n").forEach((line, word) => this.add(line.split("\t"), word));
  }

  add([stem, ...forms], word) {
    const own = stem === "" ? forms[0] : stem;
    this.stems.push(own);
    this.readable.push(forms[0] ?? own);
    this.ofStem.set(own, word);
    for (const form of forms) {
      this.ofForm.set(form, word);
      this.longest = Math.max(this.longest, form.length);
    }
  }

  get length() {
    return this.stems.length;
  }

  /** The forms of a word, as they stand in the documents. */
  *formsOf(word) {
    for (const [form, one] of this.ofForm) if (one === word) yield form;
  }

  /** Whether some document has a word in this form. */
  has(form) {
    return this.ofForm.has(form);
  }

  /**
   * The stem of a form, known or not.
   * @param {(word: string) => string} stemmer for a form that no document has
   * @returns {(form: string) => string}
   */
  stemming(stemmer) {
    return (form) => {
      const word = this.ofForm.get(form);
      return word === undefined ? stemmer(form) : this.stems[word];
    };
  }

  /**
   * The column of the model of a stem; undefined where it knows none.
   * @param {string} stem
   */
  column(stem) {
    const word = this.ofStem.get(stem);
    return word !== undefined && word < this.nColumns ? word : undefined;
  }
}
