// Points without WebGL: small discs written straight into the picture, one pixel at a time.

export class CanvasPoints {
  /** @param {HTMLCanvasElement} canvas @param {Uint16Array} x @param {Uint16Array} y */
  constructor(canvas, x, y) {
    Object.assign(this, { canvas, x, y, n: x.length, pen: canvas.getContext("2d") });
  }

  place(x, y) {
    Object.assign(this, { x, y });
  }

  whenDrawn(then) {
    then(this.took);
  }

  paint(colours, order, nChosen) {
    Object.assign(this, { colours, order, nBelow: order.length - nChosen });
  }

  draw(camera, ratio, sizes, part = 1) {
    const began = performance.now();
    const { canvas, pen, x, y, order, colours } = this;
    const width = Math.round(camera.width * ratio), height = Math.round(camera.height * ratio);
    if (canvas.width !== width || canvas.height !== height || !this.image) {
      Object.assign(canvas, { width, height });
      this.image = pen.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    const { pixels } = this, tints = new Uint32Array(colours.buffer, colours.byteOffset, this.n);
    pixels.fill(0);
    const [left, top] = camera.toScreen(0, 1), [right, bottom] = camera.toScreen(1, 0);
    const scaleX = ((right - left) * ratio) / 65535, scaleY = ((bottom - top) * ratio) / 65535;
    const big = disc(Math.max(Math.round(sizes.chosen * ratio), 1)), small = disc(Math.max(Math.round(sizes.dim * ratio), 1));
    const { nBelow } = this, belowEnd = Math.ceil(part * nBelow), end = nBelow + Math.ceil(part * (order.length - nBelow));
    for (let at = 0; at < end; at++) {
      if (at === belowEnd) at = nBelow;
      if (at >= end) break;
      const row = order[at], tint = tints[row];
      const centreX = Math.round(left * ratio + x[row] * scaleX), centreY = Math.round(bottom * ratio - y[row] * scaleY);
      if (centreX < -9 || centreY < -9 || centreX > width + 9 || centreY > height + 9) continue;
      const shape = colours[4 * row + 3] < 77 ? small : big;
      for (let part = 0; part < shape.length; part += 2) {
        const pixelX = centreX + shape[part], pixelY = centreY + shape[part + 1];
        if (pixelX >= 0 && pixelX < width && pixelY >= 0 && pixelY < height) pixels[pixelY * width + pixelX] = tint;
      }
    }
    pen.putImageData(this.image, 0, 0);
    this.took = performance.now() - began;
  }
}

const discs = new Map();

/** The pixels of a disc, as pairs of steps from its middle. */
function disc(size) {
  if (!discs.has(size)) {
    const found = [], half = size / 2;
    for (let dy = -Math.floor(half); dy < half; dy++) {
      for (let dx = -Math.floor(half); dx < half; dx++) {
        const odd = size % 2 ? 0 : 0.5;
        if (size < 3 || Math.hypot(dx + odd, dy + odd) <= half) found.push(dx, dy);
      }
    }
    discs.set(size, Int8Array.from(found));
  }
  return discs.get(size);
}
