//! Tickets in the wallets of phones: a signed file for Apple Wallet, a signed link for Google
//! Wallet.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::templates::words;
use crate::messaging::templates::words::Zone;
use crate::operations::throttling::turns::Turns;
use crate::tickets::documents::{cut, holder, language_of, show_of};
use crate::tickets::holders::{my_ticket, qr_text};
use crate::tickets::port::TicketView;
use podo_domain::messaging::messages::Language;
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::gate::gates_for;
use podo_domain::{Refusal, ReservationId, ScheduleId, TicketId, Timestamp, UserId};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Passes made at once by this process; a signature takes about a millisecond of a core.
const MADE_AT_ONCE: usize = 2;

/// One ticket, worded for a wallet. Every text is cut to a length, so a pass is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TicketPass {
    pub ticket: TicketId,
    pub reservation: ReservationId,
    pub schedule: ScheduleId,
    pub language: Language,
    pub organiser: String,
    /// `#5b2bd6`.
    pub color: String,
    /// The organiser's pages; empty if unknown.
    pub home: String,
    pub title: String,
    pub artist: String,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    /// Start and end in the venue's time, with its offset.
    pub starts_local: String,
    pub ends_local: String,
    /// The start in words.
    pub when: String,
    pub venue: String,
    pub address: String,
    pub section: Option<String>,
    pub seat: String,
    pub grade: String,
    /// The gates that admit the seat; empty if the hall has one entrance for all.
    pub gates: String,
    pub holder: String,
    pub booking_number: String,
    /// The content of the barcode.
    pub code: String,
}

/// Makes files for Apple Wallet, without I/O.
pub trait ApplePassMaker: Send + Sync {
    /// A `.pkpass` file, signed at this time.
    fn file(&self, pass: &TicketPass, now: Timestamp) -> Result<Vec<u8>>;
}

/// Makes links for Google Wallet, without I/O.
pub trait GooglePassMaker: Send + Sync {
    /// An address that puts the pass into the wallet of the phone that opens it.
    fn link(&self, pass: &TicketPass, now: Timestamp) -> Result<String>;
}

/// The makers that the settings have keys for.
#[derive(Clone)]
pub struct Passes {
    pub apple: Option<Arc<dyn ApplePassMaker>>,
    pub google: Option<Arc<dyn GooglePassMaker>>,
    turns: Turns,
}

impl Default for Passes {
    fn default() -> Passes {
        Passes::new(None, None)
    }
}

impl Passes {
    pub fn new(
        apple: Option<Arc<dyn ApplePassMaker>>,
        google: Option<Arc<dyn GooglePassMaker>>,
    ) -> Passes {
        Passes { apple, google, turns: Turns::new(MADE_AT_ONCE) }
    }
}

/// The wallets that tickets can be put into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Wallets {
    pub apple: bool,
    pub google: bool,
}

/// No wallet is offered if codes rotate. A pass has one code, and neither company can ask us for the
/// next one every half minute.
pub fn wallets(context: &AppContext) -> Wallets {
    let is_fixed = !context.rules.tickets_rotate;
    let passes = &context.tickets.passes;
    Wallets {
        apple: is_fixed && passes.apple.is_some(),
        google: is_fixed && passes.google.is_some(),
    }
}

/// One ticket of the fan for Apple Wallet. Refusals: `NotFound`, `TicketVoid`, `TicketUsed`,
/// `PassOff`.
pub async fn apple_pass(context: &AppContext, fan: UserId, ticket: TicketId) -> Result<Vec<u8>> {
    let pass = pass_for(context, fan, ticket, |it| it.apple).await?;
    let (passes, now) = (&context.tickets.passes, context.now());
    let maker = passes.apple.clone().ok_or(Refusal::PassOff)?;
    passes.turns.take(move || maker.file(&pass, now)).await
}

/// One ticket of the fan for Google Wallet. Refusals: `NotFound`, `TicketVoid`, `TicketUsed`,
/// `PassOff`.
pub async fn google_pass(context: &AppContext, fan: UserId, ticket: TicketId) -> Result<String> {
    let pass = pass_for(context, fan, ticket, |it| it.google).await?;
    let (passes, now) = (&context.tickets.passes, context.now());
    let maker = passes.google.clone().ok_or(Refusal::PassOff)?;
    passes.turns.take(move || maker.link(&pass, now)).await
}

async fn pass_for(
    context: &AppContext,
    fan: UserId,
    ticket: TicketId,
    is_offered: impl Fn(Wallets) -> bool,
) -> Result<TicketPass> {
    let ticket = my_ticket(context, fan, ticket).await?;
    match ticket.status {
        TicketStatus::Valid => {}
        TicketStatus::Used => return Err(Refusal::TicketUsed { at: None, gate: None }.into()),
        TicketStatus::Void => return Err(Refusal::TicketVoid.into()),
    }
    if !is_offered(wallets(context)) {
        return Err(Refusal::PassOff.into());
    }
    worded(context, fan, &ticket).await
}

async fn worded(context: &AppContext, fan: UserId, ticket: &TicketView) -> Result<TicketPass> {
    let show = show_of(context, ticket.reservation_id).await?;
    if show.is_canceled {
        return Err(Refusal::TicketVoid.into());
    }
    let language = language_of(context, fan).await?;
    let at_gate = context.store.ticket_at_gate(ticket.id).await?;
    let at_gate = at_gate.ok_or(Error::Refused(Refusal::NotFound))?;
    let hall = context.catalog.layouts.get(&*context.store, ticket.schedule_id).await?;
    let section = hall.section(at_gate.seat);
    let gates = context.store.gates_of(ticket.schedule_id).await?;
    let brand = &context.rules.brand;
    let zone = Zone { name: &show.time_zone, home: &context.rules.time_zone };
    Ok(TicketPass {
        ticket: ticket.id,
        reservation: ticket.reservation_id,
        schedule: ticket.schedule_id,
        language,
        organiser: cut(if brand.name.is_empty() { "Podo" } else { &brand.name }),
        color: brand.color.clone(),
        home: brand.home.clone(),
        title: cut(&show.title),
        artist: cut(&show.artist),
        starts_at: show.starts_at,
        ends_at: show.ends_at,
        starts_local: words::local(show.starts_at, &show.time_zone),
        ends_local: words::local(show.ends_at, &show.time_zone),
        when: words::moment(show.starts_at, zone, language),
        venue: cut(&format!("{} {}", show.venue, show.hall)),
        address: cut(&words::address(&show.city, &show.address, language)),
        section: section.map(cut),
        seat: cut(&ticket.seat_number),
        grade: cut(&ticket.grade),
        gates: cut(&gates_for(&gates, section).join(", ")),
        holder: cut(&holder(context, fan).await?),
        booking_number: cut(&ticket.booking_number),
        code: qr_text(context, ticket),
    })
}
