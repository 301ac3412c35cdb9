// The tree of topics as the page needs it. A cut at n has the topics 0 to n - 1; topic k was split off from the topic
// splits[k - 1][0] when the number of topics grew to k + 1, so a topic keeps its number however the tree is cut.

/** The topic of a cut at n that holds topic `number` of a larger cut. */
export function ancestor(splits, number, n) {
  while (number >= n && number > 0) number = splits[number - 1][0];
  return number;
}

/** The numbers of a cut at n, so that topics that are split late stand side by side. */
export function treeOrder(splits, n) {
  const order = [0];
  for (let number = 1; number < Math.min(n, splits.length + 1); number++) {
    order.splice(order.indexOf(splits[number - 1][0]) + 1, 0, number);
  }
  return order;
}

/**
 * The tree above the topics of a cut: nested nodes {topics, made, children}, the root first.
 * `made` is the number of topics at which the node is split; a single topic has none.
 * @param {number[][]} splits
 * @param {number} n
 */
export function nestedTree(splits, n) {
  const leaf = (number) => ({ topics: [number], made: null, children: [] });
  const root = leaf(0);
  const nodeOf = new Map([[0, root]]);
  for (let number = 1; number < Math.min(n, splits.length + 1); number++) {
    const parent = splits[number - 1][0];
    const node = nodeOf.get(parent);
    node.children = [leaf(parent), leaf(number)];
    node.made = number + 1;
    nodeOf.set(parent, node.children[0]).set(number, node.children[1]);
  }
  const gather = (node) => {
    if (node.children.length) node.topics = node.children.flatMap(gather);
    return node.topics;
  };
  gather(root);
  return root;
}
