//! The fan's tickets, their QR codes, and check-in.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::keyring::Purpose;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::store::{Page, PageAsk};
use crate::tickets::port::{
    AcceptTicket, CheckIn, CheckedIn, OfferTicket, OfferView, Offered, TicketView, Transferred,
};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::identity::Email;
use podo_domain::tickets::{CodeStep, OFFER_LENGTH, STEP_LENGTH};
use podo_domain::{Refusal, ScheduleId, TicketId, Timestamp, UserId};
use uuid::Uuid;

/// Bytes of the signature in a code.
const SIGNATURE_BYTES: usize = 16;

pub async fn my_tickets(
    context: &AppContext,
    fan: UserId,
    page: PageAsk,
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
    let id = ticket.id.uuid();
    if context.rules.tickets_rotate {
        let step = CodeStep::at(context.now());
        let signature = sign(context, id, &ticket.code, Some(step));
        let bytes = [id.as_bytes().as_slice(), &step.bytes(), &signature].concat();
        return format!("PODO2.{}", URL_SAFE_NO_PAD.encode(bytes));
    }
    let signature = sign(context, id, &ticket.code, None);
    let bytes = [id.as_bytes().as_slice(), &ticket.code, &signature].concat();
    format!("PODO1.{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// When a rotating code changes; `None` for a static one.
pub fn qr_changes_at(context: &AppContext) -> Option<Timestamp> {
    let step = || CodeStep::at(context.now());
    context.rules.tickets_rotate.then(|| step().begins_at().plus(STEP_LENGTH))
}

fn sign(context: &AppContext, id: Uuid, code: &[u8], step: Option<CodeStep>) -> Vec<u8> {
    let step = step.map(CodeStep::bytes);
    let step = step.as_ref().map_or(&[][..], |bytes| bytes);
    let body = [id.as_bytes().as_slice(), code, step].concat();
    context.keyring.code(Purpose::Ticket, &body)[..SIGNATURE_BYTES].to_vec()
}

/// What a scanned code claims.
struct Claim {
    ticket: Uuid,
    step: Option<CodeStep>,
    signature: Vec<u8>,
}

impl Claim {
    fn read(text: &str) -> Option<Claim> {
        let (kind, body) = text.trim().split_once('.')?;
        let bytes = URL_SAFE_NO_PAD.decode(body).ok()?;
        let ticket = Uuid::from_slice(bytes.get(..16)?).ok()?;
        let (step, at) = match kind {
            "PODO1" => (None, 32),
            "PODO2" => (Some(CodeStep::from_bytes(bytes.get(16..24)?.try_into().ok()?)), 24),
            _ => return None,
        };
        let signature = bytes.get(at..)?;
        let is_whole = signature.len() == SIGNATURE_BYTES;
        is_whole.then(|| Claim { ticket, step, signature: signature.to_vec() })
    }
}

/// Checks a ticket in, once. Refusals: `TicketInvalid`, `TicketElsewhere`, `TicketUsed`,
/// `TicketVoid`.
pub async fn check_in(
    context: &AppContext,
    actor: UserId,
    code: &str,
    gate: Option<ScheduleId>,
) -> Result<CheckedIn> {
    let claim = Claim::read(code).ok_or(Refusal::TicketInvalid)?;
    let ticket = TicketId::new(claim.ticket);
    let now = context.now();
    let kept = context.store.ticket_at_gate(ticket).await?.ok_or(Refusal::TicketInvalid)?;
    let expected = sign(context, claim.ticket, &kept.code, claim.step);
    let is_current = match claim.step {
        Some(step) => step.is_current(now),
        None => !context.rules.tickets_rotate,
    };
    let is_ours = verify_slices_are_equal(&expected, &claim.signature).is_ok();
    if !is_ours || !is_current {
        return Err(Refusal::TicketInvalid.into());
    }
    if gate.is_some_and(|gate| gate != kept.schedule) {
        return Err(Refusal::TicketElsewhere.into());
    }
    context.store.check_in(CheckIn { actor, ticket, code: kept.code, now }).await
}

/// Offers a ticket to an address. The answer is the same for every address, with or without an
/// account. The ticket stays with its owner until a fan who has proved the address accepts it.
pub async fn offer(
    context: &AppContext,
    key: IdempotencyKey,
    fan: UserId,
    ticket: TicketId,
    email: &Email,
) -> Result<Idempotent<Offered>> {
    let now = context.now();
    let command = OfferTicket {
        key,
        ticket,
        from: fan,
        email_hash: context.keyring.lookup("email", email.as_str()),
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
    let mut code = [0; 16];
    context.rng.fill(&mut code);
    let (code, now) = (code.to_vec(), context.now());
    let command = AcceptTicket { key, ticket, to: fan, email_hash, code, now };
    context.store.accept_ticket(command).await
}
