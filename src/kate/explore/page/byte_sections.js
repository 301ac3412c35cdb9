/** Bytes → numbers: the sections of a part, and numbers of varying length. */

/**
 * The sections of a part, which lie one after another.
 * @param {Uint8Array} bytes
 * @param {Record<string, number>} sizes bytes of each section, in their order
 * @returns {Record<string, Uint8Array>}
 */
export function cutSections(bytes, sizes) {
  const found = {};
  let start = 0;
  for (const [name, size] of Object.entries(sizes)) {
    found[name] = bytes.subarray(start, start + size);
    start += size;
  }
  if (start !== bytes.length) {
    throw new Error(`a part has ${bytes.length} bytes, and ${start} were expected; the page is damaged`);
  }
  return found;
}

/**
 * Whole numbers of seven bits to a byte, the lowest first.
 * @param {Uint8Array} bytes
 * @param {number} n how many there are
 * @returns {Uint32Array}
 */
export function readVarints(bytes, n) {
  const found = new Uint32Array(n);
  let place = 0;
  for (let i = 0; i < n; i++) {
    let byte = bytes[place++];
    let value = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[place++];
      value |= (byte & 127) << shift;
    }
    found[i] = value;
  }
  return found;
}

/**
 * The same for numbers below 0 too.
 * @returns {Int32Array}
 */
export function readSignedVarints(bytes, n) {
  const found = new Int32Array(n);
  readVarints(bytes, n).forEach((value, i) => {
    found[i] = value & 1 ? -((value + 1) >>> 1) : value >>> 1;
  });
  return found;
}

/**
 * Single-precision numbers, wherever they begin.
 * @param {Uint8Array | undefined} bytes
 * @returns {Float32Array | null}
 */
export function readFloats(bytes) {
  return bytes === undefined ? null : new Float32Array(bytes.slice().buffer);
}
