// One person as support sees them.

import { get } from "../../shared/app/api.js";
import { el } from "../../shared/ui/dom.js";
import { stamp, won } from "../../shared/ui/format.js";
import { t } from "../../shared/ui/i18n.js";
import { card, heading } from "../form.js";
import { bookingRow, facts, notesCard, timelineCard } from "./parts.js";

export async function person({ main, id, signal }) {
  const path = `/api/admin/support/people/${id}`;
  const found = await get(path, { signal });
  const timeline = timelineCard(`${path}/timeline`, signal);
  const yesNo = (is) => t(is ? "yes" : "no");
  main.className = "wide";
  main.replaceChildren(
    heading(found.name, found.email, el("a", { class: "btn", href: "#/support" }, t("supportBack"))),
    card(t("supportPerson"), null, facts([
      [t("phone"), found.phone],
      [t("emailVerified"), yesNo(found.emailVerified)],
      [t("identityVerified"), yesNo(found.identityVerified)],
      [t("codeOn"), yesNo(found.secondFactor)],
      [t("wallet"), won(found.balance, found.currency)],
      [t("role"), t("roleOf", found.role)],
      [t("joinedAt"), stamp(found.createdAt)],
    ])),
    card(t("navReservations"), null, found.bookings.length
      ? el("ul", { class: "rows" }, found.bookings.map(bookingRow))
      : el("p", { class: "quiet pad" }, t("supportNoBookings"))),
    notesCard(found.notes, `${path}/notes`),
    timeline.element);
  return timeline.reload();
}
