// Where the names of topics stand: where the topic is densest, the largest topics first, never one on another.

const CELLS = 48;
const GAP = 5;

/**
 * The densest place of every topic.
 * @param {Uint16Array} x
 * @param {Uint16Array} y
 * @param {ArrayLike<number>} topics of the documents
 * @param {number} n topics
 * @param {(row: number) => boolean} wanted
 * @returns {({x: number, y: number, size: number}|null)[]} by topic, 0 to 1
 */
export function densestPlaces(x, y, topics, n, wanted) {
  const counts = new Float32Array(n * CELLS * CELLS), sizes = new Uint32Array(n);
  const cell = (place) => Math.min((place * CELLS) >> 16, CELLS - 1);
  for (let row = 0; row < topics.length; row++) {
    const topic = topics[row];
    if (topic >= n || !wanted(row)) continue;
    counts[(topic * CELLS + cell(y[row])) * CELLS + cell(x[row])]++;
    sizes[topic]++;
  }
  const best = Array.from({ length: n }, (_, topic) => (sizes[topic] ? fullestCell(counts, topic * CELLS * CELLS) : -1));
  const sums = new Float64Array(3 * n);
  for (let row = 0; row < topics.length; row++) {
    const topic = topics[row];
    if (topic >= n || best[topic] < 0 || !wanted(row)) continue;
    // the mean of the points in the fullest cell and those around it
    if (Math.abs(cell(x[row]) - (best[topic] % CELLS)) > 1 || Math.abs(cell(y[row]) - Math.floor(best[topic] / CELLS)) > 1) continue;
    sums[3 * topic] += x[row] / 65535;
    sums[3 * topic + 1] += y[row] / 65535;
    sums[3 * topic + 2]++;
  }
  return best.map((_, topic) => {
    const found = sums[3 * topic + 2];
    return found ? { x: sums[3 * topic] / found, y: sums[3 * topic + 1] / found, size: sizes[topic] } : null;
  });
}

function fullestCell(counts, start) {
  let best = -1, most = 0;
  for (let row = 0; row < CELLS; row++) {
    for (let column = 0; column < CELLS; column++) {
      if (!counts[start + row * CELLS + column]) continue;
      let around = 0;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) {
          if (row + dy < 0 || row + dy >= CELLS || column + dx < 0 || column + dx >= CELLS) continue;
          around += counts[start + (row + dy) * CELLS + column + dx] * (dx || dy ? 0.5 : 1);
        }
      }
      if (around > most) [best, most] = [row * CELLS + column, around];
    }
  }
  return best;
}

/** Steps around the place that a name wants, the nearest first, as parts of its height and width. */
const STEPS = [[0, 0], [0, -0.8], [0, 0.8], [0.4, 0], [-0.4, 0], [0.35, -0.9], [-0.35, -0.9], [0.35, 0.9], [-0.35, 0.9], [0, -1.6], [0, 1.6], [0.6, -1.3], [-0.6, 1.3]];

/**
 * Boxes on the screen for names, the first of the list first; null where a name finds no room.
 * @param {{x: number, y: number, width: number, height: number}[]} wanted middles and sizes in pixels
 * @param {{width: number, height: number}} screen
 * @param {Object[]} taken boxes that are used already
 */
export function placeLabels(wanted, screen, taken = []) {
  const placed = [...taken];
  return wanted.map(({ x, y, width, height }) => {
    if (x < 0 || y < 0 || x > screen.width || y > screen.height) return null;
    for (const [stepX, stepY] of STEPS) {
      const left = Math.min(Math.max(x + stepX * width - width / 2, 4), screen.width - width - 4);
      const top = Math.min(Math.max(y + stepY * height - height / 2, 4), screen.height - height - 4);
      const box = { left, top, right: left + width, bottom: top + height };
      if (!placed.some((other) => overlaps(box, other))) {
        placed.push(box);
        return box;
      }
    }
    return null;
  });
}

const overlaps = (one, other) =>
  one.left < other.right + GAP && other.left < one.right + GAP && one.top < other.bottom + GAP && other.top < one.bottom + GAP;
