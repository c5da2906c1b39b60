// Korean and English: the choice that is remembered, else the browser's languages, else Korean. The
// server decides in the same way, so a page doesn't change its language when its script starts.

const CHOICE = "podo.language";

let catalogues = { ko: null, en: null };
let load = null;
let current = chosen();

function chosen() {
  const tags = [localStorage.getItem(CHOICE), ...navigator.languages];
  return tags.map((tag) => tag?.slice(0, 2).toLowerCase()).find((it) => it === "ko" || it === "en") ?? "ko";
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
