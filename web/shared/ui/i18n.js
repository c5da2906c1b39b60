// Korean and English. Korean is the default; the choice is remembered.

const CHOICE = "podo.language";

let catalogues = { ko: null, en: null };
let load = null;
let current = chosen();

function chosen() {
  return localStorage.getItem(CHOICE) === "en" ? "en" : "ko";
}

export function useWords(words) {
  catalogues = words;
  document.documentElement.lang = current;
}

/** The same for texts loaded per language: `loader(language)` returns them. */
export async function loadWords(loader) {
  load = loader;
  catalogues = { ...catalogues, [current]: await load(current) };
  document.documentElement.lang = current;
}

export function language() {
  return current;
}

export async function setLanguage(next) {
  catalogues[next] ??= await load(next);
  current = next;
  localStorage.setItem(CHOICE, next);
  document.documentElement.lang = next;
}

/** The text for a key; a text with placeholders is a function of their values. */
export function t(key, ...values) {
  const text = catalogues[current][key];
  if (text === undefined) throw new Error(`no text for "${key}" in "${current}"`);
  return typeof text === "function" ? text(...values) : text;
}
