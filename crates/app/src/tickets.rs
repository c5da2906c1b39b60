//! The fan's tickets, what their QR codes say, and who may pass the gate.

use crate::error::{Error, Result};
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::keys::{KeyUse, Once};
use crate::ports::tickets::{
    AcceptTicket, CheckIn, CheckedIn, OfferTicket, OfferView, Offered, TicketView, Transferred,
};
use crate::seals::Purpose;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::accounts::Email;
use domain::tickets::{CodeStep, OFFER_LENGTH, STEP_LENGTH};
use domain::{Refusal, ScheduleId, TicketId, Timestamp, UserId};
use uuid::Uuid;

/// Bytes of a signature that a code carries.
const SIGNATURE_BYTES: usize = 16;

pub async fn my_tickets(
    platform: &Platform,
    fan: UserId,
    page: PageAsk,
) -> Result<Page<TicketView>> {
    let views = platform.store.tickets_of(fan, page).await?;
    Ok(Page::cut(views, page.limit, |view| view.id.uuid()))
}

pub async fn my_ticket(platform: &Platform, fan: UserId, ticket: TicketId) -> Result<TicketView> {
    platform.store.ticket(ticket, fan).await?.ok_or(Error::Refused(Refusal::NotFound))
}

/// What the QR code says: the ticket and our signature over it and its random code. The gate can
/// tell a forgery without asking, and a copy by asking. A rotating code is signed for half a
/// minute, and shows nothing that would make the next one.
pub fn qr_text(platform: &Platform, ticket: &TicketView) -> String {
    let id = ticket.id.uuid();
    if platform.rules.tickets_rotate {
        let step = CodeStep::at(platform.now());
        let signature = sign(platform, id, &ticket.code, Some(step));
        let bytes = [id.as_bytes().as_slice(), &step.bytes(), &signature].concat();
        return format!("PODO2.{}", URL_SAFE_NO_PAD.encode(bytes));
    }
    let signature = sign(platform, id, &ticket.code, None);
    let bytes = [id.as_bytes().as_slice(), &ticket.code, &signature].concat();
    format!("PODO1.{}", URL_SAFE_NO_PAD.encode(bytes))
}

/// When a rotating code is over; `None` for one that stays.
pub fn qr_changes_at(platform: &Platform) -> Option<Timestamp> {
    let step = || CodeStep::at(platform.now());
    platform.rules.tickets_rotate.then(|| step().begins_at().plus(STEP_LENGTH))
}

fn sign(platform: &Platform, id: Uuid, code: &[u8], step: Option<CodeStep>) -> Vec<u8> {
    let step = step.map(CodeStep::bytes);
    let step = step.as_ref().map_or(&[][..], |bytes| bytes);
    let body = [id.as_bytes().as_slice(), code, step].concat();
    platform.seals.code(Purpose::Ticket, &body)[..SIGNATURE_BYTES].to_vec()
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

/// Lets the owner of a ticket in, once. Refusals: `TicketInvalid`, `TicketElsewhere`, `TicketUsed`,
/// `TicketVoid`.
pub async fn check_in(
    platform: &Platform,
    actor: UserId,
    code: &str,
    gate: Option<ScheduleId>,
) -> Result<CheckedIn> {
    let claim = Claim::read(code).ok_or(Refusal::TicketInvalid)?;
    let ticket = TicketId::new(claim.ticket);
    let now = platform.now();
    let kept = platform.store.ticket_at_gate(ticket).await?.ok_or(Refusal::TicketInvalid)?;
    let expected = sign(platform, claim.ticket, &kept.code, claim.step);
    let is_current = match claim.step {
        Some(step) => step.is_current(now),
        None => !platform.rules.tickets_rotate,
    };
    let is_ours = verify_slices_are_equal(&expected, &claim.signature).is_ok();
    if !is_ours || !is_current {
        return Err(Refusal::TicketInvalid.into());
    }
    if gate.is_some_and(|gate| gate != kept.schedule) {
        return Err(Refusal::TicketElsewhere.into());
    }
    platform.store.check_in(CheckIn { actor, ticket, code: kept.code, now }).await
}

/// Offers a ticket to an address. The answer is the same whoever has the address, and whether anybody
/// has; the ticket stays with its owner until somebody who proved the address accepts it.
pub async fn offer(
    platform: &Platform,
    key: KeyUse,
    fan: UserId,
    ticket: TicketId,
    email: &Email,
) -> Result<Once<Offered>> {
    let now = platform.now();
    let command = OfferTicket {
        key,
        ticket,
        from: fan,
        email_hash: platform.seals.lookup("email", email.as_str()),
        expires_at: now.plus(OFFER_LENGTH),
        now,
    };
    platform.store.offer_ticket(command).await
}

/// Takes an offer back.
pub async fn withdraw_offer(platform: &Platform, fan: UserId, ticket: TicketId) -> Result<()> {
    match platform.store.withdraw_offer(ticket, fan, platform.now()).await? {
        true => Ok(()),
        false => Err(Refusal::NotFound.into()),
    }
}

/// What is offered to a fan; nothing while their address is not proven.
pub async fn offers(platform: &Platform, fan: UserId) -> Result<Vec<OfferView>> {
    match platform.store.proven_email(fan).await? {
        Some(email_hash) => platform.store.offers_to(email_hash, platform.now()).await,
        None => Ok(Vec::new()),
    }
}

/// Takes a ticket that is offered to the fan's proven address. It gets a new code, so that the old
/// picture opens no gate.
pub async fn accept(
    platform: &Platform,
    key: KeyUse,
    fan: UserId,
    ticket: TicketId,
) -> Result<Once<Transferred>> {
    let email_hash = platform.store.proven_email(fan).await?.ok_or(Refusal::NotFound)?;
    let mut code = [0; 16];
    platform.chance.fill(&mut code);
    let (code, now) = (code.to_vec(), platform.now());
    let command = AcceptTicket { key, ticket, to: fan, email_hash, code, now };
    platform.store.accept_ticket(command).await
}
