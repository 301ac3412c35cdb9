// Elements of the page. Text only ever becomes a text node: whatever a document holds, it stays text.

const SVG = "http://www.w3.org/2000/svg";

/**
 * A new element. Properties: `class`, `on` ({event: listener}), `style` ({name: value}), `data` ({name: value}),
 * any attribute by its name (false and null leave it out).
 * @param {string} tag
 * @param {Object} [properties]
 * @param {...(Node|string|number|null|false|Array)} children
 * @returns {HTMLElement}
 */
export function element(tag, properties = {}, ...children) {
  return furnished(document.createElement(tag), properties, children);
}

/** The same for the elements of a drawing. */
export function drawn(tag, properties = {}, ...children) {
  return furnished(document.createElementNS(SVG, tag), properties, children);
}

function furnished(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) made.addEventListener(event, listener);
    else if (name === "style") for (const [key, one] of Object.entries(value)) made.style.setProperty(key, one);
    else if (name === "data") Object.assign(made.dataset, value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...flat(children));
  return made;
}

/** Put children in the place of those that an element has. */
export function fill(parent, ...children) {
  parent.replaceChildren(...flat(children));
  return parent;
}

function flat(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** A small drawing of lines, 16 by 16, that screen readers pass over. */
export function icon(path) {
  return drawn(
    "svg",
    { class: "icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" },
    drawn("path", { d: path }),
  );
}

/** A round button with a drawing and a label that is said and shown on hover. */
export function tool(label, path, act, properties = {}) {
  return element("button", { type: "button", class: "tool", "aria-label": label, title: label, on: { click: act }, ...properties }, icon(path));
}
