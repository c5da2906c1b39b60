//! Pages without JavaScript: the list, an event, the waiting room, the standby list, tickets, and
//! sign-up and login. With JavaScript, the app takes over at the same addresses.

mod draws;
mod entrance;
mod form;
mod html;
mod legal;
mod next;
mod phases;
mod recovery;
mod refunds;
mod session;
mod standby;
mod waiting;

use crate::http::extract::Id;
use crate::http::language::Language;
use crate::http::problem::ApiError;
use crate::routes::App;
use crate::routes::tickets::qr_picture;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use html::{Html, day, escape, link, money, picture};
use podo_app::Error;
use podo_app::booking::reservations::my_reservations;
use podo_app::catalog;
use podo_app::catalog::port::EventFilter;
use podo_app::catalog::{EventDetail, ScheduleView};
use podo_app::payments::my_payment;
use podo_app::store::PageRequest;
use podo_app::tickets::holders;
use podo_app::tickets::port::TicketView;
use podo_domain::booking::order::options::{Fee, Fees};
use podo_domain::booking::reservations::ReservationStatus;
use podo_domain::messaging::messages::Language::{En, Ko};
use podo_domain::payments::deposits::Bank;
use podo_domain::payments::refund_policy::RefundPeriod;
use podo_domain::{Currency, EventId, ScheduleId, UserId, Won};

pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(list))
        .route("/events/{id}", get(event))
        .route("/queue/{id}", get(waiting::show).post(waiting::enter))
        .route("/queue/{id}/apply", get(draws::show).post(draws::apply))
        .route("/queue/{id}/verify", get(phases::show).post(phases::verify))
        .route("/standby/{id}", get(standby::show).post(standby::join))
        .route("/tickets", get(my_tickets))
        .route("/enter", get(entrance::show_log_in).post(entrance::log_in))
        .route("/enter/forgotten", get(recovery::show).post(recovery::ask))
        .route("/enter/reset", get(recovery::show).post(recovery::reset))
        .route("/join", get(entrance::show_sign_up).post(entrance::sign_up))
        .route("/join/confirm", post(entrance::confirm))
        .route("/terms", get(legal::terms))
        .route("/privacy", get(legal::privacy))
        .route("/business", get(legal::business))
}

/// Events on the home page.
const LISTED: u32 = 50;

async fn list(State(app): State<App>, headers: HeaderMap) -> Response {
    let language = Language::of(&headers);
    let page = PageRequest { limit: LISTED, after: None };
    let title = language.say("공연", "Concerts");
    let events = match catalog::list_events(&app.context, EventFilter::default(), page).await {
        Ok(page) => page.items,
        Err(error) => return trouble(language, error),
    };
    let items = events.iter().map(|event| {
        let where_to = format!("/events/{}", event.id);
        let place = format!("{} · {} · {}", event.artist, event.venue_name, event.city);
        format!(
            "<li class=\"card pad stack tight\">{}<h2><a href=\"{where_to}\">{}</a></h2>\
             <p class=\"quiet\">{}</p></li>",
            event.poster.as_ref().map_or(String::new(), |it| picture(it, "poster art", "320px")),
            escape(&event.title),
            escape(&place)
        )
    });
    let body = format!("<h1>{title}</h1><ul class=\"events\">{}</ul>", items.collect::<String>());
    Html::new(language, title).body(&body).reply(&headers)
}

async fn event(State(app): State<App>, headers: HeaderMap, Id(event): Id<EventId>) -> Response {
    let language = Language::of(&headers);
    match catalog::show_event(&app.context, event).await {
        Ok(detail) => {
            let page = event_page(language, &detail);
            page.picture(&app.home, detail.event.poster.as_ref()).reply(&headers)
        }
        Err(error) => trouble(language, error),
    }
}

/// The fees of a date, which are charged in addition to its prices.
fn fee_words(language: Language, currency: Currency, fees: &Fees) -> Vec<String> {
    let words = |fee: Option<Fee>, name: &'static str| {
        fee.map(|fee| format!("{name} {}", money(fee.amount, currency, language)))
    };
    let per_ticket = language.say("예매 수수료 1매당", "Booking fee per ticket");
    let booking = words(fees.booking, per_ticket);
    let order = words(fees.order, language.say("주문 수수료", "Order fee"));
    booking.into_iter().chain(order).collect()
}

/// A ticket's type and what the gate asks for.
fn type_words(language: Language, ticket: &TicketView) -> String {
    let Some(mark) = &ticket.ticket_type else { return String::new() };
    let (name, proof) = language.choose((&mark.name, &mark.proof), (&mark.name_en, &mark.proof_en));
    let proof = proof.as_ref().map(|proof| format!(" ({})", escape(proof)));
    format!(" · {}{}", escape(name), proof.unwrap_or_default())
}

/// What a cancellation of one date's tickets costs, by day.
fn periods_of(detail: &EventDetail, schedule: ScheduleId) -> &[RefundPeriod] {
    let found = detail.refund_dates.iter().find(|dates| dates.schedule_id == schedule);
    found.map_or(&[], |dates| &dates.periods)
}

/// A date with its prices, phases and refunds.
fn date_card(language: Language, detail: &EventDetail, schedule: &ScheduleView) -> String {
    let event = &detail.event;
    let zone = &event.time_zone;
    let mut prices: Vec<_> = schedule.prices.iter().collect();
    prices.sort_by_key(|(_, price)| std::cmp::Reverse(**price));
    let price = |(grade, price): (&String, &Won)| {
        format!("{} {}", escape(grade), money(*price, event.currency, language))
    };
    let prices: Vec<String> = prices
        .into_iter()
        .map(price)
        .chain(fee_words(language, event.currency, &schedule.fees))
        .collect();
    let next = schedule.next_prices.as_ref().map_or(String::new(), |next| {
        let list: Vec<String> = next.prices.iter().map(price).collect();
        let (from, list) = (day(next.from, zone), list.join(" · "));
        let words = match language {
            Language::Korean => format!("{from}부터 {list}"),
            Language::English => format!("From {from}: {list}"),
            Language::Japanese => format!("{from}から {list}"),
            Language::Chinese => format!("{from} 起：{list}"),
        };
        format!("<p>{words}</p>")
    });
    let enter = language.say("예매하기", "Book");
    format!(
        "<section class=\"card pad stack\"><h2>{}</h2><p class=\"quiet\">{} {}</p><p>{}</p>\
         {next}{}<p>{}</p><h3>{}</h3><ul>{}</ul></section>",
        day(schedule.starts_at, zone),
        language.say("예매 시작", "Sale starts"),
        day(schedule.sale_starts_at, zone),
        prices.join(" · "),
        phases::lines(language, zone, &schedule.phases),
        link(&format!("/queue/{}", schedule.id), enter),
        language.say("취소와 환불", "Canceling and refunds"),
        refunds::lines(
            language,
            event.currency,
            &detail.refund_rules,
            periods_of(detail, schedule.id)
        )
    )
}

fn event_page(language: Language, detail: &EventDetail) -> Html {
    let event = &detail.event;
    let place = format!("{} · {} · {}", event.artist, event.venue_name, event.city);
    let dates = detail.schedules.iter().map(|schedule| date_card(language, detail, schedule));
    let bound = match event.transferable {
        true => String::new(),
        false => {
            let words = language.say(
                "다른 사람에게 보낼 수 없는 티켓이에요.",
                "Tickets for this concert can't be transferred.",
            );
            format!("<p>{words}</p>")
        }
    };
    let age = match event.minimum_age.years() {
        0 => language.say("전체 관람가", "All ages").to_owned(),
        years => match language {
            Language::Korean => format!("만 {years}세 이상 관람가"),
            Language::English => format!("Ages {years} and over"),
            Language::Japanese => format!("{years}歳以上"),
            Language::Chinese => format!("{years} 岁及以上"),
        },
    };
    let poster =
        event.poster.as_ref().map_or(String::new(), |it| picture(it, "poster tall", "200px"));
    let gallery: String = detail
        .gallery
        .iter()
        .map(|it| picture(it, "picture", "(max-width: 640px) 90vw, 320px"))
        .collect();
    let address = format!("{} · {}", event.venue_name, detail.venue_address);
    let body = format!(
        "{poster}<h1>{}</h1><p>{}</p><p>{}</p><p>{age}</p><p class=\"prose\">{}</p>{bound}{}{gallery}",
        escape(&event.title),
        escape(&place),
        escape(&address),
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
    let page = PageRequest { limit: LISTED, after: None };
    let owned = match holders::my_tickets(&app.context, visitor.caller.user, page).await {
        Ok(page) => page.items,
        Err(error) => return trouble(language, error),
    };
    let title = language.say("내 티켓", "My tickets");
    let items = owned.iter().map(|ticket| {
        let picture = qr_picture(&holders::qr_text(&app.context, ticket)).unwrap_or_default();
        // An inline SVG must not have the XML declaration of a file.
        let picture = picture.find("<svg").map_or("", |at| &picture[at..]);
        format!(
            "<li class=\"card pad stack\"><h2>{}</h2><p class=\"num\">{} · {} · {}</p>\
             <div class=\"code\">{picture}</div></li>",
            escape(&ticket.event_title),
            day(ticket.starts_at, &ticket.time_zone),
            escape(&ticket.seat_number),
            escape(&ticket.booking_number) + &type_words(language, ticket)
        )
    });
    let nothing = language.say("아직 티켓이 없어요.", "You have no tickets yet.");
    let list = match owned.is_empty() {
        true => format!("<p>{nothing}</p>"),
        false => format!("<ul class=\"tickets\">{}</ul>", items.collect::<String>()),
    };
    let awaited = awaited_deposits(&app, visitor.caller.user, language).await;
    let body = format!("<h1>{title}</h1>{awaited}{list}");
    visitor.keep(Html::new(language, title).body(&body))
}

/// Where and until when to pay, for each order that waits for a deposit. Tickets are shown without it if
/// it can't be read.
async fn awaited_deposits(app: &App, fan: UserId, language: Language) -> String {
    let page = PageRequest { limit: LISTED, after: None };
    let found = my_reservations(&app.context, fan, page).await;
    let mut cards = String::new();
    for reservation in found.map(|page| page.items).unwrap_or_default() {
        let (ReservationStatus::Paying, Some(payment)) =
            (reservation.status, reservation.deposit_payment_id)
        else {
            continue;
        };
        let Ok(payment) = my_payment(&app.context, fan, payment).await else { continue };
        let (currency, Some(deposit)) = (payment.currency, payment.deposit) else { continue };
        let name_of = |bank: Bank| language.choose(bank.name(Ko), bank.name(En));
        let bank = Bank::parse(&deposit.bank).map_or(&*deposit.bank, name_of);
        cards += &format!(
            "<li class=\"card pad stack\"><h2>{}</h2><p class=\"num\">{} {} ({})</p>\
             <p class=\"num\">{} · {} {}</p></li>",
            language.say("입금을 기다리고 있어요", "Waiting for your transfer"),
            escape(bank),
            escape(&deposit.account_number),
            escape(&deposit.holder),
            money(deposit.amount, currency, language),
            language.say("입금 기한", "Pay by"),
            day(deposit.due_at, &app.context.rules.time_zone),
        );
    }
    if cards.is_empty() { cards } else { format!("<ul class=\"tickets\">{cards}</ul>") }
}

fn to_form(language: Language, next: &str) -> Response {
    let title = language.say("로그인이 필요해요", "Please log in first");
    let to = |page: &str| format!("{page}?next={next}");
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p class=\"row\">{} {}</p></section>",
        link(&to("/enter"), language.say("로그인", "Log in")),
        link(&to("/join"), language.say("회원가입", "Sign up"))
    );
    Html::new(language, title).body(&body).into_response()
}

/// A page instead of a problem, because people read it.
fn trouble(language: Language, error: Error) -> Response {
    let (status, words) = ApiError::from(error).told(language);
    let title = match status {
        StatusCode::NOT_FOUND => language.say("없는 페이지예요", "There is no such page"),
        _ => language.say("지금은 할 수 없어요", "This cannot be done now"),
    };
    let body = format!(
        "<section class=\"card pad stack\"><h1>{title}</h1><p>{}</p><p>{}</p></section>",
        escape(&words),
        link("/", language.say("공연 목록으로", "To the concerts"))
    );
    (status, Html::new(language, title).body(&body)).into_response()
}
