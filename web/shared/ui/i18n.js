// The page's language: the choice that is remembered, else the first of the browser's languages that
// the page has, else English; Korean if the browser names none. The server decides in the same way,
// so a page doesn't change its language when its script starts.

const CHOICE = "podo.language";

/** What `lang` says where two letters aren't enough. */
const TAGS = { zh: "zh-Hans" };

let catalogues = {};
let offered = ["ko", "en"];
let load = null;
let current = chosen();

/** A frame on another site may have no storage. */
function remembered() {
  try {
    return localStorage.getItem(CHOICE);
  } catch {
    return null;
  }
}

function chosen(wished) {
  const tags = [wished, remembered(), ...navigator.languages].filter(Boolean);
  const found = tags.map((tag) => tag.slice(0, 2).toLowerCase()).find((it) => offered.includes(it));
  return found ?? (tags.length ? "en" : "ko");
}

function use(language) {
  current = language;
  document.documentElement.lang = TAGS[current] ?? current;
}

/** `wished` is a language that the page was asked for. */
export function useWords(words, wished) {
  catalogues = words;
  offered = Object.keys(words);
  use(chosen(wished));
}

/** The same for texts loaded per language: `loader(language)` returns them. */
export async function loadWords(loader, languages = offered) {
  load = loader;
  offered = languages;
  use(chosen());
  catalogues = { [current]: await load(current) };
}

export function language() {
  return current;
}

/** Whether the visitor chose the language, rather than the browser. */
export function isLanguageChosen() {
  return remembered() === current;
}

export async function setLanguage(next) {
  catalogues[next] ??= await load(next);
  localStorage.setItem(CHOICE, next);
  use(next);
}

/** The text for a key; a text with placeholders is a function of their values. */
export function t(key, ...values) {
  const text = catalogues[current][key];
  if (text === undefined) throw new Error(`no text for "${key}" in "${current}"`);
  return typeof text === "function" ? text(...values) : text;
}

/** An organiser's text, which exists in Korean and perhaps in English: `name` and `nameEn`. */
export function localText(it, key) {
  return (current === "ko" ? null : it[`${key}En`]) || it[key];
}
