// Following an artist: a reminder before each of their openings.

import { call, get, remove } from "../../shared/app/api.js";
import { announce, el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";

const MINE = "/api/users/me/artists";

export async function followedArtists(signal) {
  if (!user()) return [];
  const { items } = await get(MINE, { signal }).catch(() => ({ items: [] }));
  return items;
}

const unfollow = (artist) => remove(`${MINE}?${new URLSearchParams({ artist })}`);

export function followButton(page, event, followed) {
  let isOn = followed.includes(event.artist);
  const problem = problemBox();
  const button = el("button", { class: "btn small", type: "button" });
  const draw = () => {
    button.replaceChildren(icon(isOn ? "check" : "star"), t(isOn ? "followOn" : "followOff"));
    button.setAttribute("aria-pressed", String(isOn));
    button.setAttribute("aria-label", `${event.artist}: ${t(isOn ? "followOn" : "followOff")}`);
  };
  button.addEventListener("click", () => whileBusy(button, async () => {
    if (!user()) return page.login();
    try {
      if (isOn) await unfollow(event.artist);
      else await call("PUT", `/api/events/${event.id}/follow`, { body: {} });
      isOn = !isOn;
      announce(t(isOn ? "followSet" : "followEnded", event.artist));
      problem.show("");
    } catch (error) {
      problem.show(error.message);
    }
  }).then(draw));
  draw();
  return [button, problem.element];
}

/** The artists on my page, each with its end. */
export function artistsCard(artists) {
  if (!artists.length) return null;
  const row = (artist) => {
    const problem = problemBox();
    const end = el("button", { class: "btn small", type: "button", "aria-label": `${artist}: ${t("followEnd")}` }, t("followEnd"));
    const item = el("li", {}, el("span", {}, el("b", {}, artist)), end, problem.element);
    end.addEventListener("click", () => whileBusy(end, async () => {
      try {
        await unfollow(artist);
        announce(t("followEnded", artist));
        item.remove();
      } catch (error) {
        problem.show(error.message);
      }
    }));
    return item;
  };
  return el("section", { class: "card pad stack" },
    el("h2", {}, t("artists")),
    el("p", { class: "quiet" }, t("artistsWords")),
    el("ul", { class: "lines" }, artists.map(row)));
}
