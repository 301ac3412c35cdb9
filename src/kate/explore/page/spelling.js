/** How alike two words look: the measure of Python's difflib (Ratcliff and Obershelp), so that both suggest the same. */

/**
 * At most `n` of the known names that look like a name, the closest first.
 * @param {string} name
 * @param {Iterable<string>} known
 * @param {number} n
 * @param {number} cutoff from 0 to 1, which is the same name
 * @returns {string[]}
 */
export function closeNames(name, known, n = 2, cutoff = 0.5) {
  const letters = lettersOf(name);
  const found = [];
  for (const other of known) {
    // what no order of the letters could reach need not be looked at closely
    if (mostAlike(name, letters, other) < cutoff) continue;
    const ratio = likeness(other, name);
    if (ratio >= cutoff) found.push({ other, ratio });
  }
  found.sort((a, b) => b.ratio - a.ratio || (a.other < b.other ? 1 : a.other > b.other ? -1 : 0));
  return found.slice(0, n).map(({ other }) => other);
}

/**
 * Twice the letters in matching blocks over all letters, from 0 to 1.
 * @param {string} one
 * @param {string} other
 */
export function likeness(one, other) {
  const total = one.length + other.length;
  return total === 0 ? 1 : (2 * matching(one, 0, one.length, other, 0, other.length)) / total;
}

function matching(one, oneStart, oneEnd, other, otherStart, otherEnd) {
  let [start, place, size] = [oneStart, otherStart, 0];
  let before = new Map();
  for (let i = oneStart; i < oneEnd; i++) {
    const here = new Map();
    for (let j = otherStart; j < otherEnd; j++) {
      if (one[i] !== other[j]) continue;
      const length = (before.get(j - 1) ?? 0) + 1;
      here.set(j, length);
      if (length > size) [start, place, size] = [i - length + 1, j - length + 1, length];
    }
    before = here;
  }
  if (size === 0) return 0;
  return (
    size +
    matching(one, oneStart, start, other, otherStart, place) +
    matching(one, start + size, oneEnd, other, place + size, otherEnd)
  );
}

function lettersOf(word) {
  const found = new Map();
  for (const letter of word) found.set(letter, (found.get(letter) ?? 0) + 1);
  return found;
}

function mostAlike(name, letters, other) {
  const left = new Map(letters);
  let same = 0;
  for (const letter of other) {
    const n = left.get(letter) ?? 0;
    if (n > 0) {
      same++;
      left.set(letter, n - 1);
    }
  }
  return (2 * same) / (name.length + other.length || 1);
}
