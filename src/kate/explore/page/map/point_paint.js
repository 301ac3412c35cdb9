// The colour of every point, which points lie on top, and how large they are.

const CHOSEN = 0, DIM = 1;

/** How opaque a point is: many of them shine through one another. */
const opacity = (n) => Math.min(Math.max(1.02 - 0.09 * Math.log10(Math.max(n, 10)), 0.5), 0.92);

/** The diameter of a point in pixels, where so many are to be seen. */
export function pointSize(camera, n) {
  const [width, height] = camera.fitted;
  const fitting = Math.sqrt((0.3 * width * height) / Math.max(n, 1));
  return Math.min(Math.max(fitting, 1.8), 9) * Math.min(Math.max(camera.zoom, 1) ** 0.4, 4);
}

/**
 * The diameters of chosen points and of the others. Few that are chosen among many are larger than the rest.
 * @returns {{chosen: number, dim: number}}
 */
export function pointSizes(camera, n, nChosen) {
  const all = pointSize(camera, n);
  return { chosen: Math.min(Math.max(pointSize(camera, 6 * nChosen), all), 2.2 * all + 1), dim: Math.max(0.7 * all, 1.4) };
}

/**
 * Colours (red, green, blue, alpha of each document) and the order of drawing: what is not chosen lies below. Documents come in
 * a mixed order, so that the first of them are a fair sample, and no topic lies on another because its documents come later.
 * @param {import("./corpus_map.js").Scene} scene
 * @param {number} n
 */
export function paintPoints(scene, n) {
  const { topics, selection, lit, dark } = scene;
  const { failing } = selection;
  const colours = new Uint8Array(4 * n), order = new Uint32Array(n);
  const tints = new Uint32Array(colours.buffer);
  const some = selection.active || lit !== null;
  const strong = Math.round(255 * opacity(some ? Math.max(n / 4, 1000) : n));
  const dim = packed(dark ? [150, 160, 172] : [118, 128, 140], dark ? 46 : 62);
  const nobody = packed(dark ? [150, 160, 172] : [118, 128, 140], 140);
  const tintOf = new Map([...scene.colours].map(([number, colour]) => [number, packed(colour, strong)]));
  const largest = Math.max(-1, ...tintOf.keys());
  const table = Uint32Array.from({ length: largest + 1 }, (_, number) => tintOf.get(number) ?? nobody);
  let below = 0, above = n;
  const step = strideOf(n);
  for (let at = 0, row = 0; at < n; at++, row = (row + step) % n) {
    const topic = topics[row];
    const kind = failing[row] || (lit !== null && topic !== lit) ? DIM : CHOSEN;
    tints[row] = kind === DIM ? (selection.isHidden(row) ? 0 : dim) : topic <= largest ? table[topic] : nobody;
    if (kind === DIM) order[below++] = row;
    else order[--above] = row;
  }
  return { colours, order, nChosen: n - below };
}

/** A step that visits all of n rows, far from one to the next. */
function strideOf(n) {
  const shared = (one, other) => (other ? shared(other, one % other) : one);
  let step = Math.max(1, Math.floor(0.618 * n));
  while (shared(n, step) > 1) step++;
  return step;
}

// bytes in memory are red, green, blue, alpha; typed arrays are little-endian wherever browsers run
const packed = ([red, green, blue], alpha) => ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
