// Where the names of topics stand: where the topic is densest, the largest topics first, never one on another.

const CELLS = 48;
const GAP = 5;
const PLACES = 4; // of a topic: where its name finds no room at the first, it takes the next
const APART = 3; // cells
const ABOUT = 0.7; // as full as the fullest
const MOST = 0.6;
const ASIDE = 12; // pixels from a name up or down to the place that it names: further away it would name another one
const ALL = { left: 0, bottom: 0, right: 1, top: 1 };

/**
 * The densest places of every topic, in a part of the map.
 * @param {Uint16Array} x
 * @param {Uint16Array} y
 * @param {ArrayLike<number>} topics of the documents
 * @param {number} n topics
 * @param {(row: number) => boolean} wanted
 * @param {{left: number, bottom: number, right: number, top: number}} part
 * @returns {({places: [number, number][], size: number, heaped: boolean}|null)[]} by topic, 0 to 1; heaped: most of it lies at one place
 */
export function densestPlaces(x, y, topics, n, wanted, part = ALL) {
  const counts = new Float32Array(n * CELLS * CELLS), sizes = new Uint32Array(n);
  const [left, bottom] = [65535 * part.left, 65535 * part.bottom];
  const [wide, high] = [CELLS / (65536 * (part.right - part.left)), CELLS / (65536 * (part.top - part.bottom))];
  // the cell of every document that counts, among those of its topic
  const cells = new Int32Array(topics.length).fill(-1);
  for (let row = 0; row < topics.length; row++) {
    const topic = topics[row];
    if (topic >= n || !wanted(row)) continue;
    const column = Math.floor((x[row] - left) * wide), line = Math.floor((y[row] - bottom) * high);
    if (column < 0 || column >= CELLS || line < 0 || line >= CELLS) continue;
    cells[row] = (topic * CELLS + line) * CELLS + column;
    counts[cells[row]]++;
    sizes[topic]++;
  }
  const best = Array.from({ length: n }, (_, topic) => (sizes[topic] ? fullestCells(counts, topic * CELLS * CELLS) : []));
  const sums = best.map((found) => found.map(() => [0, 0, 0]));
  // a place is the mean of the points in its cell and those around it
  const summedIn = new Map();
  best.forEach((found, topic) => found.forEach((cell, at) => {
    for (const around of neighbours(cell)) summedIn.set(topic * CELLS * CELLS + around, sums[topic][at]);
  }));
  const isSummed = new Uint8Array(counts.length);
  for (const cell of summedIn.keys()) isSummed[cell] = 1;
  for (let row = 0; row < cells.length; row++) {
    if (cells[row] < 0 || !isSummed[cells[row]]) continue;
    const sum = summedIn.get(cells[row]);
    sum[0] += x[row] / 65535;
    sum[1] += y[row] / 65535;
    sum[2]++;
  }
  return sums.map((found, topic) => {
    if (!found.length) return null;
    const size = sizes[topic];
    return { places: found.map(([sumX, sumY, points]) => [sumX / points, sumY / points]), size, heaped: found[0][2] > MOST * size };
  });
}

/** A cell and those around it. */
function neighbours(cell) {
  const found = [], column = cell % CELLS;
  for (let line = Math.max(cell - CELLS - column, 0); line <= cell + CELLS - column && line < CELLS * CELLS; line += CELLS) {
    for (let at = Math.max(column - 1, 0); at <= Math.min(column + 1, CELLS - 1); at++) found.push(line + at);
  }
  return found;
}

/** The fullest cells of a topic, the fullest first: apart from one another, and each about as full as the first. */
function fullestCells(counts, start) {
  const around = new Float32Array(CELLS * CELLS);
  for (let cell = 0; cell < around.length; cell++) {
    if (!counts[start + cell]) continue;
    for (const other of neighbours(cell)) around[cell] += counts[start + other] * (other === cell ? 1 : 0.5);
  }
  const found = [];
  let most = 0;
  while (found.length < PLACES) {
    const best = around.reduce((best, value, cell) => (value > around[best] ? cell : best), 0);
    if (around[best] <= ABOUT * most) break;
    most ||= around[best];
    found.push(best);
    for (let cell = 0; cell < around.length; cell++) {
      if (Math.abs((cell % CELLS) - (best % CELLS)) < APART && Math.abs(Math.floor(cell / CELLS) - Math.floor(best / CELLS)) < APART) around[cell] = 0;
    }
  }
  return found;
}

/** Steps around the place that a name wants, the nearest first, as parts of its height and width. */
const STEPS = [[0, 0], [0, -0.8], [0, 0.8], [0.4, 0], [-0.4, 0], [0.35, -0.9], [-0.35, -0.9], [0.35, 0.9], [-0.35, 0.9], [0.48, 0], [-0.48, 0]];

/**
 * Boxes on the screen for names, the first of the list first; null where a name finds no room near its places.
 * @param {{places: [number, number][], width: number, height: number}[]} wanted middles and sizes in pixels
 * @param {{width: number, height: number}} screen
 * @param {Object[]} taken boxes that are used already
 */
export function placeLabels(wanted, screen, taken = []) {
  const placed = [...taken];
  const isFree = (box) => !placed.some((other) => overlaps(box, other));
  return wanted.map(({ places, width, height }) => {
    for (const [x, y] of places) {
      if (x < 0 || y < 0 || x > screen.width || y > screen.height) continue;
      for (const [stepX, stepY] of STEPS) {
        const left = Math.min(Math.max(x + stepX * width - width / 2, 4), screen.width - width - 4);
        const top = Math.min(Math.max(y + stepY * height - height / 2, 4), screen.height - height - 4);
        const box = { left, top, right: left + width, bottom: top + height };
        if (!isBeside(x, y, box) || !isFree(box)) continue;
        placed.push(box);
        return box;
      }
    }
    return null;
  });
}

const isBeside = (x, y, { left, top, right, bottom }) => x >= left - GAP && x <= right + GAP && y > top - ASIDE && y < bottom + ASIDE;

const overlaps = (one, other) =>
  one.left < other.right + GAP && other.left < one.right + GAP && one.top < other.bottom + GAP && other.top < one.bottom + GAP;
