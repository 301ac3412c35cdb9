// Light or dark: as the system is, until the reader says otherwise.

const KEY = "kate-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

const stored = () => {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // a page from a file may have no storage
  }
};

export const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

/** Follow the system and what the reader chose before; `heard` is told of every change. */
export function followTheme(heard) {
  const chosen = stored();
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  system.addEventListener("change", heard);
}

/** The other one. */
export function toggleTheme() {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch { /* it is forgotten with the page */ }
}
