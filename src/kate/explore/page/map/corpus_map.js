// The map: every document a point, names where topics are densest, pan, zoom and lasso. What happens on it is told to
// `heard`; what it shows comes from `show`.

import { element } from "../elements.js";
import { Camera } from "./camera.js";
import { CanvasPoints } from "./canvas_points.js";
import { GlPoints } from "./gl_points.js";
import { FramePace } from "./frame_pace.js";
import { MapGestures } from "./gestures.js";
import { MapLabels } from "./map_labels.js";
import { PointGrid } from "./point_grid.js";
import { paintPoints, pointSizes } from "./point_paint.js";

const REACH = 12; // pixels from the pointer to a document
const RINGED = 5; // of the best hits
const REST = 140; // milliseconds without a movement

/**
 * @typedef {Object} Scene
 * @property {ArrayLike<number>} topics of the documents
 * @property {Map<number, number[]>} colours of the topics
 * @property {{number: number, name: string}[]} names
 * @property {import("../selection.js").Selection} selection
 * @property {?number} lit the topic that is pointed at
 * @property {ArrayLike<number>} hits documents that a search found, the best first
 * @property {?number} current the document that is read
 * @property {?number[][]} lasso
 * @property {boolean} dark
 */

export class CorpusMap {
  /** @param {HTMLElement} frame @param {{x: Uint16Array, y: Uint16Array}} positions @param {Object} heard */
  constructor(frame, positions, heard) {
    Object.assign(this, { frame, x: positions.x, y: positions.y, heard, scene: null, hovered: -1, bound: null, moves: 0, onPaper: false });
    this.camera = new Camera();
    this.pace = new FramePace(this.x.length);
    this.grid = new PointGrid(this.x, this.y);
    this.pointsCanvas = element("canvas", { class: "points", "aria-hidden": "true" });
    this.overlay = element("canvas", { class: "overlay", "aria-hidden": "true" });
    this.labels = new MapLabels(heard);
    frame.append(this.pointsCanvas, this.overlay, this.labels.layer);
    this.points = this.makePoints();
    this.gestures = new MapGestures(this);
    new ResizeObserver(() => this.resize()).observe(frame);
    this.resize();
  }

  makePoints() {
    const plain = new URLSearchParams(location.search).has("canvas");
    try {
      if (plain) throw new Error("asked for");
      const points = new GlPoints(this.pointsCanvas, this.x, this.y);
      // a lost context is drawn without WebGL from then on
      this.pointsCanvas.addEventListener("webglcontextlost", () => this.useCanvas());
      this.frame.dataset.drawing = "WebGL";
      return points;
    } catch {
      this.frame.dataset.drawing = "Canvas";
      return new CanvasPoints(this.freshCanvas(), this.x, this.y);
    }
  }

  /** Take over where documents stand that came in later (served_corpus.js). */
  follow({ moves = 0 }) {
    if (moves === this.moves) return;
    this.moves = moves;
    this.grid = new PointGrid(this.x, this.y);
    this.points.place(this.x, this.y);
  }

  freshCanvas() {
    const fresh = element("canvas", { class: "points", "aria-hidden": "true" });
    this.pointsCanvas.replaceWith(fresh);
    this.pointsCanvas = fresh;
    return fresh;
  }

  useCanvas() {
    this.frame.dataset.drawing = "Canvas";
    this.points = new CanvasPoints(this.freshCanvas(), this.x, this.y);
    if (this.scene) this.show(this.scene);
  }

  resize() {
    if (this.onPaper) return;
    const { width, height } = this.frame.getBoundingClientRect();
    const narrow = width < 600;
    const edge = narrow ? 6 : 20;
    this.camera.resize(width, height, { left: edge, right: edge, top: narrow ? 34 : 44, bottom: narrow ? 40 : edge });
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.taken = null;
    this.ask();
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scene = scene;
    this.painted = paintPoints(scene, this.x.length);
    const { colours, order, nChosen } = this.painted;
    this.points.paint(colours, order, nChosen);
    this.labels.show(scene, this.x, this.y);
    this.taken = null;
    this.ask();
  }

  /** Draw once before the screen is shown the next time. Rings and lines lie above the points, and may change alone. */
  ask({ moving = false, above = false } = {}) {
    if (moving && !this.moving) {
      this.moving = true;
      this.frame.classList.add("moving");
    }
    this.stale ||= !above;
    this.asked ??= requestAnimationFrame((now) => {
      this.asked = null;
      this.draw(now);
    });
  }

  draw(now) {
    if (!this.scene || this.camera.width < 2 || this.onPaper) return;
    if (this.stale) this.drawPoints(now);
    this.stale = false;
    this.drawOverlay();
  }

  drawPoints(now) {
    const part = this.moving ? this.pace.next(now) : 1;
    this.sizes = pointSizes(this.camera, this.x.length, this.painted.nChosen);
    this.points.draw(this.camera, this.ratio, this.sizes, part);
    if (!this.moving) this.points.whenDrawn((milliseconds) => !this.moving && this.pace.took(milliseconds));
    this.taken ??= this.covered();
    if (!this.moving) this.labels.settle(this.camera);
    this.labels.place(this.camera, this.taken);
    clearTimeout(this.resting);
    if (this.moving) this.resting = setTimeout(() => this.rest(), REST);
  }

  /** Show all points again once nothing moves; a frame that is still to be drawn says that something does. */
  rest() {
    if (this.asked) {
      this.resting = setTimeout(() => this.rest(), REST);
      return;
    }
    this.moving = false;
    this.frame.classList.remove("moving");
    this.pace.rest();
    this.ask();
  }

  /** Boxes of the map that other things lie on. */
  covered() {
    const { left, top } = this.frame.getBoundingClientRect();
    return [...this.frame.parentElement.querySelectorAll(".map-tools, .chips > *")].map((one) => {
      const box = one.getBoundingClientRect();
      return { left: box.left - left, top: box.top - top, right: box.right - left, bottom: box.bottom - top };
    });
  }

  drawOverlay() {
    const { overlay, camera, ratio, scene } = this;
    const hits = scene.hits.slice(0, RINGED).filter((row) => scene.selection.holds(row));
    const read = [[scene.current ?? -1, 2.5], [this.hovered, 1.5]].filter(([row]) => row >= 0);
    const line = this.gestures.line ?? scene.lasso, cross = this.gestures.keyboard;
    // a picture that stays empty need not be shown anew with every frame
    const empty = !hits.length && !read.length && !line && !cross;
    if (empty && this.emptyAbove) return;
    this.emptyAbove = empty;
    const width = Math.round(camera.width * ratio), height = Math.round(camera.height * ratio);
    const pen = overlay.getContext("2d"), fresh = overlay.width !== width || overlay.height !== height;
    if (fresh) Object.assign(overlay, { width, height });
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!fresh) pen.clearRect(0, 0, camera.width, camera.height);
    const ink = scene.dark ? "#fff" : "#15191e", paper = scene.dark ? "#101418" : "#fff";
    const size = this.sizes.chosen;
    const ring = (row, radius, colour, thick) => {
      const [x, y] = this.screenOf(row);
      pen.beginPath();
      pen.arc(x, y, radius, 0, 2 * Math.PI);
      Object.assign(pen, { lineWidth: thick, strokeStyle: colour });
      pen.stroke();
    };
    for (const row of hits) ring(row, size / 2 + 3, ink, 1.2);
    for (const [row, thick] of read) {
      ring(row, size / 2 + 5, paper, thick + 2.5);
      ring(row, size / 2 + 5, ink, thick);
    }
    if (line) drawLasso(pen, line.map(([x, y]) => camera.toScreen(x, y)), ink);
    if (cross) drawCross(pen, camera.middle, ink);
  }

  screenOf(row) {
    return this.camera.toScreen(this.x[row] / 65535, this.y[row] / 65535);
  }

  /** The document at a place of the screen, -1 for none; chosen ones alone where some are chosen. */
  documentAt(screenX, screenY, reach = REACH) {
    const [x, y] = this.camera.toMap(screenX, screenY), [spanX, spanY] = this.camera.spans;
    const { selection } = this.scene;
    return this.grid.nearest(x, y, reach / spanX, reach / spanY, (row) => selection.holds(row));
  }

  hover(row, screenX, screenY) {
    if (row !== this.hovered) {
      this.hovered = row;
      this.ask({ above: true });
    }
    this.heard.hover(row, screenX, screenY);
  }

  /** Corners of what the screen shows. */
  corners() {
    const [left, top] = this.camera.toMap(0, 0), [right, bottom] = this.camera.toMap(this.camera.width, this.camera.height);
    return [[left, top], [right, top], [right, bottom], [left, bottom]];
  }

  /** Move the camera, smoothly unless the reader asked for little motion. */
  fly(place, told = true) {
    const from = this.camera.place, to = place ?? { x: 0.5, y: 0.5, zoom: 1 };
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const began = performance.now(), lasts = still ? 0 : 350;
    cancelAnimationFrame(this.flying ?? 0);
    this.bound = to;
    const step = (now) => {
      const part = lasts ? Math.min(Math.max((now - began) / lasts, 0), 1) : 1, eased = 1 - (1 - part) ** 3;
      const zoom = from.zoom * (to.zoom / from.zoom) ** eased;
      // places move as fast as the zoom shows them moving
      const way = from.zoom === to.zoom ? eased : (1 / from.zoom - 1 / zoom) / (1 / from.zoom - 1 / to.zoom);
      this.camera.move({ x: from.x + (to.x - from.x) * way, y: from.y + (to.y - from.y) * way, zoom });
      this.ask({ moving: true });
      if (part < 1) {
        this.flying = requestAnimationFrame(step);
        return;
      }
      this.bound = null;
      if (told) this.moved();
    };
    if (lasts) this.flying = requestAnimationFrame(step);
    else step(began);
  }

  /** End a flight: where it is, as a hand on the map wants it, or where it was bound for. */
  endFlight(place = this.camera.place) {
    if (!this.bound) return;
    cancelAnimationFrame(this.flying ?? 0);
    this.bound = null;
    this.camera.move(place);
    this.moved();
  }

  /** Tell where the camera came to rest. */
  moved() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.heard.camera(this.camera.kept), 150);
  }

  /** The place that shows some documents. */
  placeOf(rows) {
    if (!rows.length) return null;
    const sortedX = Float64Array.from(rows, (row) => this.x[row]).sort(), sortedY = Float64Array.from(rows, (row) => this.y[row]).sort();
    const at = (values, part) => values[Math.min(Math.floor(part * values.length), values.length - 1)] / 65535;
    return Camera.around(at(sortedX, 0.04), at(sortedY, 0.04), at(sortedX, 0.96), at(sortedY, 0.96));
  }
}

function drawLasso(pen, corners, ink) {
  pen.beginPath();
  corners.forEach(([x, y], at) => (at ? pen.lineTo(x, y) : pen.moveTo(x, y)));
  pen.closePath();
  Object.assign(pen, { fillStyle: ink, globalAlpha: 0.06 });
  pen.fill();
  Object.assign(pen, { globalAlpha: 1, lineWidth: 1.5, strokeStyle: ink });
  pen.setLineDash([5, 4]);
  pen.stroke();
  pen.setLineDash([]);
}

function drawCross(pen, [x, y], ink) {
  pen.beginPath();
  for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    pen.moveTo(x + 5 * dx, y + 5 * dy);
    pen.lineTo(x + 13 * dx, y + 13 * dy);
  }
  Object.assign(pen, { lineWidth: 1.5, strokeStyle: ink });
  pen.stroke();
}
