//! Login and sign-up without JavaScript: forms, and then the browser's cookies.

use crate::http::extract::{CameFrom, Raw};
use crate::http::language::Language;
use crate::http::problem::ApiError;
use crate::routes::App;
use crate::routes::identity::accounts::note_language;
use crate::routes::no_js::form::{Field, Form};
use crate::routes::no_js::html::{escape, link};
use crate::routes::no_js::next::Next;
use crate::routes::no_js::{legal, session, trouble};
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use podo_app::identity::accounts;
use podo_app::identity::accounts::{Credentials, Origin, SignUp, SignedUp};
use podo_app::{Error, Result};
use podo_domain::catalog::text::Line;
use podo_domain::identity::consents::{Consents, PageKind};
use podo_domain::identity::{Email, NewPassword, PASSWORD_CHARS_MIN, Role};
use podo_domain::{Refusal, UserId};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
pub(crate) struct NextParams {
    #[serde(default)]
    next: Next,
}

pub(crate) async fn show_log_in(headers: HeaderMap, Query(params): Query<NextParams>) -> Response {
    log_in_form(Language::of(&headers), &Given::to(&params.next), None)
}

pub(crate) async fn show_sign_up(
    State(app): State<App>,
    headers: HeaderMap,
    Query(params): Query<NextParams>,
) -> Response {
    sign_up_form(&app, Language::of(&headers), &Given::to(&params.next), None).await
}

/// The submitted fields; a field that the form doesn't have is empty.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    email: String,
    password: String,
    name: String,
    code: String,
    /// Boxes: a ticked one is `yes`.
    terms: String,
    privacy: String,
    age: String,
    marketing: String,
    next: Next,
}

impl Given {
    fn consents(&self) -> Consents {
        let has = |text: &str| text == "yes";
        Consents {
            terms: has(&self.terms),
            privacy: has(&self.privacy),
            age: has(&self.age),
            marketing: has(&self.marketing),
        }
    }

    fn to(next: &Next) -> Given {
        Given { next: next.clone(), ..Given::default() }
    }
}

pub(super) fn read<T: DeserializeOwned + Default>(body: &[u8]) -> T {
    serde_urlencoded::from_bytes(body).unwrap_or_default()
}

const EMAIL: &str = "email";

pub(super) fn email_field(language: Language) -> Field {
    let label = language.say("이메일", "Email");
    Field { name: EMAIL, kind: "email", fills: "email", label, hint: None, at_least: 1 }
}

pub(super) fn password_field(language: Language, is_new: bool) -> Field {
    let hint = language.say("8자 이상이어야 해요.", "At least eight characters.");
    Field {
        name: "password",
        kind: "password",
        fills: if is_new { "new-password" } else { "current-password" },
        label: language.say("비밀번호", "Password"),
        hint: is_new.then_some(hint),
        at_least: if is_new { PASSWORD_CHARS_MIN } else { 1 },
    }
}

fn code_field(label: &'static str) -> Field {
    Field { name: "code", kind: "text", fills: "one-time-code", label, hint: None, at_least: 1 }
}

fn log_in_form(language: Language, given: &Given, error: Option<Error>) -> Response {
    let wants_code =
        matches!(error, Some(Error::Refused(Refusal::CodeRequired))) || !given.code.is_empty();
    let told = error.map(|error| ApiError::from(error).told(language).1);
    let title = language.say("로그인", "Log in");
    let form = Form::new(language, title, "/enter")
        .problem(told)
        .carry("next", given.next.or(""))
        .ask(&email_field(language), &given.email)
        .ask(&password_field(language, false), "");
    let code = code_field(language.say("인증 앱의 코드", "Code from your authenticator app"));
    let form = if wants_code { form.ask(&code, "") } else { form };
    let other = link(&address("/join", &given.next), language.say("회원가입", "Sign up"));
    let forgotten = language.say("비밀번호를 잊었어요", "Forgot your password?");
    form.then(&other).then(&link("/enter/forgotten", forgotten)).page()
}

/// The boxes of a sign-up, with links to the pages; none before the organiser publishes any.
fn boxes(language: Language, given: &Given, published: &[(PageKind, u32)], form: Form) -> Form {
    let is_published = |kind| published.iter().any(|(known, _)| *known == kind);
    let (has_terms, has_privacy) = (is_published(PageKind::Terms), is_published(PageKind::Privacy));
    if !has_terms && !has_privacy {
        return form;
    }
    let consents = given.consents();
    let agree = |kind: PageKind| {
        let agree = language.say("동의해요 (필수)", "I agree (required)");
        let (slug, title) = (kind.slug(), legal::title(language, kind));
        format!("<a href=\"/{slug}\">{title}</a> {agree}")
    };
    let age = language.say("만 14세 이상이에요 (필수)", "I'm at least 14 years old (required)");
    let marketing =
        language.say("공연 소식을 받을게요 (선택)", "Send me news about concerts (optional)");
    let form = match has_terms {
        true => form.tick("terms", &agree(PageKind::Terms), consents.terms, true),
        false => form,
    };
    let form = match has_privacy {
        true => form.tick("privacy", &agree(PageKind::Privacy), consents.privacy, true),
        false => form,
    };
    form.tick("age", &escape(age), consents.age, true).tick(
        "marketing",
        marketing,
        consents.marketing,
        false,
    )
}

async fn sign_up_form(
    app: &App,
    language: Language,
    given: &Given,
    error: Option<Error>,
) -> Response {
    let published = match podo_app::identity::legal::published(&app.context).await {
        Ok(published) => published,
        Err(error) => return trouble(language, error),
    };
    let told = error.map(|error| ApiError::from(error).told(language).1);
    let title = language.say("회원가입", "Sign up");
    let label = language.say("이름", "Name");
    let name = Field { name: "name", kind: "text", fills: "name", label, hint: None, at_least: 1 };
    let other = link(&address("/enter", &given.next), language.say("로그인", "Log in"));
    let form = Form::new(language, title, "/join")
        .problem(told)
        .carry("next", given.next.or(""))
        .ask(&email_field(language), &given.email)
        .ask(&password_field(language, true), "")
        .ask(&name, &given.name);
    boxes(language, given, &published, form).then(&other).page()
}

fn address(page: &str, next: &Next) -> String {
    match next.or("") {
        "" => page.to_owned(),
        next => format!("{page}?next={next}"),
    }
}

pub(crate) async fn log_in(
    State(app): State<App>,
    headers: HeaderMap,
    CameFrom(origin): CameFrom,
    Raw(body): Raw,
) -> Response {
    let (language, given): (_, Given) = (Language::of(&headers), read(&body));
    match begin(&app, &headers, &given, origin).await {
        Ok(response) => response,
        Err(error @ Error::Refused(_)) => log_in_form(language, &given, Some(error)),
        Err(error) => trouble(language, error),
    }
}

async fn begin(app: &App, headers: &HeaderMap, given: &Given, origin: Origin) -> Result<Response> {
    let email = Email::try_from(given.email.clone()).map_err(|_error| Refusal::LoginFailed)?;
    let code = Some(given.code.clone()).filter(|code| !code.is_empty());
    let credentials = Credentials { email, password: given.password.clone(), code };
    let logged_in = accounts::log_in(&app.context, credentials, origin).await?;
    note_language(app, headers, &logged_in).await;
    Ok(session::begin(&logged_in, &given.next))
}

/// Creates the account and logs in, or first asks for the code from the e-mail.
pub(crate) async fn sign_up(
    State(app): State<App>,
    headers: HeaderMap,
    CameFrom(origin): CameFrom,
    Raw(body): Raw,
) -> Response {
    let (language, given): (_, Given) = (Language::of(&headers), read(&body));
    let made = match make(&app, &given, language, &origin).await {
        Ok(SignedUp::Made(_)) => begin(&app, &headers, &given, origin).await,
        Ok(SignedUp::CodeSent { sign_up, .. }) => {
            let asked = PendingSignUp {
                sign_up: sign_up.to_string(),
                next: given.next,
                code: String::new(),
            };
            return code_form(language, &asked, None);
        }
        Err(error) => Err(error),
    };
    match made {
        Ok(response) => response,
        Err(error @ Error::Refused(_)) => sign_up_form(&app, language, &given, Some(error)).await,
        Err(error) => trouble(language, error),
    }
}

async fn make(app: &App, given: &Given, language: Language, origin: &Origin) -> Result<SignedUp> {
    let wrong = |field| move |problem| Refusal::Invalid { field, problem };
    let asked = SignUp {
        email: Email::try_from(given.email.clone()).map_err(wrong(EMAIL))?,
        password: NewPassword::try_from(given.password.clone()).map_err(wrong("password"))?,
        name: Line::try_from(given.name.clone()).map_err(wrong("name"))?,
        phone: None,
        role: Role::User,
    };
    let (consents, language) = (given.consents(), language.of_notifications());
    accounts::sign_up(&app.context, asked, consents, language, origin).await
}

/// A sign-up that waits for its code.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PendingSignUp {
    sign_up: String,
    code: String,
    next: Next,
}

fn code_form(language: Language, asked: &PendingSignUp, error: Option<Error>) -> Response {
    let told = error.map(|error| ApiError::from(error).told(language).1);
    let words = language
        .say("이메일로 보낸 6자리 코드를 적어 주세요.", "Enter the six-digit code we emailed you.");
    Form::new(language, language.say("이메일 확인", "Confirm your email"), "/join/confirm")
        .problem(told)
        .carry("sign_up", &asked.sign_up)
        .carry("next", asked.next.or(""))
        .say(&escape(words))
        .ask(&code_field(language.say("코드", "Code")), "")
        .page()
}

pub(crate) async fn confirm(
    State(app): State<App>,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Response {
    let (language, asked): (_, PendingSignUp) = (Language::of(&headers), read(&body));
    let Ok(sign_up) = asked.sign_up.parse::<UserId>() else {
        return trouble(language, Refusal::CodeWrong.into());
    };
    match accounts::confirm_sign_up(&app.context, sign_up, asked.code.trim()).await {
        Ok(_) => log_in_form(language, &Given::to(&asked.next), None),
        Err(error @ Error::Refused(_)) => code_form(language, &asked, Some(error)),
        Err(error) => trouble(language, error),
    }
}
