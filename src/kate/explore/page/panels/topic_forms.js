// Small forms under a topic: another name, or one topic of two.

import { element } from "../elements.js";
import { nameFault } from "../topic_edits.js";

/** A form with a line for what went wrong. */
function smallForm(fields, submit, text, close) {
  const fault = element("p", { class: "fault", role: "alert" });
  const form = element("form", {
    class: "topic-form",
    on: {
      submit: (event) => {
        event.preventDefault();
        fault.textContent = submit() ?? "";
      },
      keydown: (event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      },
    },
  }, fields, element("div", { class: "acts" },
    element("button", { type: "submit", class: "primary" }, text),
    element("button", { type: "button", class: "quiet", on: { click: close } }, "Cancel"),
  ), fault);
  return form;
}

/** @param {import("../explorer.js").Explorer} explorer */
export function renameForm(explorer, topic, close) {
  const name = element("input", { type: "text", name: "name", value: topic.name, maxlength: 200, autocomplete: "off", "aria-label": "Name of the topic" });
  const submit = () => {
    const fault = nameFault(name.value, topic.number, explorer.cut.topics);
    if (fault) return fault;
    close();
    if (name.value.trim() !== topic.name) addSteps(explorer, { kind: "rename", topics: [topic.number], name: name.value.trim() });
    return null;
  };
  return smallForm([name], submit, "Rename", close);
}

/** @param {import("../explorer.js").Explorer} explorer */
export function mergeForm(explorer, topic, close) {
  const { view, cut } = explorer;
  const others = cut.topics.filter((one) => one.number !== topic.number);
  const together = view.topics.filter((number) => number !== topic.number);
  const option = (one) => element("option", { value: one.number, selected: together.includes(one.number) }, one.name);
  const other = element("select", { name: "other", "aria-label": "The topic to merge with" }, others.map(option));
  const several = together.length > 1;
  const name = element("input", { type: "text", name: "name", maxlength: 200, autocomplete: "off", value: topic.name, "aria-label": "Name of both together" });
  const submit = () => {
    const merged = several ? together : [Number(other.value)];
    const left = cut.topics.filter((one) => !merged.includes(one.number));
    const fault = nameFault(name.value, topic.number, left);
    if (fault) return fault;
    close();
    // a name of its own: what the page shows is what the model will show
    addSteps(explorer, { kind: "merge", topics: [topic.number, ...merged] }, { kind: "rename", topics: [topic.number], name: name.value.trim() });
    explorer.state.change({ topics: [topic.number] }, { remember: false });
    return null;
  };
  const what = several ? element("p", { class: "facts" }, `The ${together.length + 1} chosen topics become one.`) : element("label", {}, "with ", other);
  return smallForm([what, element("label", {}, "named ", name)], submit, "Merge", close);
}

function addSteps(explorer, ...steps) {
  const { cut, edits } = explorer.view;
  explorer.state.change({ edits: { ...edits, [cut]: [...(edits[cut] ?? []), ...steps] } });
}
