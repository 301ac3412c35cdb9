// The names of topics on the map: buttons that choose their topic.

import { element } from "../elements.js";
import { css } from "../topic_colours.js";
import { densestPlaces, placeLabels } from "./label_places.js";

const SMALLEST = 11, LARGEST = 17;
const FEW = 30, LIFT = 9; // documents; pixels
const LEAST_PART = 0.03; // of the chosen documents: a topic that has less of them is not named

export class MapLabels {
  constructor(heard) {
    this.heard = heard;
    this.layer = element("div", { class: "labels" });
    this.labels = [];
  }

  /** @param {import("./corpus_map.js").Scene} scene */
  show(scene, x, y) {
    const { names, topics, selection } = scene;
    const key = JSON.stringify([names, scene.dark]);
    if (key !== this.key) {
      this.key = key;
      this.make(scene);
    }
    // names stand where the chosen documents are; while a topic is only pointed at, they stay
    const n = Math.max(-1, ...names.map((topic) => topic.number)) + 1;
    const places = densestPlaces(x, y, topics, n, (row) => selection.holds(row));
    const chosen = places.reduce((sum, place) => sum + (place?.size ?? 0), 0);
    for (const label of this.labels) {
      const place = places[label.number];
      label.place = place && (!selection.active || place.size >= LEAST_PART * chosen) ? place : null;
      label.button.classList.toggle("dim", scene.lit !== null && scene.lit !== label.number);
    }
    this.labels.sort((one, other) => (other.place?.size ?? 0) - (one.place?.size ?? 0));
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
    const shown = this.labels.filter((label) => label.place);
    // a page that was hidden when the names were made has not measured them yet
    for (const label of shown) if (!label.width) [label.width, label.height] = [label.button.offsetWidth, label.button.offsetHeight];
    const wanted = shown.map((label) => {
      const [x, y] = camera.toScreen(label.place.x, label.place.y);
      // few documents must not lie under their name: it stands above them
      const lift = label.place.size < FEW ? label.height / 2 + LIFT : 0;
      return { x, y: y - lift, width: label.width, height: label.height };
    });
    const boxes = placeLabels(wanted, screen, taken);
    for (const label of this.labels) if (!label.place) label.button.classList.remove("shown");
    shown.forEach((label, at) => {
      const box = boxes[at];
      label.button.classList.toggle("shown", box !== null);
      if (box) label.button.style.transform = `translate(${box.left.toFixed(1)}px, ${box.top.toFixed(1)}px)`;
    });
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
