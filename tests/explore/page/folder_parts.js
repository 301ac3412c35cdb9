// The parts of a page as files of a folder, uncompressed: what tests read instead of an HTML file.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export function folderParts(folder) {
  const text = async (name) => readFileSync(join(folder, name), "utf8");
  return {
    has: (name) => existsSync(join(folder, name)),
    bytes: async (name) => new Uint8Array(readFileSync(join(folder, name))),
    text,
    json: async (name) => JSON.parse(await text(name)),
  };
}
