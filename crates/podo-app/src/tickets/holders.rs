//! The fan's tickets, their QR codes and transfers.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::{require_identity, short_hash};
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::store::{Page, PageRequest};
use crate::tickets::claims::new_claim;
use crate::tickets::gate::{SIGNATURE_BYTES, step_signature, ticket_key};
use crate::tickets::port::{
    AcceptTicket, OfferTicket, OfferView, Offered, TicketView, Transferred,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::identity::Email;
use podo_domain::messaging::messages::Language;
use podo_domain::tickets::{CodeStep, OFFER_LENGTH, STEP_LENGTH};
use podo_domain::{Refusal, ScheduleId, TicketId, Timestamp, UserId};
use std::time::Duration;
use uuid::Uuid;

pub async fn my_tickets(
    context: &AppContext,
    fan: UserId,
    page: PageRequest,
) -> Result<Page<TicketView>> {
    let views = context.store.tickets_of(fan, page).await?;
    Ok(Page::cut(views, page.limit, |view| view.id.uuid()))
}

pub async fn my_ticket(context: &AppContext, fan: UserId, ticket: TicketId) -> Result<TicketView> {
    context.store.ticket(ticket, fan).await?.ok_or(Error::Refused(Refusal::NotFound))
}

/// The text of the QR code: the ticket and our signature over it and its random code. The gate
/// detects a forgery offline, and a copy online. A rotating code is signed for half a minute and
/// reveals nothing about the next one.
pub fn qr_text(context: &AppContext, ticket: &TicketView) -> String {
    code_text(context, ticket.id.uuid(), &ticket.code)
}

/// The same from a ticket's id and its random code.
pub fn code_text(context: &AppContext, id: Uuid, code: &[u8]) -> String {
    let key = ticket_key(context, id, code);
    if context.rules.tickets_rotate {
        let step = CodeStep::at(context.now());
        let signature = step_signature(&key, step);
        let bytes = [id.as_bytes().as_slice(), &step.bytes(), &signature].concat();
        return format!("PODO2.{}", URL_SAFE_NO_PAD.encode(bytes));
    }
    let bytes = [id.as_bytes().as_slice(), code, &key[..SIGNATURE_BYTES]].concat();
    format!("PODO1.{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// When a rotating code changes; `None` for a static one.
pub fn qr_changes_at(context: &AppContext) -> Option<Timestamp> {
    let step = || CodeStep::at(context.now());
    context.rules.tickets_rotate.then(|| step().begins_at().plus(STEP_LENGTH))
}

/// Who a ticket is offered to, and the language of the e-mail to an address without an account.
#[derive(Clone, Copy)]
pub struct Recipient<'r> {
    pub email: &'r Email,
    pub language: Language,
}

/// Offers of one fan, and to one address: each of them sends an e-mail.
const OFFERS_PER_FAN: u32 = 20;
const OFFERS_PER_ADDRESS: u32 = 10;
const OFFERS_PER: Duration = Duration::from_secs(60 * 60);

/// Offers a ticket to an address. The answer is the same for every address, with or without an
/// account. The ticket stays with its owner until a fan who has proved the address accepts it.
pub async fn offer(
    context: &AppContext,
    key: IdempotencyKey,
    fan: UserId,
    ticket: TicketId,
    to: Recipient<'_>,
) -> Result<Idempotent<Offered>> {
    let now = context.now();
    let email_hash = context.keyring.lookup("email", to.email.as_str());
    context.take(&format!("offers-of:{fan}"), OFFERS_PER_FAN, OFFERS_PER).await?;
    let address = short_hash(context, to.email);
    context.take(&format!("offers-to:{address}"), OFFERS_PER_ADDRESS, OFFERS_PER).await?;
    let command = OfferTicket {
        key,
        ticket,
        from: fan,
        email_hash,
        claim: new_claim(context, to.email, to.language),
        expires_at: now.plus(OFFER_LENGTH),
        now,
    };
    context.store.offer_ticket(command).await
}

/// Withdraws an offer.
pub async fn withdraw_offer(context: &AppContext, fan: UserId, ticket: TicketId) -> Result<()> {
    match context.store.withdraw_offer(ticket, fan, context.now()).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}

/// The offers to a fan; none while their address isn't proved.
pub async fn offers(context: &AppContext, fan: UserId) -> Result<Vec<OfferView>> {
    match context.store.proven_email(fan).await? {
        Some(email_hash) => context.store.offers_to(email_hash, context.now()).await,
        None => Ok(Vec::new()),
    }
}

/// Accepts a ticket that is offered to the fan's proved address. It gets a new code, so that the
/// old one no longer opens the gate.
pub async fn accept(
    context: &AppContext,
    key: IdempotencyKey,
    fan: UserId,
    ticket: TicketId,
) -> Result<Idempotent<Transferred>> {
    let email_hash = context.store.proven_email(fan).await?.ok_or(Refusal::NotFound)?;
    if let Some(offer) = context.store.offer_to(ticket, email_hash, context.now()).await? {
        check_identity(context, fan, offer.schedule_id).await?;
    }
    let mut code = [0; 16];
    context.rng.fill(&mut code);
    let (code, now) = (code.to_vec(), context.now());
    let command = AcceptTicket { key, ticket, to: fan, email_hash, code, now };
    context.store.accept_ticket(command).await
}

/// A date that is sold to verified people only goes to no one else by a transfer.
async fn check_identity(context: &AppContext, fan: UserId, schedule: ScheduleId) -> Result<()> {
    let record = context.catalog.schedules.get(&*context.store, schedule, context.now()).await?;
    match record.queue.identity_required {
        true => require_identity(context, fan).await,
        false => Ok(()),
    }
}
