/** Counts → vectors, as kate.model.encoder does it: counts are scaled and go through one linear map. */

import { cutSections, readFloats } from "./byte_sections.js";

const L2_GAIN = 3;

/** A vector of counts: columns of the model and how often each occurs. */
/** @typedef {{columns: ArrayLike<number>, counts: ArrayLike<number>}} Counts */

export class Encoder {
  /**
   * @param {Float32Array} map (n_columns × n_components), row by row
   * @param {{scaling: "root" | "l2" | "max", activation: "tanh" | "sigmoid" | null}} settings
   * @param {number} nComponents
   * @param {{weights?: Float32Array | null, bias?: Float32Array | null, mean?: Float32Array | null}} arrays
   */
  constructor(map, settings, nComponents, { weights = null, bias = null, mean = null } = {}) {
    this.map = map;
    this.settings = settings;
    this.nComponents = nComponents;
    this.weights = weights;
    this.bias = bias;
    this.mean = mean;
  }

  /**
   * @param {Uint8Array} bytes the part `word_map`
   * @param {object} facts the part `words`
   */
  static read(bytes, facts) {
    const sections = cutSections(bytes, facts.sections.word_map);
    const { n_columns: nColumns, n_components: nComponents } = facts;
    const scales = readFloats(sections.scales);
    const high = new Int8Array(sections.high.buffer, sections.high.byteOffset, sections.high.length);
    const map = new Float32Array(nColumns * nComponents);
    for (let component = 0, i = 0; component < nComponents; component++) {
      for (let column = 0; column < nColumns; column++, i++) {
        map[column * nComponents + component] = (high[i] * 256 + sections.low[i]) * scales[column];
      }
    }
    const [weights, bias, mean] = ["weights", "bias", "mean"].map((name) => readFloats(sections[name]));
    return new Encoder(map, facts.encoder, nComponents, { weights, bias, mean });
  }

  /**
   * Scaled counts, between 0 and 1: what the map is applied to.
   * @param {Counts} counts
   * @returns {Float32Array} as long as `columns`
   */
  scale({ columns, counts }) {
    const scaled = new Float32Array(columns.length);
    const isRoot = this.settings.scaling === "root";
    let size = 0;
    for (let i = 0; i < scaled.length; i++) {
      const damped = isRoot ? Math.sqrt(counts[i]) : Math.log1p(counts[i]);
      scaled[i] = this.weights === null ? damped : damped * this.weights[columns[i]];
      size = this.settings.scaling === "max" ? Math.max(size, scaled[i]) : size + scaled[i] * scaled[i];
    }
    if (this.settings.scaling !== "max") size = Math.sqrt(size);
    if (this.settings.scaling === "l2") size /= L2_GAIN;
    if (size === 0) size = 1;
    for (let i = 0; i < scaled.length; i++) scaled[i] = Math.min(scaled[i] / size, 1);
    return scaled;
  }

  /**
   * Write the vector of some counts, of length 1, into `into` from `place` on; zeros where there is no known word.
   * @param {Counts} counts
   * @param {Float32Array} into
   * @param {number} place
   * @returns {number} its length before it was divided by it
   */
  writeVector(counts, into, place = 0) {
    const d = this.nComponents;
    const { map } = this;
    const sum = (this.sum ??= new Float64Array(d)).fill(0);
    const scaled = this.scale(counts);
    for (let i = 0; i < scaled.length; i++) {
      const value = scaled[i];
      for (let k = 0, at = counts.columns[i] * d; k < d; k++, at++) sum[k] += value * map[at];
    }
    if (this.settings.activation !== null && scaled.length > 0) this.activate(sum);
    let square = 0;
    for (let k = 0; k < d; k++) square += sum[k] * sum[k];
    const length = Math.sqrt(square);
    const factor = length > 0 ? 1 / length : 0;
    for (let k = 0; k < d; k++) into[place + k] = sum[k] * factor;
    return length;
  }

  activate(sum) {
    const isTanh = this.settings.activation === "tanh";
    for (let k = 0; k < sum.length; k++) {
      const potential = sum[k] + this.bias[k];
      sum[k] = (isTanh ? Math.tanh(potential) : 1 / (1 + Math.exp(-potential))) - this.mean[k];
    }
  }

  /**
   * The vector of some counts, of length 1; null where the model knows no word of them.
   * @param {Counts} counts
   * @returns {Float32Array | null}
   */
  vector(counts) {
    if (counts.columns.length === 0) return null;
    const found = new Float32Array(this.nComponents);
    return this.writeVector(counts, found) > 0 ? found : null;
  }
}
