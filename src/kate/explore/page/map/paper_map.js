// The map on paper: a page that is printed does not show what WebGL drew, and has another width than the screen.

import { element } from "../elements.js";
import { CanvasPoints } from "./canvas_points.js";
import { pointSizes } from "./point_paint.js";

const SIZE = { width: 660, height: 440 }; // as styles/small.css has it
const EDGE = 12;
const CHOSEN = 77; // points that are more opaque than this are those that are chosen
const SHARPNESS = 3; // pixels of the picture to one of the page

export class PaperMap {
  /** @param {import("./corpus_map.js").CorpusMap} map */
  constructor(map) {
    this.map = map;
  }

  /** Draw all points into a picture that can be printed, and put the names where they belong in it. */
  begin() {
    const { map } = this, { camera, labels } = map;
    if (map.onPaper || !map.scene) return;
    map.onPaper = true;
    camera.resize(SIZE.width, SIZE.height, { left: EDGE, right: EDGE, top: EDGE, bottom: EDGE });
    this.picture = element("canvas", { class: "paper" });
    map.pointsCanvas.before(this.picture);
    const points = new CanvasPoints(this.picture, map.x, map.y);
    const { colours, order, nChosen } = map.painted;
    points.paint(inked(colours), order, nChosen);
    map.sizes = pointSizes(camera, map.x.length, nChosen);
    points.draw(camera, SHARPNESS, map.sizes);
    labels.settle(camera);
    labels.place(camera);
    labels.fix(true);
    map.overlay.width = 0; // what is cleared while it is printed would clear the picture below it, too
    map.drawOverlay();
  }

  /** Back to the screen. */
  end() {
    const { map } = this;
    if (!map.onPaper) return;
    map.onPaper = false;
    this.picture.remove();
    map.labels.fix(false);
    map.resize();
  }
}

/** Colours as paper needs them: on it points do not add up where many lie on one another. */
function inked(colours) {
  const found = colours.slice();
  for (let alpha = 3; alpha < found.length; alpha += 4) if (found[alpha] >= CHOSEN) found[alpha] = 255;
  return found;
}
