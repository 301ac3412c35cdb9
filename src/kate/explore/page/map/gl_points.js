// Points by WebGL 2: one draw call. Positions stay as they came (16 bits); colours are one buffer that changes with the view.

const VERTEX = `#version 300 es
in float x; in float y; in vec4 colour;
uniform vec2 scale; uniform vec2 offset; uniform float size; uniform float small;
out vec4 tint; out float width;
void main() {
  gl_Position = vec4(vec2(x, y) * scale + offset, 0.0, 1.0);
  gl_PointSize = colour.a < 0.3 ? small : size;
  width = gl_PointSize;
  tint = vec4(colour.rgb * colour.a, colour.a);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; in float width; out vec4 shown;
void main() {
  if (width < 2.5) { shown = tint; return; }
  float edge = length(gl_PointCoord - 0.5) * 2.0;
  float inside = 1.0 - smoothstep(1.0 - 2.4 / width, 1.0, edge);
  if (inside <= 0.0) discard;
  shown = tint * inside;
}`;

export class GlPoints {
  /** @param {HTMLCanvasElement} canvas @param {Uint16Array} x @param {Uint16Array} y */
  constructor(canvas, x, y) {
    const gl = canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true, preserveDrawingBuffer: false });
    if (!gl) throw new Error("no WebGL 2");
    Object.assign(this, { gl, canvas, n: x.length });
    this.program = linked(gl);
    this.places = Object.fromEntries(["scale", "offset", "size", "small"].map((name) => [name, gl.getUniformLocation(this.program, name)]));
    gl.bindVertexArray(gl.createVertexArray());
    this.x = this.attribute("x", x, 1, gl.UNSIGNED_SHORT);
    this.y = this.attribute("y", y, 1, gl.UNSIGNED_SHORT);
    this.colours = this.attribute("colour", new Uint8Array(4 * this.n), 4, gl.UNSIGNED_BYTE);
    this.order = gl.createBuffer();
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.order);
    gl.useProgram(this.program);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  attribute(name, values, n, kind) {
    const { gl } = this, place = gl.getAttribLocation(this.program, name), buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, n, kind, true, 0, 0);
    return buffer;
  }

  /** Some documents stand elsewhere. */
  place(x, y) {
    const { gl } = this;
    for (const [buffer, values] of [[this.x, x], [this.y, y]]) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
    }
  }

  /** @param {Uint8Array} colours red, green, blue, alpha of every document @param {Uint32Array} order the last is on top @param {number} nChosen of them, at the end */
  paint(colours, order, nChosen) {
    const { gl } = this;
    this.nBelow = order.length - nChosen;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.colours);
    gl.bufferData(gl.ARRAY_BUFFER, colours, gl.DYNAMIC_DRAW);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, order, gl.DYNAMIC_DRAW);
  }

  /** @param {import("./camera.js").Camera} camera @param {number} ratio pixels of the device @param {{chosen: number, dim: number}} sizes of points @param {number} part of them */
  draw(camera, ratio, sizes, part = 1) {
    const { gl, canvas, places } = this;
    const width = Math.round(camera.width * ratio), height = Math.round(camera.height * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const [left, top] = camera.toScreen(0, 1), [right, bottom] = camera.toScreen(1, 0);
    gl.uniform2f(places.scale, (2 * (right - left)) / camera.width, (2 * (bottom - top)) / camera.height);
    gl.uniform2f(places.offset, (2 * left) / camera.width - 1, 1 - (2 * bottom) / camera.height);
    gl.uniform1f(places.size, Math.max(sizes.chosen * ratio, 1));
    gl.uniform1f(places.small, Math.max(sizes.dim * ratio, 1));
    const { nBelow, n } = this;
    gl.drawElements(gl.POINTS, Math.ceil(part * nBelow), gl.UNSIGNED_INT, 0);
    gl.drawElements(gl.POINTS, Math.ceil(part * (n - nBelow)), gl.UNSIGNED_INT, 4 * nBelow);
  }

  /** Call `then` with the milliseconds that what was asked for last has taken, once it is drawn; nothing waits for it. */
  whenDrawn(then) {
    const { gl } = this, began = performance.now(), fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const look = () => {
      if (gl.isContextLost() || !fence) return;
      if (gl.getSyncParameter(fence, gl.SYNC_STATUS) !== gl.SIGNALED) {
        setTimeout(look, 2);
        return;
      }
      gl.deleteSync(fence);
      then(performance.now() - began);
    };
    setTimeout(look);
  }
}

function linked(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error("WebGL does not take the shaders");
  return program;
}
