// How the page is used, in one sheet; and what is known about the page itself.

import { element } from "../elements.js";
import { documents } from "../wording.js";

const KEYS = [
  ["/", "search"], ["Esc", "close, or show everything again"], ["?", "this sheet"],
  ["j  k", "next and previous document"], ["[  ]", "fewer and more topics"],
  ["+  −  0", "zoom in, out, show the whole map"], ["← ↑ ↓ →", "move the map, when it has the focus; Enter opens the document in the middle"],
  ["l", "draw around documents (or drag with Shift)"], ["v", "choose what the screen shows of the map"],
  ["r", "rename the topic"], ["u", "undo a change of topics"], ["t", "light or dark"], ["1 … 5", "topics, documents, time, groups, words"],
];

/** @param {Object} manifest */
export function helpSheet(manifest) {
  const close = element("button", { type: "button", class: "primary", on: { click: () => sheet.close() } }, "Close");
  const about = [
    `${documents(manifest.n_documents)}${manifest.sample ? `, a sample of ${documents(manifest.sample.total)}` : ""}.`,
    `Laid out by ${manifest.layout}: documents that lie together use the same words; how far groups lie apart says little.`,
    ...(manifest.notes ?? []),
    "The address of the page holds what you look at: send it with the file, and others see the same.",
    `Made with Kate ${manifest.made}. ${manifest.served ? "Searches are answered by the service that gave this page, and so are texts." : "Nothing leaves this page."}`,
  ];
  const sheet = element("dialog", { class: "help", "aria-label": "Help" },
    element("h2", {}, "How to explore"),
    element("ul", { class: "ways" },
      element("li", {}, "Every point is a document, its colour the topic. Point at one to see it, click to read it."),
      element("li", {}, "Click a topic to see it alone, on the map, in time and in the list; with Shift several."),
      element("li", {}, "The slider cuts the tree of topics into as many as you like."),
      element("li", {}, "Drag over time to choose a period; click a group to choose its documents."),
      element("li", {}, "Search for words or a sentence: documents that mean the same are found as well. “Quotes” keep words together, a minus leaves a word out."),
    ),
    element("h3", {}, "Keys"),
    element("dl", { class: "keys" }, KEYS.flatMap(([keys, what]) => [
      element("dt", {}, keys.split("  ").map((key) => [element("kbd", {}, key), " "])), element("dd", {}, what),
    ])),
    element("h3", {}, "About this page"),
    about.map((sentence) => element("p", {}, sentence)),
    close,
  );
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  return sheet;
}
