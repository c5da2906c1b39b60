// Starts the apps: their texts, the header's buttons, and the session to restore.

import { refresh } from "./api.js";
import { loadWords, setLanguage } from "../ui/i18n.js";
import { mayComeBack } from "./session.js";
import { applyTheme, switchTheme } from "../ui/theme.js";

/** `words(language)` loads the texts; `show` draws the view for the address. */
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
    // The router owns the address.
    event.preventDefault();
    document.getElementById("main").focus();
  });
  await show({ isFirst: true });
}
