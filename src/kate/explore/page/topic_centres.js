/** The centres of the topics of every cut, and what documents have to do with them (kate.topics.topic_cut). */

/** A number of 16 bits as IEEE 754 has it. */
function fromHalf(bits) {
  const exponent = (bits >> 10) & 31, fraction = bits & 1023, sign = bits >> 15 ? -1 : 1;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return exponent === 31 ? NaN : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * The centres of a cut.
 * @typedef {Object} Centres
 * @property {Float32Array} values (n_centres × d), of length 1
 * @property {number[]} topics the topic of each centre; a merged topic has several
 * @property {number} sharpness how fast a share grows with the cosine
 */

export class TopicCentres {
  /**
   * @param {Map<number, Centres>} byCut
   * @param {number} d numbers of a vector
   */
  constructor(byCut, d) {
    Object.assign(this, { byCut, d });
  }

  /** Read the part `centres`: those of all cuts, one after another. */
  static async read(parts, cuts, d) {
    const values = Float32Array.from(await parts.array("centres", Uint16Array), fromHalf);
    const byCut = new Map();
    let at = 0;
    for (const { n, centre_topics: topics, sharpness } of cuts) {
      byCut.set(n, { values: values.subarray(at, at + topics.length * d), topics, sharpness });
      at += topics.length * d;
    }
    return new TopicCentres(byCut, d);
  }

  /** The cosine of a vector with every centre of a cut. */
  cosines(vector, cut) {
    const { values, topics } = this.byCut.get(cut), { d } = this;
    return topics.map((_, centre) => {
      let sum = 0;
      for (let k = 0; k < d; k++) sum += vector[k] * values[centre * d + k];
      return sum;
    });
  }

  /**
   * How much of a vector belongs to each topic, the largest share first; shares sum to 1.
   * @param {Float32Array} vector
   * @param {number} cut
   * @param {Map<number, number>} moved topics that the reader put into another one
   * @returns {[number, number][]}
   */
  shares(vector, cut, moved) {
    const { topics, sharpness } = this.byCut.get(cut);
    const scores = new Map();
    let total = 0;
    this.cosines(vector, cut).forEach((cosine, centre) => {
      const score = Math.exp(sharpness * (cosine - 1));
      const topic = moved.get(topics[centre]) ?? topics[centre];
      scores.set(topic, (scores.get(topic) ?? 0) + score);
      total += score;
    });
    return [...scores].map(([topic, score]) => [topic, score / total]).sort((one, other) => other[1] - one[1]);
  }

  /**
   * What speaks for the topic of a vector rather than for topics at large: its nearest centre less the mean of all.
   * @returns {Float64Array} (d,)
   */
  directionOf(vector, cut) {
    const { values, topics } = this.byCut.get(cut), { d } = this;
    const cosines = this.cosines(vector, cut);
    const nearest = cosines.indexOf(Math.max(...cosines));
    const direction = new Float64Array(d);
    for (let k = 0; k < d; k++) {
      let sum = 0;
      for (let centre = 0; centre < topics.length; centre++) sum += values[centre * d + k];
      // where there is one topic, nothing but the topic itself can be spoken for
      direction[k] = values[nearest * d + k] - (topics.length > 1 ? sum / topics.length : 0);
    }
    return direction;
  }

  /**
   * How typical every document is of its topic: the cosine with the nearest centre of it; -1 for one without a topic.
   * @param {import("./document_vectors.js").DocumentVectors} vectors
   * @param {number} cut
   * @param {ArrayLike<number>} assignments the topic of every document, before the reader's changes
   * @returns {Float32Array}
   */
  typical(vectors, cut, assignments) {
    const { values, topics } = this.byCut.get(cut), { d } = this, all = vectors.values;
    const centresOf = [];
    topics.forEach((topic, centre) => (centresOf[topic] ??= []).push(centre));
    const found = new Float32Array(vectors.nDocuments).fill(-1);
    for (let row = 0; row < found.length; row++) {
      for (const centre of centresOf[assignments[row]] ?? []) {
        let sum = 0;
        for (let k = 0, at = row * d, to = centre * d; k < d; k++) sum += all[at + k] * values[to + k];
        if (sum > found[row]) found[row] = sum;
      }
    }
    return found;
  }
}
