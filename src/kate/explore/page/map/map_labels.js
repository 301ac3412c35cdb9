// The names of topics on the map: buttons that choose their topic.

import { element } from "../elements.js";
import { css } from "../topic_colours.js";
import { densestPlaces, placeLabels } from "./label_places.js";

const SMALLEST = 11, LARGEST = 17;
const FEW = 30, LIFT = 11; // documents; pixels
const LEAST_PART = 0.03; // of the chosen documents that are to be seen: a topic that has less of them is not named
const NEAR = 1.2; // from this zoom on names are those of what the screen shows
const READING = 4; // from this zoom on names cannot be pressed: they would lie in the way of the documents below them

export class MapLabels {
  constructor(heard) {
    this.heard = heard;
    this.layer = element("div", { class: "labels" });
    this.labels = [];
  }

  /** @param {import("./corpus_map.js").Scene} scene */
  show(scene, x, y) {
    const { names } = scene;
    const key = JSON.stringify([names, scene.dark]);
    if (key !== this.key) {
      this.key = key;
      this.make(scene);
    }
    for (const label of this.labels) label.button.classList.toggle("dim", scene.lit !== null && scene.lit !== label.number);
    Object.assign(this, { scene, x, y, settled: null });
  }

  /** Find the places of the names: where the chosen documents are densest, of those that the screen shows. */
  settle(camera) {
    const near = camera.zoom > NEAR, part = near ? camera.shownPart : undefined;
    const key = JSON.stringify(part ?? null);
    if (key === this.settled) return;
    this.settled = key;
    const { names, topics, selection } = this.scene;
    const n = Math.max(-1, ...names.map((topic) => topic.number)) + 1;
    const densest = densestPlaces(this.x, this.y, topics, n, (row) => selection.holds(row), part);
    const least = near || selection.active ? LEAST_PART * densest.reduce((sum, found) => sum + (found?.size ?? 0), 0) : 0;
    for (const label of this.labels) {
      const found = densest[label.number];
      label.found = found && found.size >= least ? found : null;
    }
    this.labels.sort((one, other) => (other.found?.size ?? 0) - (one.found?.size ?? 0));
  }

  make({ names, colours }) {
    const most = Math.max(1, ...names.map((topic) => topic.size));
    this.labels = names.map(({ number, name, size }) => {
      const letters = SMALLEST + (LARGEST - SMALLEST) * Math.sqrt(size / most);
      const button = element("button", {
        type: "button", class: "label", tabindex: "-1", lang: "",
        style: { "font-size": `${letters.toFixed(1)}px`, "--c": css(colours.get(number) ?? [120, 120, 120]) },
        on: {
          click: (event) => this.heard.chooseTopic(number, event.shiftKey || event.ctrlKey || event.metaKey),
          dblclick: () => this.heard.zoomTopic(number),
          pointerenter: () => this.heard.lightTopic(number),
          pointerleave: () => this.heard.lightTopic(null),
        },
      }, shortName(name));
      return { number, button };
    });
    this.layer.replaceChildren(...this.labels.map((label) => label.button));
    for (const label of this.labels) [label.width, label.height] = [label.button.offsetWidth, label.button.offsetHeight];
  }

  /** Put the names where they belong on the screen, as far as there is room. */
  place(camera, taken = []) {
    const screen = { width: camera.width, height: camera.height };
    const shown = this.labels.filter((label) => label.found);
    // a page that was hidden when the names were made has not measured them yet
    for (const label of shown) if (!label.width) [label.width, label.height] = [label.button.offsetWidth, label.button.offsetHeight];
    const wanted = shown.map((label) => {
      // few documents, or a small heap of them, must not lie under their name: it stands above them
      const { size, heaped } = label.found;
      const lift = size < FEW || heaped ? label.height / 2 + LIFT : 0;
      const places = label.found.places.map(([x, y]) => camera.toScreen(x, y)).map(([x, y]) => [x, y - lift]);
      return { places, width: label.width, height: label.height };
    });
    this.layer.classList.toggle("through", camera.zoom > READING);
    const boxes = placeLabels(wanted, screen, taken);
    for (const label of this.labels) if (!label.found) label.button.classList.remove("shown");
    shown.forEach((label, at) => {
      const box = boxes[at];
      label.button.classList.toggle("shown", box !== null);
      if (box) label.button.style.transform = `translate(${box.left.toFixed(1)}px, ${box.top.toFixed(1)}px)`;
    });
  }

  /** Keep the widths that names were measured with, whatever the page becomes. */
  fix(on) {
    for (const { button, width } of this.labels) button.style.width = on ? `${width + 1}px` : "";
  }
}

/** The first words of a long name. */
function shortName(name) {
  if (name.length <= 34) return name;
  const parts = name.split(", ");
  let shown = parts[0];
  for (const part of parts.slice(1)) {
    if (shown.length + part.length > 30) break;
    shown += `, ${part}`;
  }
  return shown.length > 40 ? shown.slice(0, 38) + "…" : shown;
}
