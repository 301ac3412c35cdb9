// Makes ../bundle/stemmers.js: the stemmers that the Snowball compiler wrote in JavaScript, as one ES module.
//
//   node build_stemmers.js WHEEL_FOLDER        (make stemmers downloads the wheel and calls this)
//
// npm has no current ones: its packages stem as Snowball 1 and 2 did, Dutch, English, German, Romanian, Swedish and
// Turkish differently from today. Sphinx ships what Snowball 3.0.1 makes, and WHEEL_FOLDER is its unpacked wheel.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const wheel = process.argv[2];
if (!wheel) throw new Error("usage: node build_stemmers.js WHEEL_FOLDER (of Sphinx; make stemmers does it)");
const bundle = join(dirname(fileURLToPath(import.meta.url)), "..", "bundle");
const minified = join(wheel, "sphinx", "search", "minified-js");
const readable = join(wheel, "sphinx", "search", "non-minified-js");

const [about] = readdirSync(wheel).filter((name) => /^sphinx-.*\.dist-info$/.test(name));
const sphinx = about.replace("sphinx-", "").replace(".dist-info", "");
const languages = readdirSync(minified)
  .map((name) => /^(\w+)-stemmer\.js$/.exec(name)?.[1])
  .filter((name) => name && name !== "base")
  .sort();
const [, snowball] = /by Snowball (\S+)/.exec(readFileSync(join(readable, "english-stemmer.js"), "utf8"));

const read = (language) => readFileSync(join(minified, `${language}-stemmer.js`), "utf8").trim();
const stemmers = languages.map((language) => {
  const code = read(language);
  const [, name] = /^var (\w+)=/.exec(code);
  return `${language}(){${code}${code.endsWith(";") ? "" : ";"}return new ${name}}`;
});
const lines = [
  `// Stemmers made by the Snowball compiler ${snowball} (BSD-3-Clause), as Sphinx ${sphinx} (BSD-2-Clause) ships them.`,
  "// Made by page/build_stemmers.js; do not edit.",
  `var ${read("base").replace(/^var /, "")}`,
  `export const STEMMERS={${stemmers.join(",\n")}};`,
];
writeFileSync(join(bundle, "stemmers.js"), lines.join("\n") + "\n");

const licence = readFileSync(join(wheel, about, "licenses", "LICENSE.rst"), "utf8").trim();
const texts = [
  `Snowball ${snowball} (BSD-3-Clause): the stemmers of ${languages.length} languages`,
  "Copyright (c) 2001, Dr Martin Porter; Copyright (c) 2004, 2005, Richard Boulton; Copyright (c) 2013, Yoshiki",
  "Shibukawa; Copyright (c) 2006-2025, Olly Betts. All rights reserved. The conditions and the disclaimer are those",
  "below; besides, neither the name of the Snowball project nor the names of its contributors may be used to endorse or",
  "promote products derived from this software without specific prior written permission.",
  "",
  `Sphinx ${sphinx} (BSD-2-Clause), which ships them`,
  "",
  licence,
];
writeFileSync(join(bundle, "STEMMERS-LICENSE.txt"), texts.join("\n") + "\n");
console.log(`stemmers.js: ${languages.length} languages, Snowball ${snowball}: ${languages.join(" ")}`);
