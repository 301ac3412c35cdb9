// What a reader changes about the topics of a cut: the same steps, in the same form, that `kate topics --apply` takes:
//   {"n_topics": 20, "edits": [{"kind": "rename", "topics": [3], "name": "law"}, {"kind": "merge", "topics": [3, 7]}]}

const N_NAME_WORDS = 3;

/**
 * The topics of a cut after steps, and where the documents of each topic went.
 * @param {Object[]} topics of the cut, each {number, name, words: [[word, weight]…], size, share, …}
 * @param {Object[]} steps
 * @returns {{topics: Object[], moved: Map<number, number>}}
 */
export function applyEdits(topics, steps) {
  const current = new Map(topics.map((topic) => [topic.number, { ...topic }]));
  const moved = new Map();
  for (const step of steps) {
    const [first, ...others] = step.topics;
    if (!step.topics.every((number) => current.has(number))) continue;
    if (step.kind === "rename") current.get(first).name = step.name;
    if (step.kind === "merge") {
      const union = unionOf([first, ...others].map((number) => current.get(number)));
      current.set(first, union);
      for (const number of others) {
        current.delete(number);
        for (const [from, to] of moved) if (to === number) moved.set(from, first);
        moved.set(number, first);
      }
    }
  }
  return { topics: [...current.values()], moved };
}

/** One topic of several; its words are those that weigh most in all of them together. */
function unionOf(several) {
  const sum = (key) => several.reduce((total, topic) => total + (topic[key] ?? 0), 0);
  const size = sum("size");
  const weights = new Map();
  for (const topic of several) {
    const part = size ? topic.size / size : 1 / several.length;
    for (const [word, weight] of topic.words) weights.set(word, (weights.get(word) ?? 0) + part * weight);
  }
  const words = [...weights].sort((one, other) => other[1] - one[1]).slice(0, several[0].words.length);
  const mean = (key) => (size ? several.reduce((total, topic) => total + (topic[key] ?? 0) * topic.size, 0) / size : 0);
  return {
    ...several[0], ...(several[0].size_of_all === undefined ? {} : { size_of_all: sum("size_of_all") }), size, share: sum("share"), words, coherence: null, coverage: mean("coverage"),
    name: words.slice(0, N_NAME_WORDS).map(([word]) => word).join(", "),
  };
}

/** Why a name cannot be a topic's; null where it can. */
export function nameFault(name, number, topics) {
  const given = name.trim();
  if (!given) return "A name needs a letter at least.";
  if (given.length > 200) return "A name may have 200 letters at the most.";
  // what cannot be printed, line breaks among it, would break tables and files
  if (/(?! )[\p{C}\p{Z}]/u.test(given)) return "A name may only hold letters that can be shown.";
  const other = topics.find((topic) => topic.name === given && topic.number !== number);
  return other ? `Another topic has that name already: choose another, or merge the two.` : null;
}

/** What the file holds that `kate topics --apply` takes. */
export const editsFile = (nTopics, steps) => JSON.stringify({ n_topics: nTopics, edits: steps }, null, 2) + "\n";

/** Steps out of an address; whatever is not one is left out. */
export function readSteps(found) {
  if (!Array.isArray(found)) return [];
  return found.filter((step) => {
    const topics = step?.topics;
    if (!Array.isArray(topics) || !topics.every((one) => Number.isInteger(one) && one >= 0)) return false;
    if (step.kind === "rename") return topics.length === 1 && typeof step.name === "string" && nameFault(step.name, -1, []) === null;
    return step.kind === "merge" && topics.length >= 2 && new Set(topics).size === topics.length;
  }).map(({ kind, topics, name }) => (kind === "rename" ? { kind, topics, name } : { kind, topics }));
}
