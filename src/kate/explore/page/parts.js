/**
 * The data of a page: its manifest and its named parts. In a file they are elements of the document; where a service
 * gives the page, they are fetched from beside it. Every part is read once, when it is first asked for.
 */

import { fetched, fetchedWhenMade } from "./service.js";

const FORMAT = "kate-explorer";
const VERSION = 1;
/**
 * The manifest of the page.
 * @param {(message: string) => void} [waiting] is told how far a service is that still makes the page
 * @returns {Promise<object>}
 */
export async function openManifest(waiting = () => {}) {
  const element = document.getElementById("kate-manifest");
  const manifest = element ? JSON.parse(element.textContent) : await (await fetchedWhenMade("manifest.json", waiting)).json();
  if (manifest.format !== FORMAT || manifest.version !== VERSION) {
    throw new Error(`This page reads ${FORMAT} ${VERSION}, and its data are ${manifest.format} ${manifest.version}.`);
  }
  return manifest;
}

/**
 * The parts of a page, decompressed.
 * @param {object} manifest
 * @returns {{has: (name: string) => boolean, bytes: (name: string) => Promise<Uint8Array>,
 *   text: (name: string) => Promise<string>, json: (name: string) => Promise<any>,
 *   array: (name: string, kind: Function) => Promise<any>}}
 */
export function openParts(manifest) {
  const names = new Set(manifest.parts.map((part) => part.name));
  const read = new Map();
  const bytes = (name) => {
    if (!names.has(name)) return Promise.reject(new Error(`this page has no part ${name}`));
    if (!read.has(name)) {
      const reading = compressedPart(name, manifest.served?.edition).then(decompressed);
      // what failed, a request say, may be asked for again
      reading.catch(() => read.delete(name));
      read.set(name, reading);
    }
    return read.get(name);
  };
  const text = async (name) => new TextDecoder().decode(await bytes(name));
  return {
    has: (name) => names.has(name),
    bytes,
    text,
    json: async (name) => JSON.parse(await text(name)),
    array: async (name, kind) => numbers(await bytes(name), kind),
  };
}

/** Little-endian numbers as an array of a kind, such as Uint16Array. */
export function numbers(bytes, kind) {
  const size = kind.BYTES_PER_ELEMENT;
  const aligned = bytes.byteOffset % size === 0 ? bytes : bytes.slice();
  return new kind(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / size));
}

/** Bytes of base64. */
export function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

/** What gzip made. */
export async function decompressed(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function compressedPart(name, edition) {
  const element = document.getElementById(`kate-part-${name}`);
  if (!element) return new Uint8Array(await (await fetched(`parts/${encodeURIComponent(name)}?edition=${edition}`)).arrayBuffer());
  const found = fromBase64(element.textContent);
  element.remove(); // it is read once: the text need not stay in memory
  return found;
}
