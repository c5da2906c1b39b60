//! The waiting room without JavaScript: a form enters, and then the page reloads itself.

use crate::http::extract::Id;
use crate::http::language::Language;
use crate::routes::App;
use crate::routes::no_js::html::{Html, day, escape, link};
use crate::routes::no_js::{session, to_form, trouble};
use crate::routes::waiting_room::queue::localise;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Redirect, Response};
use podo_app::identity::sessions::Caller;
use podo_app::waiting_room;
use podo_app::waiting_room::{QueueState, QueueView};
use podo_app::{Error, catalog};
use podo_domain::waiting_room::Outlook;
use podo_domain::{Refusal, ScheduleId};

/// Seconds between two reloads.
const LOOK_EVERY_S: u32 = 5;

/// The visitor's place, or a form to enter. A GET never enters, because any site can link to this
/// page.
pub(crate) async fn show(
    State(app): State<App>,
    headers: HeaderMap,
    Id(schedule): Id<ScheduleId>,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/queue/{schedule}"));
    };
    let shown = match look(&app, visitor.caller, schedule).await {
        Ok(view) => {
            let (store, now) = (&*app.context.store, app.context.now());
            match app.context.catalog.schedules.get(store, schedule, now).await {
                Ok(date) => page(language, schedule, &date.time_zone, view),
                Err(error) => trouble(language, error),
            }
        }
        Err(Error::Refused(Refusal::NotInQueue | Refusal::EntryExpired)) => {
            door(&app, language, schedule).await
        }
        Err(error) => trouble(language, error),
    };
    visitor.keep(shown)
}

async fn look(app: &App, caller: Caller, schedule: ScheduleId) -> podo_app::Result<QueueView> {
    let asker = waiting_room::asker(&app.context, schedule, Some(caller), None)?;
    waiting_room::check_pace(&app.context, schedule, asker.fan)?;
    waiting_room::status(&app.context, asker, schedule).await
}

/// Enters. Only our own form can: the edge refuses requests from other sites' pages.
pub(crate) async fn enter(
    State(app): State<App>,
    headers: HeaderMap,
    Id(schedule): Id<ScheduleId>,
) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, &format!("/queue/{schedule}"));
    };
    let entered = match waiting_room::asker(&app.context, schedule, Some(visitor.caller), None) {
        Ok(asker) => waiting_room::enter(&app.context, asker, None).await,
        Err(error) => Err(error.into()),
    };
    visitor.keep(match entered {
        Ok(_) => Redirect::to(&format!("/queue/{schedule}")).into_response(),
        Err(error) => trouble(language, error),
    })
}

/// The form to enter, for visitors without a place.
async fn door(app: &App, language: Language, schedule: ScheduleId) -> Response {
    let detail = match catalog::show_schedule(&app.context, schedule).await {
        Ok(detail) => detail.schedule,
        Err(error) => return trouble(language, error),
    };
    let title = language.say("대기실", "Waiting room");
    let enter = language.say("줄 서기", "Join the queue");
    let words = language.say(
        "아직 줄에 서 있지 않아요. 아래 버튼을 누르면 순번을 받아요.",
        "You don't have a place yet. Press the button to join.",
    );
    let body = format!(
        "<form class=\"card pad stack\" method=\"post\" action=\"/queue/{schedule}\"><h1>{title}</h1>\
         <p>{} · {}</p><p>{words}</p><button class=\"btn primary\">{enter}</button></form>",
        escape(&detail.event_title),
        day(detail.starts_at, &detail.time_zone)
    );
    Html::new(language, title).body(&body).into_response()
}

fn page(language: Language, schedule: ScheduleId, zone: &str, mut view: QueueView) -> Response {
    localise(&mut view, || language);
    let view = &view;
    let title = language.say("대기실", "Waiting room");
    let kept = language.say(
        "순번은 서버에 저장되어 있어요. 이 화면은 자동으로 새로고침돼요.",
        "Your place is saved on our server. This page refreshes automatically.",
    );
    let message = view.message.as_deref().map(escape).unwrap_or_default();
    let full = if is_full(view) { full(language, schedule) } else { String::new() };
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1>{full}<p class=\"big\">{}</p>\
         <p>{message}</p><p class=\"quiet\">{kept}</p></section>",
        words(language, schedule, zone, view)
    );
    let is_waiting = matches!(view.state, QueueState::Lobby | QueueState::Waiting);
    let page = Html::new(language, title).body(&body);
    if is_waiting { page.again_in(LOOK_EVERY_S) } else { page }.into_response()
}

/// Everything is sold: waiting fans learn it now, not when they are admitted.
fn is_full(view: &QueueView) -> bool {
    view.chance == Some(Outlook::None)
}

fn full(language: Language, schedule: ScheduleId) -> String {
    let title = language.say("모든 좌석이 팔렸어요.", "Sold out.");
    let words = language.say(
        "취소된 좌석이 나오면 취소표 대기 순서대로 먼저 드려요. 줄에 남아 있어도 되지만, 지금은 살 수 있는 좌석이 없어요.",
        "Returned seats go to the standby list first. You can stay in the queue, but there's nothing to buy right now.",
    );
    let to = format!("/standby/{schedule}");
    let join = link(&to, language.say("취소표 대기", "Join the standby list"));
    format!("<h2>{title}</h2><p>{words}</p><p>{join}</p>")
}

fn words(language: Language, schedule: ScheduleId, zone: &str, view: &QueueView) -> String {
    match view.state {
        QueueState::Lobby => {
            let opens = view.opens_at.map(|at| day(at, zone)).unwrap_or_default();
            let words =
                language.say("예매 시작을 기다리고 있어요.", "Waiting for the sale to open.");
            format!("{words} {opens}")
        }
        QueueState::Waiting => {
            let words = language.say("번째로 기다리고 있어요.", " in the queue.");
            format!("<span class=\"hero num\">{}</span>{words}", view.position)
        }
        QueueState::Admitted => {
            let words = language.say(
                "입장할 차례예요. 좌석 고르기에는 자바스크립트가 필요해요.",
                "It's your turn. Choosing seats requires JavaScript.",
            );
            let seats = format!("/#/queue/{schedule}");
            format!("{words} {}", link(&seats, language.say("좌석 고르기", "Choose seats")))
        }
        QueueState::Expired => {
            language.say("시간이 끝났어요.", "Your time to book has expired.").to_owned()
        }
        QueueState::Closed => {
            language.say("대기실이 닫혀 있어요.", "The waiting room is closed.").to_owned()
        }
    }
}
