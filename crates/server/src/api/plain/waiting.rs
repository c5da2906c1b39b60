//! The waiting room without scripts: a form enters, and then the page looks again by itself.

use super::html::{Html, day, escape, link};
use super::{session, to_form, trouble};
use crate::api::App;
use crate::api::extract::Id;
use crate::api::language::Language;
use crate::api::queue::localise;
use app::queue::{self, QueueState, QueueView};
use app::sessions::Caller;
use app::{Error, catalog};
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use domain::queue::Outlook;
use domain::{Refusal, ScheduleId};

/// Seconds between two looks at the line.
const LOOK_EVERY_S: u32 = 5;

/// The place of somebody who has one, and a form for who has none. A look enters nobody: any site can
/// link to this page.
pub(super) async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    Id(schedule): Id<ScheduleId>,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/queue/{schedule}"));
    };
    let shown = match look(&app, visitor.caller, schedule).await {
        Ok(view) => page(language, schedule, view),
        Err(Error::Refused(Refusal::NotInQueue | Refusal::EntryExpired)) => {
            door(&app, language, schedule).await
        }
        Err(error) => trouble(language, error),
    };
    visitor.keep(shown)
}

async fn look(app: &App, caller: Caller, schedule: ScheduleId) -> app::Result<QueueView> {
    let asker = queue::asker(&app.platform, schedule, Some(caller), None)?;
    queue::check_pace(&app.platform, schedule, asker.fan)?;
    queue::status(&app.platform, asker, schedule).await
}

/// Enters, which only a form of ours asks for: the edge refuses what another site's page sends.
pub(super) async fn enter(
    State(app): State<App>,
    headers: HeaderMap,
    Id(schedule): Id<ScheduleId>,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/queue/{schedule}"));
    };
    let entered = match queue::asker(&app.platform, schedule, Some(visitor.caller), None) {
        Ok(asker) => queue::enter(&app.platform, asker, schedule, None).await,
        Err(error) => Err(error.into()),
    };
    visitor.keep(match entered {
        Ok(_) => Redirect::to(&format!("/queue/{schedule}")).into_response(),
        Err(error) => trouble(language, error),
    })
}

/// The way in, for who has no place.
async fn door(app: &App, language: Language, schedule: ScheduleId) -> Response {
    let detail = match catalog::show_schedule(&app.platform, schedule).await {
        Ok(detail) => detail.schedule,
        Err(error) => return trouble(language, error),
    };
    let title = language.choose("대기실", "Waiting room");
    let enter = language.choose("줄 서기", "Join the queue");
    let words = language.choose(
        "아직 줄에 서 있지 않아요. 아래 버튼을 누르면 순번을 받아요.",
        "You have no place yet. The button below gives you one.",
    );
    let body = format!(
        "<form class=\"card pad stack\" method=\"post\" action=\"/queue/{schedule}\"><h1>{title}</h1>\
         <p>{} · {}</p><p>{words}</p><button class=\"btn primary\">{enter}</button></form>",
        escape(&detail.event_title),
        day(detail.starts_at)
    );
    Html::new(language, title).body(&body).into_response()
}

fn page(language: Language, schedule: ScheduleId, mut view: QueueView) -> Response {
    localise(&mut view, || language);
    let view = &view;
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
