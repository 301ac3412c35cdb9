// Run in an open page by explore.py: how many frames a second while something moves, and how long a change takes.
// The last argument is what takes the answer.
const [what, given] = arguments, done = arguments[arguments.length - 1];
const SECONDS = 4;

function count(move, end = () => {}) {
  const began = performance.now(), times = [];
  const step = (now) => {
    times.push(now);
    const part = (now - began) / (1000 * SECONDS);
    if (part < 1) {
      move(part);
      requestAnimationFrame(step);
      return;
    }
    end();
    const gaps = times.slice(1).map((time, at) => time - times[at]).sort((one, other) => one - other);
    done({ frames: times.length, rate: times.length / ((times.at(-1) - times[0]) / 1000), slow: gaps[Math.floor(0.95 * gaps.length)] });
  };
  requestAnimationFrame(step);
}

function movement(name) {
  if (name === "nothing") return count(() => {});
  const map = document.querySelector(".map"), box = map.getBoundingClientRect();
  const at = (x, y) => ({ bubbles: true, pointerId: 1, button: 0, clientX: box.left + x * box.width, clientY: box.top + y * box.height });
  const pointer = (kind, x, y) => map.dispatchEvent(new PointerEvent(`pointer${kind}`, at(x, y)));
  const wave = (part) => [0.5 + 0.2 * Math.sin(9 * part), 0.5 + 0.2 * Math.cos(9 * part)];
  if (name === "point") return count((part) => pointer("move", 0.2 + 0.6 * part, 0.5));
  if (name === "zoom") {
    const turn = (part) => ({ ...at(0.4, 0.5), deltaY: Math.sin(9 * part) < 0 ? 60 : -60, cancelable: true });
    return count((part) => map.dispatchEvent(new WheelEvent("wheel", turn(part))));
  }
  pointer("down", 0.5, 0.7);
  return count((part) => pointer("move", ...wave(part)), () => pointer("up", 0.5, 0.5));
}

/** Milliseconds from a new address to the second frame after it: all panels have been drawn anew. */
function change(address) {
  const began = performance.now();
  const twice = () => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)));
  addEventListener("hashchange", twice, { once: true });
  location.hash = address;
}

({ movement, change })[what](given);
