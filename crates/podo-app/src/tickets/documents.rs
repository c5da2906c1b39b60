//! Tickets and receipts as PDF documents, and what is attached to a mail about tickets.

use crate::booking::reservations::issued::customer_of;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::field;
use crate::messaging::port::announcements::{ShowFacts, Subject};
use crate::messaging::port::channels::Attachment;
use crate::messaging::templates::words;
use crate::messaging::templates::words::Zone;
use crate::operations::throttling::turns::Turns;
use crate::tickets::calendar::calendar;
use crate::tickets::holders::{my_ticket, qr_text};
use crate::tickets::port::TicketView;
use podo_domain::messaging::messages::Language;
use podo_domain::tickets::TicketStatus;
use podo_domain::{Refusal, ReservationId, TicketId, UserId};
use std::sync::Arc;

/// Most tickets in one document.
const PAGES_MAX: usize = 10;

/// Longest line on a ticket; a longer one is cut.
const LINE_MAX: usize = 120;

/// Documents made at once by this process; each needs a core and a few megabytes.
const PRINTED_AT_ONCE: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageSize {
    A4,
    /// As narrow as a phone.
    Mobile,
}

/// One ticket, worded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketPage {
    pub organiser: String,
    pub title: String,
    pub artist: String,
    /// Label and text.
    pub lines: Vec<(String, String)>,
    pub seat: String,
    pub grade: String,
    /// `None` if codes rotate: a printed one would not open the gate.
    pub code: Option<String>,
    pub note: String,
}

/// The receipt of an order, worded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiptPage {
    pub organiser: String,
    pub title: String,
    pub subject: String,
    /// Labels with texts, in parts with a rule between them.
    pub parts: Vec<Vec<(String, String)>>,
}

/// Makes documents, without I/O.
pub trait TicketPrinter: Send + Sync {
    /// A receipt as a PDF, on A4.
    fn print_receipt(&self, receipt: &ReceiptPage) -> Result<Vec<u8>>;

    /// A PDF with a page for each ticket.
    fn print(&self, ticket_pages: &[TicketPage], size: PageSize) -> Result<Vec<u8>>;
}

/// The printer with its limit.
#[derive(Clone)]
pub struct TicketPress {
    printer: Arc<dyn TicketPrinter>,
    turns: Turns,
}

impl TicketPress {
    pub fn new(printer: Arc<dyn TicketPrinter>) -> TicketPress {
        TicketPress { printer, turns: Turns::new(PRINTED_AT_ONCE) }
    }

    async fn print(&self, mut ticket_pages: Vec<TicketPage>, size: PageSize) -> Result<Vec<u8>> {
        ticket_pages.truncate(PAGES_MAX);
        let printer = self.printer.clone();
        self.turns.take(move || printer.print(&ticket_pages, size)).await
    }

    pub(crate) async fn print_receipt(&self, receipt: ReceiptPage) -> Result<Vec<u8>> {
        let printer = self.printer.clone();
        self.turns.take(move || printer.print_receipt(&receipt)).await
    }
}

/// One ticket of the fan as a PDF. Refusals: `NotFound`, `TicketVoid`.
pub async fn ticket_pdf(
    context: &AppContext,
    fan: UserId,
    ticket: TicketId,
    size: PageSize,
) -> Result<Vec<u8>> {
    let ticket = my_ticket(context, fan, ticket).await?;
    if ticket.status == TicketStatus::Void {
        return Err(Refusal::TicketVoid.into());
    }
    let show = show_of(context, ticket.reservation_id).await?;
    let language = language_of(context, fan).await?;
    let holder = holder(context, fan).await?;
    let ticket_page = ticket_page(context, &ticket, &show, &holder, language);
    let press = context.tickets.press.as_ref();
    let press = press.ok_or_else(|| Error::broken("this program has no printer of tickets"))?;
    press.print(vec![ticket_page], size).await
}

/// The valid tickets of an order of the box office, in the customer's name. Refusals: `NotFound`,
/// `TicketVoid`.
pub async fn issued_pdf(
    context: &AppContext,
    reservation: ReservationId,
    size: PageSize,
) -> Result<Vec<u8>> {
    let order = customer_of(context, reservation).await?;
    let mut tickets = context.store.tickets_in(reservation, order.actor_id).await?;
    tickets.retain(|ticket| ticket.status == TicketStatus::Valid);
    if tickets.is_empty() {
        return Err(Refusal::TicketVoid.into());
    }
    let show = show_of(context, reservation).await?;
    let language = language_of(context, order.actor_id).await?;
    let page = |ticket: &TicketView| ticket_page(context, ticket, &show, &order.name, language);
    let pages: Vec<TicketPage> = tickets.iter().map(page).collect();
    let press = context.tickets.press.as_ref();
    let press = press.ok_or_else(|| Error::broken("this program has no printer of tickets"))?;
    press.print(pages, size).await
}

/// The show of a ticket as a calendar file.
pub async fn ticket_calendar(
    context: &AppContext,
    fan: UserId,
    ticket: TicketId,
) -> Result<String> {
    let ticket = my_ticket(context, fan, ticket).await?;
    let show = show_of(context, ticket.reservation_id).await?;
    Ok(calendar(&show, &context.rules.brand.home, context.now()))
}

/// The valid tickets of a fan in one booking as a PDF, and the show as a calendar file; nothing if
/// the fan has none any more.
pub(crate) async fn attachments(
    context: &AppContext,
    fan: UserId,
    reservation: ReservationId,
    language: Language,
) -> Result<Vec<Attachment>> {
    let mut tickets = context.store.tickets_in(reservation, fan).await?;
    tickets.retain(|ticket| ticket.status == TicketStatus::Valid);
    let (Some(press), false) = (&context.tickets.press, tickets.is_empty()) else {
        return Ok(Vec::new());
    };
    let show = show_of(context, reservation).await?;
    let holder = holder(context, fan).await?;
    let ticket_page = |ticket: &TicketView| ticket_page(context, ticket, &show, &holder, language);
    let ticket_pages: Vec<TicketPage> = tickets.iter().map(ticket_page).collect();
    let number = &tickets[0].booking_number;
    let pdf = Attachment {
        name: format!("{number}.pdf"),
        media_type: "application/pdf",
        bytes: press.print(ticket_pages, PageSize::A4).await?,
    };
    let file = calendar(&show, &context.rules.brand.home, context.now());
    let calendar = Attachment {
        name: format!("{number}.ics"),
        media_type: "text/calendar; charset=utf-8; method=PUBLISH",
        bytes: file.into_bytes(),
    };
    Ok(vec![pdf, calendar])
}

pub(crate) async fn show_of(context: &AppContext, reservation: ReservationId) -> Result<ShowFacts> {
    let found = context.store.show_facts(vec![Subject::Reservation(reservation)]).await?;
    Ok(found.into_iter().flatten().next().ok_or(Refusal::NotFound)?)
}

pub(crate) async fn language_of(context: &AppContext, fan: UserId) -> Result<Language> {
    Ok(crate::messaging::notifications::settings(context, fan).await?.language)
}

/// The name on the ticket, which the gate may compare with a document.
pub(crate) async fn holder(context: &AppContext, fan: UserId) -> Result<String> {
    let user = context.store.user(fan).await?.ok_or(Refusal::NotFound)?;
    context.keyring.decrypt(&field("name", fan), &user.name)
}

fn ticket_page(
    context: &AppContext,
    ticket: &TicketView,
    show: &ShowFacts,
    holder: &str,
    language: Language,
) -> TicketPage {
    let say = |ko: &str, en: &str| match language {
        Language::Ko => ko.to_owned(),
        Language::En => en.to_owned(),
    };
    let rotates = context.rules.tickets_rotate;
    let place = format!("{} {}", show.venue, show.hall);
    let address = words::address(&show.city, &show.address, language);
    let zone = Zone { name: &show.time_zone, home: &context.rules.time_zone };
    let when = words::moment(show.starts_at, zone, language);
    let brand = &context.rules.brand.name;
    TicketPage {
        organiser: cut(if brand.is_empty() { "Podo" } else { brand }),
        title: cut(&show.title),
        artist: cut(&show.artist),
        lines: vec![
            (say("일시", "Date"), cut(&when)),
            (say("장소", "Venue"), cut(&place)),
            (say("주소", "Address"), cut(&address)),
            (say("관람자", "Name"), cut(holder)),
            (say("예매번호", "Booking"), cut(&ticket.booking_number)),
        ]
        .into_iter()
        .chain(type_lines(ticket, language))
        .collect(),
        seat: cut(&ticket.seat_number),
        grade: cut(&ticket.grade),
        code: (!rotates).then(|| qr_text(context, ticket)),
        note: match rotates {
            true => say(
                "이 공연은 30초마다 바뀌는 코드로 입장해요. 입구에서 모바일 티켓을 보여 주세요.",
                "This show admits codes that change every 30 seconds: show your mobile ticket.",
            ),
            false => say(
                "입구에서 이 코드를 보여 주세요. 코드마다 한 번만 입장할 수 있어요.",
                "Show this code at the entrance. Each code admits one person, once.",
            ),
        },
    }
}

/// The ticket's type, with the proof that the gate asks for.
fn type_lines(ticket: &TicketView, language: Language) -> Vec<(String, String)> {
    let Some(mark) = &ticket.ticket_type else { return Vec::new() };
    let (labels, name, proof) = match language {
        Language::Ko => (("권종", "확인 서류"), &mark.name, &mark.proof),
        Language::En => (("Ticket type", "Please bring"), &mark.name_en, &mark.proof_en),
    };
    let proof = proof.as_ref().map(|proof| (labels.1.to_owned(), cut(proof)));
    [(labels.0.to_owned(), cut(name))].into_iter().chain(proof).collect()
}

pub(crate) fn cut(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).take(LINE_MAX).collect()
}
