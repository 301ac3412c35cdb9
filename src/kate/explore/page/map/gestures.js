// Fingers, mouse and keys on the map.

import { simplified } from "../selection.js";

const STILL = 5; // pixels a click may move

export class MapGestures {
  /** @param {import("./corpus_map.js").CorpusMap} map */
  constructor(map) {
    Object.assign(this, { map, pointers: new Map(), lassoing: false, line: null, keyboard: false, moved: 0 });
    const { frame } = map;
    // names lie above the points: a drag may begin on one, and a click on it is its own
    frame.addEventListener("click", (event) => this.moved > STILL && event.stopPropagation(), true);
    frame.addEventListener("pointerdown", (event) => this.down(event));
    frame.addEventListener("pointermove", (event) => this.move(event));
    frame.addEventListener("pointerup", (event) => this.up(event));
    frame.addEventListener("pointercancel", (event) => this.up(event, true));
    frame.addEventListener("pointerleave", () => !this.pointers.size && map.hover(-1, 0, 0));
    frame.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    frame.addEventListener("dblclick", (event) => this.doubleClick(event));
    frame.addEventListener("keydown", (event) => this.key(event));
    frame.addEventListener("focus", () => this.look(frame.matches(":focus-visible")));
    frame.addEventListener("blur", () => this.look(false));
  }

  at(event) {
    const { left, top } = this.map.frame.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  /** Draw a line around documents with the next drag. */
  arm(lassoing) {
    this.lassoing = lassoing;
    this.map.frame.classList.toggle("lassoing", lassoing);
    this.map.heard.lassoing(lassoing);
  }

  down(event) {
    if (event.button !== 0) return;
    const at = this.at(event);
    this.onName = event.target.closest("button") !== null;
    this.pointers.set(event.pointerId, at);
    this.moved = 0;
    this.look(false);
    this.map.endFlight();
    if (this.pointers.size === 1 && (this.lassoing || event.shiftKey)) this.line = [this.map.camera.toMap(...at)];
    else this.line = null;
    // a pointer that is captured would click the map and not the name
    if (!this.onName) this.capture(event.pointerId);
  }

  capture(pointer) {
    try {
      this.map.frame.setPointerCapture(pointer);
    } catch { /* a pointer that is gone already */ }
  }

  move(event) {
    const at = this.at(event), before = this.pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch" && event.target.closest("button") === null && this.map.scene) this.map.hover(this.map.documentAt(...at), ...at);
      return;
    }
    this.moved += Math.hypot(at[0] - before[0], at[1] - before[1]);
    if (this.onName && this.moved > STILL) {
      this.onName = false;
      this.capture(event.pointerId);
    }
    if (this.line) {
      this.line.push(this.map.camera.toMap(...at));
      this.map.ask({ above: true });
    } else if (this.pointers.size === 2) this.pinch(event.pointerId, before, at);
    else if (this.moved > STILL) {
      this.map.camera.pan(at[0] - before[0], at[1] - before[1]);
      this.map.frame.classList.add("dragging");
      this.map.hover(-1, 0, 0);
      this.map.ask({ moving: true });
    }
    this.pointers.set(event.pointerId, at);
  }

  pinch(pointer, before, at) {
    const other = [...this.pointers].find(([id]) => id !== pointer)[1];
    const distance = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]);
    const { camera } = this.map;
    camera.zoomAt(distance(at) / Math.max(distance(before), 1), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    camera.pan((at[0] - before[0]) / 2, (at[1] - before[1]) / 2);
    this.map.ask({ moving: true });
  }

  up(event, cancelled = false) {
    if (!this.pointers.delete(event.pointerId)) return;
    this.map.frame.classList.remove("dragging");
    if (this.line) this.closeLine(cancelled);
    else if (this.moved <= STILL && !cancelled) {
      if (this.onName) return;
      const row = this.map.documentAt(...this.at(event), event.pointerType === "touch" ? 24 : 12);
      if (row >= 0) this.map.heard.open(row);
      else this.map.heard.nowhere();
    } else this.map.moved();
  }

  closeLine(cancelled) {
    const line = this.line;
    this.line = null;
    if (!cancelled && line.length > 3 && this.moved > 4 * STILL) {
      const tolerance = 2 / Math.max(...this.map.camera.spans);
      this.map.heard.lasso(simplified(line, tolerance));
    }
    this.arm(false);
    this.map.ask();
  }

  wheel(event) {
    event.preventDefault();
    this.map.endFlight();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 300 : 1;
    const factor = Math.exp(-Math.min(Math.max(event.deltaY * lines, -240), 240) * (event.ctrlKey ? 0.01 : 0.0022));
    this.map.camera.zoomAt(factor, ...this.at(event));
    this.map.hover(-1, 0, 0);
    this.map.ask({ moving: true });
    this.map.moved();
  }

  doubleClick(event) {
    if (event.target.closest("button") !== null || this.map.documentAt(...this.at(event), 6) >= 0) return;
    this.zoomBy(2, ...this.at(event));
  }

  zoomBy(factor, x = this.map.camera.middle[0], y = this.map.camera.middle[1]) {
    const { camera } = this.map, before = camera.place;
    camera.move(this.map.bound ?? before); // two steps in quick succession are two steps
    camera.zoomAt(factor, x, y);
    const to = camera.place;
    camera.move(before);
    this.map.fly(to);
  }

  /** Show the cross in the middle, and tell which document it is on. */
  look(on) {
    this.keyboard = on;
    if (on && this.map.scene) this.map.hover(this.map.documentAt(...this.map.camera.middle, 40), ...this.map.camera.middle);
    this.map.ask();
  }

  key(event) {
    if (event.target !== this.map.frame || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = event.shiftKey ? 160 : 40;
    const pans = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (pans[event.key]) {
      this.map.endFlight(this.map.bound);
      this.map.camera.pan(...pans[event.key]);
      this.map.moved();
    } else if (event.key === "Enter" || event.key === " ") {
      const row = this.map.documentAt(...this.map.camera.middle, 40);
      if (row >= 0) this.map.heard.open(row);
    } else return;
    event.preventDefault();
    this.look(true);
  }
}
