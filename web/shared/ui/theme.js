// Light or dark: follows the system until the user chooses. The choice is remembered.

const CHOICE = "podo.theme";
const THEMES = ["light", "dark"];

/** Runs at the start of a page, before anything is drawn. */
export function applyTheme() {
  const chosen = localStorage.getItem(CHOICE);
  if (THEMES.includes(chosen)) document.documentElement.dataset.theme = chosen;
}

export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function switchTheme() {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem(CHOICE, next);
}
