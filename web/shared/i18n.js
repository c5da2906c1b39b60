// Korean and English. Korean is the default; the choice is remembered.

const CHOICE = "podo.language";

let catalogues = { ko: {}, en: {} };
let current = chosen();

function chosen() {
  return localStorage.getItem(CHOICE) === "en" ? "en" : "ko";
}

export function useWords(words) {
  catalogues = words;
  document.documentElement.lang = current;
}

export function language() {
  return current;
}

export function setLanguage(next) {
  current = next;
  localStorage.setItem(CHOICE, next);
  document.documentElement.lang = next;
}

/** The text for a key; a text with blanks is a function of what fills them. */
export function t(key, ...values) {
  const text = catalogues[current][key];
  if (text === undefined) throw new Error(`no text for "${key}" in "${current}"`);
  return typeof text === "function" ? text(...values) : text;
}
