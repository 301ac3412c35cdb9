// Makes ../bundle of the modules here: one script, one stylesheet, what they contain, and the hashes of their sources.
//
//   node build.js

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build, version } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, "..", "bundle");
const ALLOWED = ["MIT", "ISC", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "0BSD"];

/** The files here that the bundle is made from, and what makes it; packages stand in the lock file. */
function sourceFiles(inputs) {
  return [...inputs.filter((path) => !path.includes("node_modules/")), "build.js", "package-lock.json", "../bundle/STEMMERS-LICENSE.txt"].sort();
}

const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/** The packages of node_modules that went into the bundle, with their licences. */
function bundledPackages(inputs) {
  const names = new Set();
  for (const path of inputs) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
    if (found) names.add(found[1]);
  }
  return [...names].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (!ALLOWED.includes(about.license)) {
      throw new Error(`${name} ${about.version} is under ${about.license}; a bundle may hold ${ALLOWED.join(", ")} only`);
    }
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(join(folder, file), "utf8").trim() : "";
    return { name, version: about.version, license: about.license, text };
  });
}

function licences(packages) {
  const own = "The page of kate explore is part of Kate, under the MIT licence (see LICENSE of the project).";
  const stemmers = readFileSync(join(bundle, "STEMMERS-LICENSE.txt"), "utf8").trim();
  const list = [...packages.map((one) => `- ${one.name} ${one.version} (${one.license})`), "- the stemmers of Snowball (BSD-3-Clause), as Sphinx ships them (BSD-2-Clause)"];
  const texts = packages.map((one) => `\n\n== ${one.name} ${one.version}\n\n${one.text}`).join("");
  return `${own}\nIts script also contains:\n\n${list.join("\n")}\n\nBundled by esbuild ${version} (MIT), which leaves no code of its own behind.${texts}\n\n== stemmers\n\n${stemmers}\n`;
}

/** What everybody who gets a page must be told of the code of others in it: a comment at the head of the script. */
function notice(packages) {
  return `/*! ${licences(packages).replaceAll("*/", "* /")}*/\n`;
}

const result = await build({
  absWorkingDir: here,
  entryPoints: { explorer: "main.js", "explorer-style": "style.css" },
  outdir: bundle,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome100", "firefox113", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  write: false,
  logLevel: "warning",
});

mkdirSync(bundle, { recursive: true });
const outputs = { "explorer.js": null, "explorer.css": null };
for (const file of result.outputFiles) {
  outputs[file.path.endsWith(".css") ? "explorer.css" : "explorer.js"] = file.contents;
}
// a page holds the script inside a <script> element, which nothing in it may close
const script = new TextDecoder().decode(outputs["explorer.js"]).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const packages = bundledPackages(Object.keys(result.metafile.inputs));
outputs["explorer.js"] = new TextEncoder().encode(notice(packages) + script);
for (const [name, bytes] of Object.entries(outputs)) writeFileSync(join(bundle, name), bytes);
writeFileSync(join(bundle, "LICENSES.txt"), licences(packages));
const sources = Object.fromEntries(sourceFiles(Object.keys(result.metafile.inputs)).map((path) => [path, sha256(readFileSync(join(here, path)))]));
const made = Object.fromEntries(Object.entries(outputs).map(([name, bytes]) => [name, sha256(bytes)]));
writeFileSync(join(bundle, "sources.json"), JSON.stringify({ sources, made }, null, 1) + "\n");
for (const [name, bytes] of Object.entries(outputs)) console.log(`${name}  ${(bytes.length / 1024).toFixed(1)} kB`);
