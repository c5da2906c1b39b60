//! The standby list of a sold-out date, without JavaScript.

use crate::http::extract::{Id, Raw};
use crate::http::language::Language;
use crate::http::problem::ApiError;
use crate::routes::App;
use crate::routes::no_js::html::{Html, escape, link};
use crate::routes::no_js::{session, to_form, trouble};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use podo_app::booking::standby;
use podo_app::booking::standby::StandbyView;
use podo_app::{Error, catalog};
use podo_domain::booking::standby::SEATS_MAX;
use podo_domain::booking::standby::StandbyState;
use podo_domain::{Refusal, ScheduleId, UserId};
use serde::Deserialize;

pub(crate) async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    Id(schedule): Id<ScheduleId>,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/standby/{schedule}"));
    };
    let shown = page(&app, language, visitor.caller.user, schedule, None).await;
    visitor.keep(shown.unwrap_or_else(|error| trouble(language, error)))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StandbyForm {
    grade: String,
    count: u32,
}

pub(crate) async fn join(
    State(app): State<App>,
    headers: HeaderMap,
    Id(schedule): Id<ScheduleId>,
    Raw(body): Raw,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/standby/{schedule}"));
    };
    let StandbyForm { grade, count } = serde_urlencoded::from_bytes(&body).unwrap_or_default();
    let joined = standby::stand_by(&app.context, visitor.caller.user, schedule, grade, count).await;
    let refused = match joined {
        Ok(_) => None,
        Err(error @ Error::Refused(_)) => Some(error),
        Err(error) => return visitor.keep(trouble(language, error)),
    };
    let shown = page(&app, language, visitor.caller.user, schedule, refused).await;
    visitor.keep(shown.unwrap_or_else(|error| trouble(language, error)))
}

async fn page(
    app: &App,
    language: Language,
    user: UserId,
    schedule: ScheduleId,
    refused: Option<Error>,
) -> podo_app::Result<Response> {
    let detail = catalog::show_schedule(&app.context, schedule).await?;
    let mine = match standby::my_standby(&app.context, user, schedule).await {
        Ok(place) => Some(place),
        Err(Error::Refused(Refusal::NotFound)) => None,
        Err(error) => return Err(error),
    };
    let problem = refused.map_or(String::new(), |error| {
        let (_, words) = ApiError::from(error).told(language);
        format!("<p class=\"note danger\" role=\"alert\">{}</p>", escape(&words))
    });
    let grades: Vec<&str> = detail.schedule.prices.keys().map(String::as_str).collect();
    let middle = mine
        .as_ref()
        .and_then(|place| words(language, place))
        .unwrap_or_else(|| form(language, schedule, &grades));
    let title = language.say("취소표 대기", "Standby list");
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p>{}</p>{problem}{middle}<p>{}</p></section>",
        escape(&detail.schedule.event_title),
        link(
            &format!("/events/{}", detail.schedule.event_id),
            language.say("공연 보기", "Back to the concert")
        )
    );
    Ok(Html::new(language, title).body(&body).into_response())
}

/// The visitor's place, as long as they have one.
fn words(language: Language, place: &StandbyView) -> Option<String> {
    let StandbyView { grade, count, ahead, .. } = place;
    let (grade, ahead) = (escape(grade), ahead.unwrap_or(0));
    let said = match (place.state, language) {
        (StandbyState::Waiting, Language::Korean) => {
            format!(
                "{grade} {count}석을 기다리고 있어요. 앞에 {ahead}명이 있어요. 좌석이 나오면 알려 드려요."
            )
        }
        (StandbyState::Waiting, Language::English) => {
            format!(
                "On the standby list for {count} × {grade}, {ahead} ahead of you. We'll notify you when seats are available."
            )
        }
        (StandbyState::Waiting, Language::Japanese) => {
            format!(
                "{grade} {count}席のキャンセル待ちです。前に{ahead}人います。座席が出たらお知らせします。"
            )
        }
        (StandbyState::Waiting, Language::Chinese) => {
            format!("正在候补 {grade} {count} 个座位，前面有 {ahead} 人。有座位时会通知您。")
        }
        (StandbyState::Offered, _) => language
            .say(
                "좌석이 나왔어요. 결제에는 자바스크립트가 필요해요.",
                "Seats are held for you. Paying for them requires JavaScript.",
            )
            .to_owned(),
        (StandbyState::Taken | StandbyState::Lapsed | StandbyState::Left, _) => return None,
    };
    Some(format!("<p class=\"note ok\">{said}</p>"))
}

fn form(language: Language, schedule: ScheduleId, grades: &[&str]) -> String {
    let option = |value: &str| format!("<option>{}</option>", escape(value));
    let grades: String = grades.iter().map(|grade| option(grade)).collect();
    let counts: String = (1..=SEATS_MAX).map(|n| option(&n.to_string())).collect();
    format!(
        "<p>{}</p><form class=\"stack\" method=\"post\" action=\"/standby/{schedule}\">\
         <label class=\"field\">{}<select name=\"grade\">{grades}</select></label>\
         <label class=\"field\">{}<select name=\"count\">{counts}</select></label>\
         <button class=\"btn primary\">{}</button></form>",
        language.say(
            "취소된 좌석이 나오면 먼저 신청한 분께 잠시 맡아 두고 알려 드려요.",
            "Returned seats are held for the first person on the list, and we notify them."
        ),
        language.say("등급", "Grade"),
        language.say("좌석 수", "Seats"),
        language.say("대기 신청", "Join the standby list")
    )
}
