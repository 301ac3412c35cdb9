// Which part of the map the screen shows. The map is the square 0 to 1; `zoom` 1 shows all of it.

const MARGIN = 0.93;
const WIDEST = 1.5; // a wide screen stretches the map so far: distances between groups mean little anyway
const HIGHEST = 1.25;
const LEAST_ZOOM = 0.6, MOST_ZOOM = 300;

export class Camera {
  constructor() {
    [this.x, this.y, this.zoom] = [0.5, 0.5, 1];
    this.resize(1, 1, { left: 0, right: 0, top: 0, bottom: 0 });
  }

  /** @param {number} width of the canvas in pixels @param {number} height @param {Object} edges what other things cover of it */
  resize(width, height, edges) {
    Object.assign(this, { width: Math.max(width, 1), height: Math.max(height, 1), edges });
    const free = [Math.max(width - edges.left - edges.right, 60), Math.max(height - edges.top - edges.bottom, 60)];
    this.fitted = [MARGIN * Math.min(free[0], WIDEST * free[1]), MARGIN * Math.min(free[1], HIGHEST * free[0])];
    this.middle = [(width + edges.left - edges.right) / 2, (height + edges.top - edges.bottom) / 2];
  }

  /** Pixels that the whole map takes at this zoom. */
  get spans() {
    return [this.fitted[0] * this.zoom, this.fitted[1] * this.zoom];
  }

  toScreen(x, y) {
    const [spanX, spanY] = this.spans;
    return [this.middle[0] + (x - this.x) * spanX, this.middle[1] - (y - this.y) * spanY];
  }

  toMap(screenX, screenY) {
    const [spanX, spanY] = this.spans;
    return [this.x + (screenX - this.middle[0]) / spanX, this.y - (screenY - this.middle[1]) / spanY];
  }

  /** The part of the map that the screen shows. */
  get shownPart() {
    const inside = (place) => Math.min(Math.max(place, 0), 1);
    const [left, bottom] = this.toMap(0, this.height).map(inside), [right, top] = this.toMap(this.width, 0).map(inside);
    return { left, bottom, right: Math.max(right, left + 1e-4), top: Math.max(top, bottom + 1e-4) };
  }

  /** Zoom by a factor while the place under the pointer stays where it is. */
  zoomAt(factor, screenX, screenY) {
    const before = this.toMap(screenX, screenY);
    this.zoom = Math.min(Math.max(this.zoom * factor, LEAST_ZOOM), MOST_ZOOM);
    const after = this.toMap(screenX, screenY);
    this.x += before[0] - after[0];
    this.y += before[1] - after[1];
    this.keepNear();
  }

  pan(dx, dy) {
    const [spanX, spanY] = this.spans;
    this.x -= dx / spanX;
    this.y += dy / spanY;
    this.keepNear();
  }

  /** The map never leaves the screen. */
  keepNear() {
    this.x = Math.min(Math.max(this.x, -0.1), 1.1);
    this.y = Math.min(Math.max(this.y, -0.1), 1.1);
  }

  get place() {
    return { x: this.x, y: this.y, zoom: this.zoom };
  }

  /** As a view keeps it: null where everything is shown. */
  get kept() {
    const whole = Math.abs(this.x - 0.5) < 1e-3 && Math.abs(this.y - 0.5) < 1e-3 && Math.abs(this.zoom - 1) < 1e-3;
    return whole ? null : this.place;
  }

  move(place) {
    const { x, y, zoom } = place ?? { x: 0.5, y: 0.5, zoom: 1 };
    Object.assign(this, { x, y, zoom: Math.min(Math.max(zoom, LEAST_ZOOM), MOST_ZOOM) });
    this.keepNear();
  }

  /** The place from which a rectangle of the map fills the screen. */
  static around(left, bottom, right, top) {
    const zoom = 0.8 / Math.max(right - left, top - bottom, 0.015);
    return { x: (left + right) / 2, y: (bottom + top) / 2, zoom: Math.max(zoom, 1) };
  }
}
