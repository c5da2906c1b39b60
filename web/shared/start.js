// How the apps begin: their words, the buttons of the header, and the session that may come back.

import { refresh } from "./api.js";
import { loadWords, setLanguage } from "./i18n.js";
import { mayComeBack } from "./session.js";
import { applyTheme, switchTheme } from "./theme.js";

/** `words(language)` gives the texts; `show` draws the view for the address. */
export async function startApp(words, show) {
  applyTheme();
  await Promise.all([loadWords(words), mayComeBack() ? refresh().catch(() => null) : null]);
  for (const button of document.querySelectorAll("[data-language]")) {
    button.addEventListener("click", async () => {
      await setLanguage(button.dataset.language);
      show();
    });
  }
  document.getElementById("theme").addEventListener("click", switchTheme);
  document.getElementById("skip").addEventListener("click", (event) => {
    // The address belongs to the router.
    event.preventDefault();
    document.getElementById("main").focus();
  });
  await show({ isFirst: true });
}
