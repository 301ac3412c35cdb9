// Modules of the page that need no browser, each by itself:  node --test tests/explore/page/

import assert from "node:assert/strict";
import test from "node:test";

import { FramePace } from "../../../src/kate/explore/page/map/frame_pace.js";
import { densestPlaces, placeLabels } from "../../../src/kate/explore/page/map/label_places.js";
import { PointGrid } from "../../../src/kate/explore/page/map/point_grid.js";
import { axisMarks, periodName, periodsBetween } from "../../../src/kate/explore/page/periods.js";
import { BITS, countCodes, isInside, Selection, simplified } from "../../../src/kate/explore/page/selection.js";
import { fromOklch } from "../../../src/kate/explore/page/topic_colours.js";
import { applyEdits, nameFault, readSteps } from "../../../src/kate/explore/page/topic_edits.js";
import { ancestor, nestedTree, treeOrder } from "../../../src/kate/explore/page/topic_tree.js";
import { emptyView, readAddress, writeAddress } from "../../../src/kate/explore/page/view_state.js";
import { dayFromIso, dayOf, isoDay, share, shortened } from "../../../src/kate/explore/page/wording.js";

const usual = emptyView(5);
const limits = { cuts: [2, 3, 5], nDocuments: 10, columns: ["party", "a&b=c#"] };

/** Numbers that look drawn and are always the same. */
function dice(seed) {
  return () => (seed = (seed * 16807) % 2147483647) / 2147483647;
}

test("a view comes back from its address", () => {
  const view = {
    ...usual, cut: 3, topics: [2, 0], period: [dayOf(1861, 2, 4), dayOf(1865, 3, 15)], by: "a&b=c#", group: "Whig & “Free” 50%", lasso: [[0.1, 0.2], [0.3, 0.4], [0.5, 0.1]],
    query: 'gold & "silver" -#%', document: 7, word: "naïve", camera: { x: 0.25, y: 0.5, zoom: 3.5 }, panel: "words", sort: "newest",
    edits: { 3: [{ kind: "rename", topics: [1], name: "law, & order" }, { kind: "merge", topics: [0, 2] }] },
  };
  assert.deepEqual(readAddress("#" + writeAddress(view, usual), usual, limits), view);
  assert.equal(writeAddress(usual, usual), "");
});

test("what cannot be in this corpus is left out of an address", () => {
  const address = 'cut=4&topics=a.-1.1.5&period=1999-13..x&by=nobody&group=x&doc=10&lasso=1_2..3_4&view=NaN_1_1&panel=x&sort=x&edits={"3":[{"kind":"drop","topics":[1]}],"9":[]}';
  assert.deepEqual(readAddress(address, usual, limits), { ...usual, topics: [1, 5] });
});

test("names never lie on one another, nor on what is taken", () => {
  const next = dice(7);
  const wanted = Array.from({ length: 120 }, () => ({ places: [[900 * next(), 500 * next()]], width: 40 + 90 * next(), height: 16 + 20 * next() }));
  const taken = [{ left: 800, top: 0, right: 900, bottom: 200 }];
  const boxes = [...placeLabels(wanted, { width: 900, height: 500 }, taken).filter(Boolean), ...taken];
  assert.ok(boxes.length > 20);
  for (const [at, one] of boxes.entries()) {
    for (const other of boxes.slice(0, at)) {
      assert.ok(one.right <= other.left || other.right <= one.left || one.bottom <= other.top || other.bottom <= one.top);
    }
  }
});

test("a name stands at a place of its topic, or nowhere", () => {
  const next = dice(11), screen = { width: 390, height: 370 };
  const wanted = Array.from({ length: 60 }, () => ({ places: [[390 * next(), 370 * next()], [390 * next(), 370 * next()]], width: 60 + 40 * next(), height: 20 + 20 * next() }));
  const boxes = placeLabels(wanted, screen);
  assert.ok(boxes.filter(Boolean).length > 8);
  boxes.forEach((box, at) => {
    if (!box) return;
    const beside = ([x, y]) => x > box.left - 6 && x < box.right + 6 && y > box.top - 13 && y < box.bottom + 13;
    assert.ok(wanted[at].places.some(beside), JSON.stringify([wanted[at], box]));
  });
  // where there is no room at the first place, there may be at the second
  const [, second] = placeLabels([{ places: [[100, 100]], width: 150, height: 90 }, { places: [[100, 100], [300, 300]], width: 80, height: 20 }], screen);
  assert.deepEqual(second, { left: 260, top: 290, right: 340, bottom: 310 });
});

test("a topic is named where the part of the map that is shown has most of it", () => {
  // 30 documents of topic 0 lie at the left, 20 at the right; those of topic 1 in the middle
  const at = [...Array(30).fill(0.1), ...Array(20).fill(0.8), ...Array(10).fill(0.5)];
  const x = Uint16Array.from(at, (place) => 65535 * place), y = new Uint16Array(60).fill(32768);
  const topics = [...Array(50).fill(0), ...Array(10).fill(1)];
  const near = (found, place) => assert.ok(Math.abs(found[0] - place) < 1e-3, `${found}`);
  const [whole] = densestPlaces(x, y, topics, 2, () => true);
  assert.equal(whole.size, 50);
  near(whole.places[0], 0.1);
  const [part, other] = densestPlaces(x, y, topics, 2, () => true, { left: 0.6, bottom: 0.2, right: 1, top: 0.7 });
  assert.equal(part.size, 20);
  near(part.places[0], 0.8);
  assert.equal(other, null);
});

test("the nearest document is found as by looking at all", () => {
  const next = dice(3), n = 2000;
  const x = Uint16Array.from({ length: n }, () => 65535 * next()), y = Uint16Array.from({ length: n }, () => 65535 * next());
  const grid = new PointGrid(x, y);
  for (let round = 0; round < 50; round++) {
    const [toX, toY] = [next(), next()];
    const far = (row) => Math.hypot((x[row] / 65535 - toX) / 0.1, (y[row] / 65535 - toY) / 0.1);
    let best = -1;
    for (let row = 0; row < n; row += 2) if (far(row) < (best < 0 ? 1 : far(best))) best = row;
    assert.equal(grid.nearest(toX, toY, 0.1, 0.1, (row) => row % 2 === 0), best);
  }
});

test("filters are bits: a panel can leave out its own", () => {
  const selection = new Selection(6);
  selection.filter("topics", (row) => row < 4);
  selection.filter("period", (row) => row % 2 === 0);
  assert.deepEqual([...selection.rows()], [0, 2]);
  assert.deepEqual([...selection.rows(BITS.period)], [0, 1, 2, 3]);
  assert.deepEqual([...countCodes([0, 1, 0, 1, 0, 1], 2, selection, BITS.topics)], [3, 0]);
  selection.filter("topics", null);
  selection.filter("period", null);
  assert.equal(selection.size(), 6);
  assert.equal(selection.active, 0);
});

test("a line around documents keeps its inside when corners are left out", () => {
  const circle = Array.from({ length: 400 }, (_, at) => [0.5 + 0.3 * Math.cos(at / 63.66), 0.5 + 0.3 * Math.sin(at / 63.66)]);
  const fewer = simplified(circle, 0.002);
  assert.ok(fewer.length < 60);
  const next = dice(5);
  for (let round = 0; round < 500; round++) {
    const point = [next(), next()], radius = Math.hypot(point[0] - 0.5, point[1] - 0.5);
    if (Math.abs(radius - 0.3) > 0.006) assert.equal(isInside(fewer, ...point), radius < 0.3);
  }
});

test("topics keep their numbers however the tree is cut", () => {
  const splits = [[0, 1], [0, 2], [1, 3]];
  assert.deepEqual(treeOrder(splits, 4), [0, 2, 1, 3]);
  assert.equal(ancestor(splits, 3, 2), 1);
  assert.equal(ancestor(splits, 2, 1), 0);
  assert.deepEqual(nestedTree(splits, 3).children.map((child) => child.topics), [[0, 2], [1]]);
});

test("merged topics have the documents and the words of all", () => {
  const topic = (number, size, words) => ({ number, size, words, name: `t${number}`, share: size / 10, coverage: 1, coherence: 0.5 });
  const topics = [topic(0, 6, [["gold", 3], ["coin", 1]]), topic(1, 2, [["silver", 8], ["coin", 2]]), topic(2, 2, [["army", 1], ["navy", 1]])];
  const steps = [{ kind: "merge", topics: [0, 1] }, { kind: "rename", topics: [0], name: "money" }, { kind: "merge", topics: [2, 0] }, { kind: "rename", topics: [9], name: "nothing" }];
  const { topics: found, moved } = applyEdits(topics, steps);
  assert.deepEqual(found.map(({ number, size }) => [number, size]), [[2, 10]]);
  assert.deepEqual([...moved].sort(), [[0, 2], [1, 2]]);
  assert.equal(nameFault("money", 0, [{ number: 1, name: "money" }])?.startsWith("Another topic"), true);
  for (const name of ["", " ", "a\nb", "a\u00a0b", "\u202eabc", "x".repeat(201)]) assert.notEqual(nameFault(name, 0, []), null, JSON.stringify(name));
  assert.equal(nameFault("law & order, ünïcode 😀", 0, []), null);
  assert.deepEqual(readSteps([{ kind: "merge", topics: [1, 1] }, { kind: "rename", topics: [1], name: 3 }, null, { kind: "split", topics: [1] }]), []);
});

test("periods are as long as the span suggests, and every day has one", () => {
  for (const [first, last, name] of [["1999-01-01", "1999-03-01", "day"], ["1790-01-08", "2026-01-01", "year"], ["0012-05-05", "2020-01-01", "decade"], ["2000-01-01", "2000-01-01", "day"]]) {
    const [from, to] = [dayFromIso(first), dayFromIso(last)];
    const periods = periodsBetween(from, to);
    assert.equal(periods.name, name);
    for (let day = from; day <= to; day += Math.max(1, Math.floor((to - from) / 500))) {
      const place = periods.place(day);
      assert.ok(place >= 0 && place < periods.n && periods.starts[place] <= day && day < periods.starts[place + 1], isoDay(day));
    }
    assert.ok(periodName(periods, 0).length > 2);
    assert.ok(axisMarks(from, to, 8).length <= 9);
  }
});

test("fewer points where frames come late, all of them where they do not", () => {
  const pace = new FramePace(200_000);
  pace.took(140);
  assert.equal(pace.next(0), 0.1);
  for (let frame = 1; frame < 10; frame++) pace.next(100 * frame);
  assert.equal(pace.part, 0.06);
  for (let frame = 1; frame < 60; frame++) pace.next(900 + 16 * frame);
  assert.equal(pace.part, 1);
  assert.equal(new FramePace(500).least, 1);
});

test("colours can be shown, and numbers and texts read as people write them", () => {
  for (let hue = 0; hue < 360; hue += 7) assert.ok(fromOklch(0.74, 0.125, hue).every((one) => Number.isInteger(one) && one >= 0 && one <= 255));
  assert.deepEqual([share(0.1449), share(0.0321), share(0.0004), share(0), share(NaN)], ["14%", "3.2%", "<0.1%", "0%", "–"]);
  assert.equal(shortened("one two  three\nfour five", 16), "one two three…");
  assert.equal(shortened("short", 12), "short");
});
