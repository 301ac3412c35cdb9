// A colour for every topic: the tree laid around the circle of hues, so that topics that belong together look alike, and
// a topic changes its colour little when the tree is cut elsewhere.

import { ancestor, treeOrder } from "./topic_tree.js";

const LIGHT = { levels: [0.6, 0.68, 0.52], chroma: [0.15, 0.135, 0.15] };
const DARK = { levels: [0.74, 0.82, 0.66], chroma: [0.125, 0.11, 0.145] };
const FIRST_HUE = 20;

/**
 * The place of every topic of every cut on the circle, 0 to 1.
 * @param {number[][]} splits
 * @param {number[]} sizes of the topics of the largest cut
 * @returns {(n: number, number: number) => number}
 */
export function huePlaces(splits, sizes) {
  const n = sizes.length;
  const order = treeOrder(splits, n);
  const width = order.map((number) => Math.sqrt(Math.max(sizes[number] ?? 0, 1)) + 1);
  const total = width.reduce((sum, one) => sum + one, 0);
  const from = new Float64Array(n), to = new Float64Array(n);
  let at = 0;
  order.forEach((number, place) => {
    from[number] = at / total;
    at += width[place];
    to[number] = at / total;
  });
  const known = new Map();
  return (cut, number) => {
    if (!known.has(cut)) {
      const low = new Float64Array(cut).fill(2), high = new Float64Array(cut).fill(-1);
      for (let leaf = 0; leaf < n; leaf++) {
        const topic = ancestor(splits, leaf, cut);
        low[topic] = Math.min(low[topic], from[leaf]);
        high[topic] = Math.max(high[topic], to[leaf]);
      }
      known.set(cut, Float64Array.from(low, (one, topic) => (one + high[topic]) / 2));
    }
    return known.get(cut)[number] ?? 0;
  };
}

/** The colour of a topic as [red, green, blue], 0 to 255. */
export function topicColour(place, number, dark) {
  const scheme = dark ? DARK : LIGHT;
  const step = number % 3;
  return fromOklch(scheme.levels[step], scheme.chroma[step], FIRST_HUE + 360 * place);
}

export const css = ([red, green, blue], alpha = 1) =>
  alpha === 1 ? `rgb(${red} ${green} ${blue})` : `rgb(${red} ${green} ${blue} / ${alpha})`;

/** OKLCH to sRGB (Ottosson 2020); what the screen cannot show loses chroma until it can. */
export function fromOklch(lightness, chroma, hue) {
  const angle = (hue * Math.PI) / 180;
  for (let c = chroma; ; c -= 0.01) {
    const rgb = linear(lightness, Math.max(c, 0) * Math.cos(angle), Math.max(c, 0) * Math.sin(angle));
    if (c <= 0 || rgb.every((one) => one >= -0.001 && one <= 1.001)) return rgb.map(gamma);
  }
}

function linear(lightness, a, b) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

function gamma(one) {
  const clipped = Math.min(Math.max(one, 0), 1);
  return Math.round(255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055));
}
