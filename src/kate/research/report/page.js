"use strict";
// Values under the pointer, and one series at a time. Without this script a browser shows the titles itself.
(() => {
  const tip = document.createElement("div");
  tip.id = "tip";
  tip.hidden = true;
  document.body.append(tip);

  for (const title of document.querySelectorAll("svg title")) {
    const mark = title.parentNode;
    const series = mark.closest("[data-series]");
    const name = series ? series.dataset.series : "";
    const text = title.textContent;
    mark.dataset.detail = text.startsWith(name) ? text : name + ": " + text;
    title.remove();
  }

  const show = (event) => {
    const mark = event.target.closest ? event.target.closest("[data-detail]") : null;
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.detail;
    const left = Math.min(event.clientX + 12, window.innerWidth - tip.offsetWidth - 8);
    const above = event.clientY - tip.offsetHeight - 12;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (above > 8 ? above : event.clientY + 18) + "px";
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  for (const figure of document.querySelectorAll("figure")) {
    let kept = null;
    const pick = (name) => {
      figure.classList.toggle("picked", name !== null);
      for (const series of figure.querySelectorAll("g[data-series]")) {
        series.classList.toggle("pick", series.dataset.series === name);
      }
    };
    for (const button of figure.querySelectorAll(".legend button")) {
      const name = button.dataset.series;
      button.addEventListener("pointerenter", () => pick(name));
      button.addEventListener("pointerleave", () => pick(kept));
      button.addEventListener("click", () => {
        kept = kept === name ? null : name;
        for (const other of figure.querySelectorAll(".legend button")) {
          other.setAttribute("aria-pressed", String(other.dataset.series === kept));
        }
        pick(kept);
      });
    }
  }

  // sections are folded on a phone, and whole on paper
  const sections = document.querySelectorAll("details.section");
  const unfold = (are_open) => { for (const section of sections) section.open = are_open; };
  const phone = window.matchMedia("screen and (max-width: 720px)");
  unfold(!phone.matches);
  phone.addEventListener("change", () => unfold(!phone.matches));
  window.addEventListener("beforeprint", () => unfold(true));

  // a link to something folded opens it, and what it is folded in
  const open = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id ? document.getElementById(id) : null;
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", open);
  open();
})();
