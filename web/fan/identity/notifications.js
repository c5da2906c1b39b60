// The fan's notifications, and the channels for them.

import { call } from "../../shared/app/api.js";
import { announce, el, problemBox } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

const CHANNELS = ["email", "sms", "push"];
const SHOWN = 5;

export function lettersCard(letters, settings) {
  const letter = (it) => el("li", {},
    el("span", {}, el("b", {}, it.subject), el("span", { class: "letter" }, it.body), el("small", { class: "quiet num" }, moment(it.createdAt))));
  const rest = letters.slice(SHOWN);
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("letters")),
    letters.length ? el("ul", { class: "lines" }, letters.slice(0, SHOWN).map(letter)) : el("p", { class: "quiet" }, t("noLetters")),
    rest.length ? el("details", { class: "more" }, el("summary", {}, t("more")), el("ul", { class: "lines" }, rest.map(letter))) : null,
    channels(settings));
}

/** Each switch is saved immediately. */
function channels(settings) {
  const problem = problemBox();
  const rows = CHANNELS.map((name) => {
    const input = el("input", { type: "checkbox", role: "switch", name, checked: settings[name] });
    input.addEventListener("change", async () => {
      try {
        settings = await call("PUT", "/api/users/me/notifications", { body: { ...settings, [name]: input.checked } });
        problem.show("");
        announce(t("saved"));
      } catch (error) {
        input.checked = !input.checked;
        problem.show(error.message);
      }
    });
    return el("label", { class: "switch" }, el("span", {}, t(`channel${name}`)), input);
  });
  return el("div", {}, el("h3", {}, t("channels")), rows, problem.element);
}
