/**
 * The words of each document that the model counts: what its vector is made of, and what puts it into its topic.
 * Made of the postings, turned round; a list of differences tells where the model counts otherwise than search does
 * (titles are searched but not encoded).
 */
export class DocumentWords {
  /**
   * @param {Uint32Array} starts (n_docs + 1)
   * @param {Uint32Array} columns rising in each document
   * @param {Float32Array} counts
   */
  constructor(starts, columns, counts) {
    this.starts = starts;
    this.columns = columns;
    this.counts = counts;
  }

  /**
   * @param {import("./postings.js").WordLists} lists
   * @param {import("./postings.js").WordLists} changed what is to be added to the counts
   * @param {number} nDocuments
   */
  static of(lists, changed, nDocuments) {
    const nColumns = changed.nWords;
    const sizes = new Uint32Array(nDocuments + 1);
    eachEntry(lists, changed, nColumns, (document) => sizes[document + 1]++);
    for (let document = 0; document < nDocuments; document++) sizes[document + 1] += sizes[document];
    const columns = new Uint32Array(sizes[nDocuments]);
    const counts = new Float32Array(sizes[nDocuments]);
    const next = sizes.slice();
    eachEntry(lists, changed, nColumns, (document, column, count) => {
      columns[next[document]] = column;
      counts[next[document]++] = count;
    });
    return new DocumentWords(sizes, columns, counts);
  }

  get nDocuments() {
    return this.starts.length - 1;
  }

  /**
   * The words of one document.
   * @param {number} document
   * @returns {{columns: Uint32Array, counts: Float32Array}}
   */
  of(document) {
    const [start, end] = [this.starts[document], this.starts[document + 1]];
    return { columns: this.columns.subarray(start, end), counts: this.counts.subarray(start, end) };
  }
}

/** Calls `take(document, column, count)` for every word that a document has, column by column. */
function eachEntry(lists, changed, nColumns, take) {
  for (let column = 0; column < nColumns; column++) {
    let other = changed.starts[column];
    const otherEnd = changed.starts[column + 1];
    for (let i = lists.starts[column]; i < lists.starts[column + 1]; i++) {
      const document = lists.documents[i];
      for (; other < otherEnd && changed.documents[other] < document; other++) {
        take(changed.documents[other], column, changed.counts[other]);
      }
      let count = lists.counts[i];
      if (other < otherEnd && changed.documents[other] === document) count += changed.counts[other++];
      if (count > 0) take(document, column, count);
    }
    for (; other < otherEnd; other++) take(changed.documents[other], column, changed.counts[other]);
  }
}
