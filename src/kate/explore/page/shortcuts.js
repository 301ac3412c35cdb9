// Keys that work everywhere but where somebody writes.

/** @param {Object<string, (event: KeyboardEvent) => void>} acts by key */
export function listenToKeys(acts) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (document.querySelector("dialog[open]")) return;
    const writing = target instanceof Element && target.closest("input:not([type=range]), textarea, select, [contenteditable]");
    if (writing && event.key !== "Escape") return;
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
}
