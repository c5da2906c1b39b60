//! A forgotten password without JavaScript: a form for the address, and one for the code of the
//! e-mail with the new password. The token travels in the body of the form, never in an address.

use crate::http::extract::{CameFrom, Raw};
use crate::http::language::Language;
use crate::http::problem::ApiError;
use crate::routes::App;
use crate::routes::no_js::entrance::{email_field, password_field, read};
use crate::routes::no_js::form::{Field, Form};
use crate::routes::no_js::html::{Html, escape, link};
use crate::routes::no_js::trouble;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use podo_app::identity::accounts;
use podo_app::identity::accounts::Origin;
use podo_app::{Error, Result};
use podo_domain::Refusal;
use podo_domain::identity::{Email, NewPassword};
use serde::Deserialize;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Given {
    email: String,
    token: String,
    password: String,
}

pub(crate) async fn show(headers: HeaderMap) -> Response {
    ask_form(Language::of(&headers), &Given::default(), None)
}

fn told(language: Language, error: Option<Error>) -> Option<String> {
    error.map(|error| ApiError::from(error).told(language).1)
}

fn ask_form(language: Language, given: &Given, error: Option<Error>) -> Response {
    let words = language.say(
        "가입한 이메일을 적으면 새 비밀번호를 정하는 메일을 보내 드려요.",
        "Enter your address, and we'll email you how to set a new password.",
    );
    let title = language.say("비밀번호 다시 설정", "Reset your password");
    Form::new(language, title, "/enter/forgotten")
        .problem(told(language, error))
        .say(&escape(words))
        .ask(&email_field(language), &given.email)
        .then(&link("/enter", language.say("로그인", "Log in")))
        .page()
}

/// Mails the link. The page is the same for every address.
pub(crate) async fn ask(
    State(app): State<App>,
    headers: HeaderMap,
    CameFrom(origin): CameFrom,
    Raw(body): Raw,
) -> Response {
    let (language, given): (_, Given) = (Language::of(&headers), read(&body));
    match send(&app, &given, language, &origin).await {
        Ok(()) => reset_form(language, &given, None),
        Err(error @ Error::Refused(_)) => ask_form(language, &given, Some(error)),
        Err(error) => trouble(language, error),
    }
}

async fn send(app: &App, given: &Given, language: Language, origin: &Origin) -> Result<()> {
    let wrong = |problem| Refusal::Invalid { field: "email", problem };
    let email = Email::try_from(given.email.clone()).map_err(wrong)?;
    let language = language.of_notifications();
    accounts::ask_reset(&app.context, &email, language, origin).await.map(drop)
}

fn reset_form(language: Language, given: &Given, error: Option<Error>) -> Response {
    let words = language.say(
        "메일을 보냈어요. 30분 안에, 메일에 있는 링크를 그대로 붙여 넣고 새 비밀번호를 정해 주세요.",
        "We sent an email. Within 30 minutes, paste the link from it and choose a new password.",
    );
    let token = Field {
        name: "token",
        kind: "text",
        fills: "off",
        label: language.say("메일에 있는 링크", "Link from the email"),
        hint: None,
        at_least: 1,
    };
    let title = language.say("새 비밀번호 저장", "Save the new password");
    Form::new(language, title, "/enter/reset")
        .problem(told(language, error))
        .say(&escape(words))
        .ask(&token, &given.token)
        .ask(&password_field(language, true), "")
        .then(&link("/enter/forgotten", language.say("메일 다시 받기", "Send it again")))
        .page()
}

pub(crate) async fn reset(
    State(app): State<App>,
    headers: HeaderMap,
    CameFrom(origin): CameFrom,
    Raw(body): Raw,
) -> Response {
    let (language, given): (_, Given) = (Language::of(&headers), read(&body));
    match save(&app, &given, &origin).await {
        Ok(()) => done(language),
        Err(error @ Error::Refused(_)) => reset_form(language, &given, Some(error)),
        Err(error) => trouble(language, error),
    }
}

async fn save(app: &App, given: &Given, origin: &Origin) -> Result<()> {
    let wrong = |problem| Refusal::Invalid { field: "password", problem };
    let password = NewPassword::try_from(given.password.clone()).map_err(wrong)?;
    // The whole link, or only its end.
    let token = given.token.trim().rsplit('/').next().unwrap_or_default();
    accounts::reset_password(&app.context, token, password, origin).await
}

fn done(language: Language) -> Response {
    let title = language.say("비밀번호를 바꿨어요", "Your password was changed");
    let words = language.say(
        "모든 기기에서 로그아웃했어요. 새 비밀번호로 로그인해 주세요.",
        "You were logged out on all devices. Please log in with the new password.",
    );
    let to_login = link("/enter", language.say("로그인", "Log in"));
    let body = format!("<h1>{title}</h1><p>{}</p><p>{to_login}</p>", escape(words));
    Html::new(language, title).body(&body).into_response()
}
