// Starts the apps: their texts, the header's buttons, and the session to restore.

import { call, refresh } from "./api.js";
import { language, loadWords, setLanguage } from "../ui/i18n.js";
import { isLoggedIn, mayComeBack } from "./session.js";
import { applyTheme, switchTheme } from "../ui/theme.js";

/**
 * `words(language)` loads the texts; `show` draws the view for the address; `languages` are those
 * that the app has, if they aren't Korean and English.
 */
export async function startApp(words, show, languages) {
  applyTheme();
  await Promise.all([loadWords(words, languages), mayComeBack() ? refresh().catch(() => null) : null]);
  const choose = async (next) => {
    await setLanguage(next);
    storeLanguage();
    show();
  };
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => choose(button.dataset.language));
  }
  document.getElementById("languages")?.addEventListener("change", ({ target }) => choose(target.value));
  document.getElementById("theme").addEventListener("click", switchTheme);
  document.getElementById("skip").addEventListener("click", (event) => {
    // The router owns the address.
    event.preventDefault();
    document.getElementById("main").focus();
  });
  await show({ isFirst: true });
}

/** Notifications follow the page. They are written in Korean and English. */
export function storeLanguage() {
  if (!isLoggedIn()) return;
  const body = { language: language() === "ko" ? "ko" : "en" };
  call("PUT", "/api/users/me/notifications/language", { body }).catch(() => null);
}
