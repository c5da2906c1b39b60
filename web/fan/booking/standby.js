// Sold out: the standby list for returned seats.

import { call, get, remove } from "../../shared/app/api.js";
import { el, icon, problemBox, whileBusy } from "../../shared/ui/dom.js";
import { count } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { user } from "../../shared/app/session.js";

const PATH = "/api/booking/standby";

export function standbyBox(page, schedule, grades) {
  const box = el("div", { class: "standby stack tight" });
  refresh(page, { schedule, grades, box }).catch(() => null);
  return box;
}

async function refresh(page, { schedule, grades, box }) {
  const mine = user()
    ? await get(`${PATH}?scheduleId=${schedule.id}`, { signal: page.signal }).catch((error) => (error.status === 404 ? null : Promise.reject(error)))
    : null;
  const again = () => refresh(page, { schedule, grades, box });
  box.replaceChildren(...(mine && ["WAITING", "OFFERED"].includes(mine.state)
    ? place(mine, schedule, again)
    : form(page, { schedule, grades, again })));
}

function place(mine, schedule, again) {
  const leave = el("button", { class: "link", type: "button" }, t("standbyLeave"));
  leave.addEventListener("click", () => whileBusy(leave, async () => {
    await remove(`${PATH}?scheduleId=${schedule.id}`);
    await again();
  }));
  const offer = mine.state === "OFFERED" && mine.offer;
  return [
    el("p", { class: "note ok" }, icon("bell"), " ", offer
      ? el("a", { href: `#/checkout/${mine.offer.id}` }, t("standbyOffer"))
      : t("standbyPlace", mine.grade, mine.count, count(mine.ahead ?? 0))),
    leave,
  ];
}

function form(page, { schedule, grades, again }) {
  const problem = problemBox();
  const grade = el("select", { name: "grade", "aria-label": t("grade") }, grades.map((it) => el("option", { value: it.grade }, it.grade)));
  const amount = el("select", { name: "count", "aria-label": t("howMany") }, [1, 2, 3, 4].filter((n) => n <= (schedule.seatsPerOrder ?? 4)).map((n) => el("option", { value: n }, t("seatCount", n))));
  const button = el("button", { class: "btn" }, t("standbyJoin"));
  const element = el("form", { class: "row" }, grade, amount, button);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!user()) return page.login();
    whileBusy(button, async () => {
      try {
        await call("POST", PATH, { body: { scheduleId: schedule.id, grade: grade.value, count: Number(amount.value) } });
        await again();
      } catch (error) {
        problem.show(error.message);
      }
    });
  });
  return [el("b", {}, t("standbyTitle")), el("p", { class: "quiet" }, t("standbyWords")), element, problem.element];
}
