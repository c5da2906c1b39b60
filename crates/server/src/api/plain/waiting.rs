//! The waiting room without scripts: the page looks again by itself. Entering again gives the same
//! place, so looking again is entering again.

use super::html::{Html, day, escape, link};
use super::{session, to_form, trouble};
use crate::api::App;
use crate::api::extract::Id;
use crate::api::language::Language;
use crate::api::queue::localise;
use app::queue::{self, QueueState, QueueView};
use app::sessions::Caller;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use domain::ScheduleId;
use domain::queue::Outlook;

/// Seconds between two looks at the line.
const LOOK_EVERY_S: u32 = 5;

pub(super) async fn room(
    State(app): State<App>,
    headers: HeaderMap,
    Id(schedule): Id<ScheduleId>,
) -> Response {
    let language = Language::of(&headers);
    let Some(caller) = session::caller(&app, &headers).await else {
        return to_form(language, &format!("/queue/{schedule}"));
    };
    match look(&app, caller, schedule).await {
        Ok(mut view) => {
            localise(&mut view, || language);
            session::renew(&app, caller, page(language, schedule, &view)).into_response()
        }
        Err(error) => trouble(language, error),
    }
}

async fn look(app: &App, caller: Caller, schedule: ScheduleId) -> app::Result<QueueView> {
    let asker = queue::asker(&app.platform, schedule, Some(caller), None)?;
    queue::check_pace(&app.platform, schedule, asker.fan)?;
    queue::enter(&app.platform, asker, schedule, None).await
}

fn page(language: Language, schedule: ScheduleId, view: &QueueView) -> Response {
    let title = language.choose("대기실", "Waiting room");
    let kept = language.choose(
        "순번은 서버에 저장되어 있어요. 이 화면은 저절로 새로워져요.",
        "Your place is kept on the server. This page looks again by itself.",
    );
    let message = view.message.as_deref().map(escape).unwrap_or_default();
    let full = if is_full(view) { full(language, schedule) } else { String::new() };
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1>{full}<p class=\"big\">{}</p>\
         <p>{message}</p><p class=\"quiet\">{kept}</p></section>",
        words(language, schedule, view)
    );
    let is_waiting = matches!(view.state, QueueState::Lobby | QueueState::Waiting);
    let page = Html::new(language, title).body(&body);
    if is_waiting { page.again_in(LOOK_EVERY_S) } else { page }.into_response()
}

/// Everything is sold: whoever waits should know it now, not when their turn comes.
fn is_full(view: &QueueView) -> bool {
    view.chance == Some(Outlook::None)
}

fn full(language: Language, schedule: ScheduleId) -> String {
    let (title, words) = match language {
        Language::Korean => (
            "모든 좌석이 팔렸어요.",
            "취소된 좌석이 나오면 취소표 대기 순서대로 먼저 드려요. 줄에 남아 있어도 되지만, 지금은 살 수 있는 좌석이 없어요.",
        ),
        Language::English => (
            "Every seat is sold.",
            "Seats that come back go to the standby list first. You may stay in line, but there is nothing to buy now.",
        ),
    };
    let to = format!("/standby/{schedule}");
    let join = link(&to, language.choose("취소표 대기", "Stand by"));
    format!("<h2>{title}</h2><p>{words}</p><p>{join}</p>")
}

fn words(language: Language, schedule: ScheduleId, view: &QueueView) -> String {
    match view.state {
        QueueState::Lobby => {
            let opens = view.opens_at.map(day).unwrap_or_default();
            let words = language.choose("예매 시작을 기다리고 있어요.", "Waiting for the opening.");
            format!("{words} {opens}")
        }
        QueueState::Waiting => {
            let (ko, en) = ("번째로 기다리고 있어요.", " in line.");
            format!("<span class=\"hero num\">{}</span>{}", view.position, language.choose(ko, en))
        }
        QueueState::Admitted => {
            let ko = "입장할 차례예요. 좌석 고르기에는 자바스크립트가 필요해요.";
            let en = "It is your turn. Choosing seats needs JavaScript.";
            let seats = format!("/#/queue/{schedule}");
            format!(
                "{} {}",
                language.choose(ko, en),
                link(&seats, language.choose("좌석 고르기", "Choose seats"))
            )
        }
        QueueState::Expired => language.choose("시간이 끝났어요.", "Your time is over.").to_owned(),
        QueueState::Closed => {
            language.choose("대기실이 닫혀 있어요.", "The waiting room is closed.").to_owned()
        }
    }
}
