//! Pages that need no scripts: the list, an event, the waiting room, tickets. Browsers with scripts
//! get the same addresses and take over from there.

mod html;
mod refunds;
mod session;

use super::App;
use super::error::ApiError;
use super::extract::{CameFrom, Id};
use super::language::Language;
use super::queue::localise;
use super::tickets::qr_picture;
use app::catalog::{self, EventDetail};
use app::paging::PageAsk;
use app::ports::catalog::EventFilter;
use app::queue::{self, QueueState, QueueView};
use app::sessions::Caller;
use app::{Error, accounts, tickets};
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use domain::accounts::Email;
use domain::{EventId, ScheduleId, Won};
use html::{Html, day, escape, link, money};
use serde::Deserialize;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(list))
        .route("/events/{id}", get(event))
        .route("/queue/{id}", get(waiting_room))
        .route("/tickets", get(my_tickets))
        .route("/enter", get(show_form).post(log_in))
}

/// Events on the first page.
const LISTED: u32 = 50;

/// Seconds between two looks at the line.
const LOOK_EVERY_S: u32 = 5;

async fn list(State(app): State<App>, headers: HeaderMap) -> Response {
    let language = Language::of(&headers);
    let page = PageAsk { limit: LISTED, after: None };
    let title = language.choose("공연", "Concerts");
    let events = match catalog::list_events(&app.platform, EventFilter::default(), page).await {
        Ok(page) => page.items,
        Err(error) => return trouble(language, error),
    };
    let items = events.iter().map(|event| {
        let where_to = format!("/events/{}", event.id);
        let place = format!("{} · {} · {}", event.artist, event.venue_name, event.city);
        format!(
            "<li class=\"card pad stack tight\"><h2><a href=\"{where_to}\">{}</a></h2>\
             <p class=\"quiet\">{}</p></li>",
            escape(&event.title),
            escape(&place)
        )
    });
    let body = format!("<h1>{title}</h1><ul class=\"events\">{}</ul>", items.collect::<String>());
    Html::new(language, title).body(&body).reply(&headers)
}

async fn event(State(app): State<App>, headers: HeaderMap, Id(event): Id<EventId>) -> Response {
    let language = Language::of(&headers);
    match catalog::show_event(&app.platform, event).await {
        Ok(detail) => event_page(language, &detail).reply(&headers),
        Err(error) => trouble(language, error),
    }
}

fn event_page(language: Language, detail: &EventDetail) -> Html {
    let event = &detail.event;
    let place = format!("{} · {} · {}", event.artist, event.venue_name, event.city);
    let dates = detail.schedules.iter().map(|schedule| {
        let mut prices: Vec<_> = schedule.prices.iter().collect();
        prices.sort_by_key(|(_, price)| std::cmp::Reverse(**price));
        let price =
            |(grade, price): (&String, &Won)| format!("{} {}", escape(grade), money(*price));
        let prices: Vec<String> = prices.into_iter().map(price).collect();
        let enter = language.choose("예매하기", "Book");
        format!(
            "<section class=\"card pad stack\"><h2>{}</h2><p class=\"quiet\">{} {}</p><p>{}</p>\
             <p>{}</p><h3>{}</h3><ul>{}</ul></section>",
            day(schedule.starts_at),
            language.choose("예매 시작", "Sale starts"),
            day(schedule.sale_starts_at),
            prices.join(" · "),
            link(&format!("/queue/{}", schedule.id), enter),
            language.choose("취소와 환불", "Canceling and refunds"),
            refunds::lines(language, &detail.refund_rules, schedule.starts_at)
        )
    });
    let body = format!(
        "<h1>{}</h1><p>{}</p><p class=\"prose\">{}</p>{}",
        escape(&event.title),
        escape(&place),
        escape(&event.description),
        dates.collect::<String>()
    );
    Html::new(language, &event.title).about(&place).body(&body)
}

/// Entering again gives the same place, so looking again is entering again.
async fn waiting_room(
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
            session::renew(&app, caller, waiting_page(language, schedule, &view)).into_response()
        }
        Err(error) => trouble(language, error),
    }
}

async fn look(app: &App, caller: Caller, schedule: ScheduleId) -> app::Result<QueueView> {
    let asker = queue::asker(&app.platform, schedule, Some(caller), None)?;
    queue::check_pace(&app.platform, schedule, asker.fan)?;
    queue::enter(&app.platform, asker, schedule, None).await
}

fn waiting_page(language: Language, schedule: ScheduleId, view: &QueueView) -> Response {
    let words = match view.state {
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
    };
    let title = language.choose("대기실", "Waiting room");
    let kept = language.choose(
        "순번은 서버에 저장되어 있어요. 이 화면은 저절로 새로워져요.",
        "Your place is kept on the server. This page looks again by itself.",
    );
    let message = view.message.as_deref().map(escape).unwrap_or_default();
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p class=\"big\">{words}</p>\
         <p>{message}</p><p class=\"quiet\">{kept}</p></section>"
    );
    let is_waiting = matches!(view.state, QueueState::Lobby | QueueState::Waiting);
    let page = Html::new(language, title).body(&body);
    if is_waiting { page.again_in(LOOK_EVERY_S) } else { page }.into_response()
}

async fn my_tickets(State(app): State<App>, headers: HeaderMap) -> Response {
    let language = Language::of(&headers);
    let Some(caller) = session::caller(&app, &headers).await else {
        return to_form(language, "/tickets");
    };
    let page = PageAsk { limit: LISTED, after: None };
    let owned = match tickets::my_tickets(&app.platform, caller.user, page).await {
        Ok(page) => page.items,
        Err(error) => return trouble(language, error),
    };
    let title = language.choose("내 티켓", "My tickets");
    let items = owned.iter().map(|ticket| {
        let picture = qr_picture(&tickets::qr_text(&app.platform, ticket)).unwrap_or_default();
        // The drawing begins with a line for files, which a page does not take.
        let picture = picture.find("<svg").map_or("", |at| &picture[at..]);
        format!(
            "<li class=\"card pad stack\"><h2>{}</h2><p class=\"num\">{} · {} · {}</p>\
             <div class=\"code\">{picture}</div></li>",
            escape(&ticket.event_title),
            day(ticket.starts_at),
            escape(&ticket.seat_number),
            escape(&ticket.booking_number)
        )
    });
    let nothing = language.choose("아직 티켓이 없어요.", "You have no tickets yet.");
    let list: String = items.collect();
    let list = if list.is_empty() { format!("<p>{nothing}</p>") } else { list };
    let body = format!("<h1>{title}</h1><ul class=\"tickets\">{list}</ul>");
    session::renew(&app, caller, Html::new(language, title).body(&body)).into_response()
}

#[derive(Deserialize)]
struct NextParams {
    #[serde(default)]
    next: String,
}

async fn show_form(headers: HeaderMap, Query(params): Query<NextParams>) -> Response {
    form(Language::of(&headers), &params.next, None)
}

fn form(language: Language, next: &str, problem: Option<&str>) -> Response {
    let title = language.choose("로그인", "Log in");
    let problem = problem.map_or(String::new(), |text| {
        format!("<p class=\"note danger\" role=\"alert\">{}</p>", escape(text))
    });
    let body = format!(
        "<form class=\"card pad stack\" method=\"post\" action=\"/enter\"><h1>{title}</h1>{problem}\
         <input type=\"hidden\" name=\"next\" value=\"{}\">\
         <label class=\"field\">{}<input name=\"email\" type=\"email\" required></label>\
         <label class=\"field\">{}<input name=\"password\" type=\"password\" required></label>\
         <button class=\"btn primary\">{title}</button></form>",
        escape(next),
        language.choose("이메일", "Email"),
        language.choose("비밀번호", "Password")
    );
    Html::new(language, title).body(&body).into_response()
}

#[derive(Deserialize)]
struct LogInForm {
    email: String,
    password: String,
    #[serde(default)]
    next: String,
}

async fn log_in(
    State(app): State<App>,
    headers: HeaderMap,
    CameFrom(origin): CameFrom,
    body: Bytes,
) -> Response {
    let language = Language::of(&headers);
    let wrong = language.choose("로그인하지 못했어요.", "You could not be logged in.");
    let Ok(given) = serde_urlencoded::from_bytes::<LogInForm>(&body) else {
        return form(language, "", Some(wrong));
    };
    let Ok(email) = Email::try_from(given.email) else {
        return form(language, &given.next, Some(wrong));
    };
    let credentials = accounts::Credentials { email, password: given.password, code: None };
    match accounts::log_in(&app.platform, credentials, origin).await {
        Ok(logged_in) => session::begin(&logged_in, &given.next),
        Err(Error::Refused(_)) => form(language, &given.next, Some(wrong)),
        Err(error) => trouble(language, error),
    }
}

fn to_form(language: Language, next: &str) -> Response {
    let title = language.choose("로그인이 필요해요", "Please log in first");
    let address = format!("/enter?next={next}");
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p>{}</p></section>",
        link(&address, language.choose("로그인", "Log in"))
    );
    Html::new(language, title).body(&body).into_response()
}

/// A page instead of a problem: people read it.
fn trouble(language: Language, error: Error) -> Response {
    let status = ApiError::from(error).into_response().status();
    let title = match status {
        StatusCode::NOT_FOUND => language.choose("없는 페이지예요", "There is no such page"),
        _ => language.choose("잠시 뒤 다시 시도해 주세요", "Please try again in a moment"),
    };
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p>{}</p></section>",
        link("/", language.choose("공연 목록으로", "To the concerts"))
    );
    (status, Html::new(language, title).body(&body)).into_response()
}
