// Login at the gate.

import { call } from "../shared/app/api.js";
import { el, problemBox, whileBusy } from "../shared/ui/dom.js";
import { t } from "../shared/ui/i18n.js";
import { safeHash } from "../shared/app/router.js";
import { begin, end } from "../shared/app/session.js";

function field(label, attributes) {
  return el("label", { class: "field" }, label, el("input", attributes));
}

export function login(page) {
  const problem = problemBox();
  const code = field(t("code2"), { name: "code", inputmode: "numeric", autocomplete: "one-time-code", maxlength: 6 });
  code.hidden = true;
  const submit = el("button", { class: "btn primary wide" }, t("login"));
  const form = el("form", { class: "stack" },
    field(t("email"), { name: "email", type: "email", autocomplete: "email", required: true }),
    field(t("password"), { name: "password", type: "password", autocomplete: "current-password", required: true }),
    code, problem.element, submit);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    whileBusy(submit, () => send(page, { form, code, problem }));
  });
  page.main.className = "narrow";
  page.main.replaceChildren(el("div", { class: "card pad stack" }, el("h1", {}, t("gate")), el("p", { class: "quiet" }, t("loginWho")), form));
  form.querySelector("input").focus();
}

async function send(page, { form, code, problem }) {
  problem.show("");
  try {
    const { email, password, code: digits } = Object.fromEntries(new FormData(form));
    const answer = await call("POST", "/api/auth/login", { body: { email, password, ...(digits ? { code: digits } : {}) }, isPublic: true });
    begin(answer);
    if (answer.user.role === "USER") {
      end();
      return problem.show(t("staffOnly"));
    }
    page.go(safeHash(page.query.get("next")));
  } catch (error) {
    if (error.code === "CODE_REQUIRED") {
      code.hidden = false;
      code.querySelector("input").focus();
    }
    problem.show(error.message);
  }
}
