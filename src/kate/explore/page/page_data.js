/** The parts of a page as the things that they are: places, topics of documents, dates, texts. */

/**
 * Where documents stand, from 0 to 65,535.
 * @returns {Promise<{x: Uint16Array, y: Uint16Array}>}
 */
export async function readPositions(parts) {
  const both = await parts.array("positions", Uint16Array);
  const half = both.length / 2;
  return { x: both.subarray(0, half), y: both.subarray(half) };
}

/**
 * The topic of every document at every stop of the slider, in the order of `manifest.cuts`; `none` is the number of a
 * document that has no topic.
 * @returns {Promise<{of: (cut: number) => Uint8Array | Uint16Array, none: number}>}
 */
export async function readAssignments(parts, manifest) {
  const n = manifest.n_documents;
  const bytes = await parts.bytes("assignments");
  const wide = bytes.byteLength === 2 * n * manifest.cuts.length && n > 0;
  const all = wide ? await parts.array("assignments", Uint16Array) : bytes;
  return {
    of: (cut) => {
      const place = manifest.cuts.indexOf(cut);
      if (place < 0) throw new Error(`there is no stop at ${cut} topics`);
      return all.subarray(place * n, (place + 1) * n);
    },
    none: wide ? 65535 : 255,
  };
}

/**
 * Days since 1970-01-01; null where the corpus has no dates. `NO_DATE` is that of a document without one.
 * @returns {Promise<Int32Array | null>}
 */
export async function readDates(parts) {
  return parts.has("dates") ? parts.array("dates", Int32Array) : null;
}

export const NO_DATE = -2147483648;

/**
 * Texts of documents, or their snippets: one block is decompressed for a document. A page without texts gives null.
 * @returns {{text: (document: number) => Promise<string | null>}}
 */
export function readTexts(parts, manifest) {
  const firsts = manifest.text_blocks;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true }); // a mark of the byte order that a text begins with is part of it
  return {
    text: async (document) => {
      if (!parts.has("text_offsets")) return null;
      const offsets = await parts.array("text_offsets", Uint32Array);
      const block = lastAtMost(firsts, document);
      const bytes = await parts.bytes(`texts-${block}`);
      const start = offsets[firsts[block]];
      return decoder.decode(bytes.subarray(offsets[document] - start, offsets[document + 1] - start));
    },
  };
}

/** The place of the last value that is not above another one. */
function lastAtMost(values, most) {
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (values[middle] <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}
