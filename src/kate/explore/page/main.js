// Where the page begins: read what it holds, draw it, and say so if that cannot be done.

import { App } from "./app.js";
import { Corpus } from "./corpus.js";
import { element, fill } from "./elements.js";
import { askForToken } from "./panels/token_form.js";
import { openManifest, openParts } from "./parts.js";
import { ServedCorpus } from "./served_corpus.js";
import { TokenNeeded } from "./service.js";

/** Tell whoever measures or tests the page how far it is. */
function ready(root, what) {
  root.dataset.ready = what;
  performance.mark(`kate-${what}`);
}

async function start(tries = 0) {
  const root = document.getElementById("explorer");
  try {
    const manifest = await openManifest((message) => fill(root, element("p", { class: "broken", role: "status" }, message)));
    document.title = manifest.title;
    const corpus = await (manifest.served ? ServedCorpus : Corpus).open(manifest, openParts(manifest));
    const app = new App(corpus, root);
    ready(root, "map");
    await app.openAnswers();
    ready(root, "words");
  } catch (error) {
    if (error instanceof TokenNeeded) return askForToken(root, tries > 0, () => start(tries + 1));
    fill(root, element("div", { class: "broken", role: "alert" },
      element("h1", {}, "This page cannot be shown"), element("p", {}, error.message)));
    throw error;
  }
}

start();
