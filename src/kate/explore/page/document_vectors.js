/** The vectors of all documents, of length 1 (or 0), and the documents nearest to one. */

import { bestRows, emptyRanking, ordered } from "./ranking.js";

const AT_ONCE = 2048; // documents between two looks at the clock
const LONGEST_BREATH = 30; // milliseconds before the page may do something else

export class DocumentVectors {
  /**
   * @param {Float32Array} values (n_docs × n_components)
   * @param {number} nComponents
   */
  constructor(values, nComponents) {
    this.values = values;
    this.nComponents = nComponents;
    this.nDocuments = values.length / nComponents;
  }

  /**
   * Encode all documents, a few at a time, so that the page stays alive.
   * @param {import("./encoder.js").Encoder} encoder
   * @param {import("./document_words.js").DocumentWords} words
   * @param {() => Promise<void>} [pause] lets the page do something else
   */
  static async of(encoder, words, pause = breathe) {
    const d = encoder.nComponents;
    const values = new Float32Array(words.nDocuments * d);
    let since = performance.now();
    for (let document = 0; document < words.nDocuments; document++) {
      encoder.writeVector(words.of(document), values, document * d);
      if (document % AT_ONCE === AT_ONCE - 1 && performance.now() - since > LONGEST_BREATH) {
        await pause();
        since = performance.now();
      }
    }
    return new DocumentVectors(values, d);
  }

  /** The vector of one document. */
  of(document) {
    return this.values.subarray(document * this.nComponents, (document + 1) * this.nComponents);
  }

  /**
   * The cosine of a vector with every document.
   * @param {ArrayLike<number>} vector of length 1
   * @returns {Float32Array}
   */
  cosines(vector) {
    const d = this.nComponents;
    const { values } = this;
    const found = new Float32Array(this.nDocuments);
    const query = Float64Array.from(vector);
    for (let document = 0, at = 0; document < found.length; document++) {
      let sum = 0;
      for (let k = 0; k < d; k++, at++) sum += values[at] * query[k];
      found[document] = sum;
    }
    return found;
  }

  /**
   * The documents nearest to a vector, the nearest first; a document without a known word is never found.
   * @param {ArrayLike<number>} vector of length 1
   * @param {number} top
   * @param {((document: number) => boolean) | null} [isAllowed] which may be found
   * @returns {import("./ranking.js").Ranking}
   */
  nearest(vector, top, isAllowed = null) {
    const cosines = this.cosines(vector);
    return bestRows(cosines, top, (document) => this.isKnown(document) && (isAllowed === null || isAllowed(document)));
  }

  /** Whether the model knows a word of a document. */
  isKnown(document) {
    const end = (document + 1) * this.nComponents;
    for (let at = document * this.nComponents; at < end; at++) if (this.values[at] !== 0) return true;
    return false;
  }

  /**
   * The documents nearest in meaning to one of them, itself left out.
   * @param {number} document
   * @param {number} top
   * @param {((document: number) => boolean) | null} [isAllowed]
   * @returns {import("./ranking.js").Ranking} empty where the model knows no word of it
   */
  similarTo(document, top, isAllowed = null) {
    if (!this.isKnown(document)) return emptyRanking();
    const found = this.nearest(this.of(document), top + 1, isAllowed);
    const others = [...found.rows.keys()].filter((i) => found.rows[i] !== document);
    return ordered(others.map((i) => found.rows[i]), others.map((i) => found.scores[i]), top);
  }
}

function breathe() {
  return new Promise((resolve) => setTimeout(resolve));
}
