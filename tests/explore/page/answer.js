// Answers questions about a folder of parts, so that Python can compare:  node answer.js FOLDER < questions.json
// A question is {call, arguments}; texts.json in the folder, if there is one, holds the texts that search reads.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { openFinder } from "../../../src/kate/explore/page/corpus_finder.js";
import { folderParts } from "./folder_parts.js";

const folder = process.argv[2];
const whole = join(folder, "texts.json");
const texts = existsSync(whole) ? JSON.parse(readFileSync(whole, "utf8")) : null;
const finder = await openFinder(folderParts(folder), {
  textOf: texts === null ? null : async (document) => texts[document],
});

const calls = {
  encode: (text) => Array.from(finder.encode(text) ?? []),
  count: (text) => finder.count(text),
  modelWords: (text) => finder.tokenizer.modelTokens(text).flatMap(({ words }) => words.map(({ stem }) => stem)),
  searchWords: (text) => finder.tokenizer.searchTokens(text).flatMap(({ words }) => words.map(({ stem }) => stem)),
  vector: (document) => Array.from(finder.vectors.of(document)),
  similarDocuments: (document, top) => finder.similarDocuments(document, top),
  search: async (query, options) => {
    try {
      const found = await finder.search(query, options);
      return { ...found, suggestions: Object.fromEntries(found.suggestions) };
    } catch (error) {
      return { error: error.message };
    }
  },
};

const answers = [];
for (const { call, arguments: given } of JSON.parse(readFileSync(0, "utf8"))) answers.push(await calls[call](...given));
process.stdout.write(JSON.stringify(answers));
