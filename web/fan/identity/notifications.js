// The fan's notifications, and the channels for them.

import { call } from "../../shared/app/api.js";
import { announce, el, problemBox } from "../../shared/ui/dom.js";
import { moment } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";

const CHANNELS = ["email", "sms", "push", "reminders"];
const SHOWN = 5;

export function notificationsCard(notifications, settings) {
  const notification = (it) => el("li", {},
    el("span", {}, el("b", {}, it.subject), el("span", { class: "detail" }, it.body), el("small", { class: "quiet num" }, moment(it.createdAt))));
  const rest = notifications.slice(SHOWN);
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("notifications")),
    notifications.length ? el("ul", { class: "lines" }, notifications.slice(0, SHOWN).map(notification)) : el("p", { class: "quiet" }, t("noNotifications")),
    rest.length ? el("details", { class: "more" }, el("summary", {}, t("more")), el("ul", { class: "lines" }, rest.map(notification))) : null,
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
