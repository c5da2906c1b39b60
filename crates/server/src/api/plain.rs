//! Pages that need no scripts: the list, an event, the waiting room, the standby list, tickets, and
//! the way to an account. Browsers with scripts get the same addresses and take over from there.

mod entrance;
mod form;
mod html;
mod next;
mod refunds;
mod session;
mod standby;
mod waiting;

use super::App;
use super::error::ApiError;
use super::extract::Id;
use super::language::Language;
use super::tickets::qr_picture;
use app::catalog::{self, EventDetail};
use app::paging::PageAsk;
use app::ports::catalog::EventFilter;
use app::{Error, tickets};
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use domain::{EventId, Won};
use html::{Html, day, escape, link, money};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(list))
        .route("/events/{id}", get(event))
        .route("/queue/{id}", get(waiting::show).post(waiting::enter))
        .route("/standby/{id}", get(standby::show).post(standby::join))
        .route("/tickets", get(my_tickets))
        .route("/enter", get(entrance::show_log_in).post(entrance::log_in))
        .route("/join", get(entrance::show_sign_up).post(entrance::sign_up))
        .route("/join/confirm", post(entrance::confirm))
}

/// Events on the first page.
const LISTED: u32 = 50;

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
    let bound = match event.transferable {
        true => String::new(),
        false => {
            let ko = "다른 사람에게 보낼 수 없는 티켓이에요.";
            let en = "Tickets of this concert cannot be given to somebody else.";
            format!("<p>{}</p>", language.choose(ko, en))
        }
    };
    let body = format!(
        "<h1>{}</h1><p>{}</p><p class=\"prose\">{}</p>{bound}{}",
        escape(&event.title),
        escape(&place),
        escape(&event.description),
        dates.collect::<String>()
    );
    Html::new(language, &event.title).about(&place).body(&body)
}

async fn my_tickets(State(app): State<App>, headers: HeaderMap) -> Response {
    let language = Language::of(&headers);
    let Some(visitor) = session::visitor(&app, &headers).await else {
        return to_form(language, "/tickets");
    };
    let page = PageAsk { limit: LISTED, after: None };
    let owned = match tickets::my_tickets(&app.platform, visitor.caller.user, page).await {
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
    let list = match owned.is_empty() {
        true => format!("<p>{nothing}</p>"),
        false => format!("<ul class=\"tickets\">{}</ul>", items.collect::<String>()),
    };
    let body = format!("<h1>{title}</h1>{list}");
    visitor.keep(Html::new(language, title).body(&body))
}

fn to_form(language: Language, next: &str) -> Response {
    let title = language.choose("로그인이 필요해요", "Please log in first");
    let to = |page: &str| format!("{page}?next={next}");
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p class=\"row\">{} {}</p></section>",
        link(&to("/enter"), language.choose("로그인", "Log in")),
        link(&to("/join"), language.choose("회원가입", "Sign up"))
    );
    Html::new(language, title).body(&body).into_response()
}

/// A page instead of a problem: people read it.
fn trouble(language: Language, error: Error) -> Response {
    let (status, words) = ApiError::from(error).told(language);
    let title = match status {
        StatusCode::NOT_FOUND => language.choose("없는 페이지예요", "There is no such page"),
        _ => language.choose("지금은 할 수 없어요", "This cannot be done now"),
    };
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p>{}</p><p>{}</p></section>",
        escape(&words),
        link("/", language.choose("공연 목록으로", "To the concerts"))
    );
    (status, Html::new(language, title).body(&body)).into_response()
}
