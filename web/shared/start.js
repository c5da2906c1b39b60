// How both apps begin: their words, the buttons of the header, and the session that may come back.

import { refresh } from "./api.js";
import { setLanguage, useWords } from "./i18n.js";
import { mayComeBack } from "./session.js";
import { applyTheme, switchTheme } from "./theme.js";

/** `show` draws the view for the address. */
export async function startApp(words, show) {
  applyTheme();
  useWords(words);
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", () => {
      setLanguage(button.dataset.language);
      show();
    });
  }
  document.getElementById("theme").addEventListener("click", switchTheme);
  document.getElementById("skip").addEventListener("click", (event) => {
    // The address belongs to the router.
    event.preventDefault();
    document.getElementById("main").focus();
  });
  if (mayComeBack()) await refresh().catch(() => null);
  await show({ isFirst: true });
}
