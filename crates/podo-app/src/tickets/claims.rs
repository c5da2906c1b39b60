//! Claim links: a ticket that is offered to an address without a proved account is claimed with a
//! link that only its mailbox has. The link works once, until the offer ends.

use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::mailed_links::{read_token, token_for, token_hash};
use crate::identity::accounts::{Origin, SignUp, join_with_proven_email, open};
use crate::identity::sessions::Caller;
use crate::operations::port::idempotency::{IdempotencyKey, Idempotent};
use crate::tickets::holders;
use crate::tickets::port::{ClaimRecord, NewClaim, Transferred};
use podo_domain::catalog::text::Line;
use podo_domain::identity::consents::Consents;
use podo_domain::identity::{Email, NewPassword, Role};
use podo_domain::messaging::messages::Language;
use podo_domain::{ClaimId, Refusal, Timestamp, UserId};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// The purpose in the MAC of a link's token.
const CLAIM: &str = "CLAIM";

/// What the recipient of a link sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TicketClaim {
    pub event_title: String,
    pub venue_name: String,
    pub starts_at: Timestamp,
    /// The venue's, in which the date is shown.
    pub time_zone: String,
    pub seat_number: String,
    pub grade: String,
    /// The address that the ticket is offered to; the account that claims it must have it.
    pub email: String,
    /// Whether the address has an account: then its owner logs in.
    pub has_account: bool,
    pub expires_at: Timestamp,
}

/// A claim of the ticket's new offer.
pub(crate) fn new_claim(context: &AppContext, email: &Email, language: Language) -> NewClaim {
    let id = ClaimId::new(context.rng.id(context.now()));
    NewClaim {
        id,
        email: context.keyring.encrypt(&place(id), email.as_str(), &*context.rng),
        token_hash: token_hash(context, &token_of(context, id)),
        language,
    }
}

fn place(id: ClaimId) -> String {
    format!("ticket_claims.email.{id}")
}

fn token_of(context: &AppContext, id: ClaimId) -> String {
    token_for(context, CLAIM, id.uuid())
}

/// The address that the e-mail shows. The token is in the fragment, which browsers send to no
/// server; without a configured address the e-mail shows the token alone.
pub(crate) fn link_of(context: &AppContext, id: ClaimId) -> String {
    let token = token_of(context, id);
    match context.rules.home.as_str() {
        "" => token,
        home => format!("{home}/#/claim/{token}"),
    }
}

pub(crate) fn email_of(context: &AppContext, id: ClaimId, claim: &ClaimRecord) -> Result<String> {
    context.keyring.decrypt(&place(id), &claim.email)
}

/// Tokens that one network may try per minute.
const TRIES: u32 = 30;
const TRIES_PER: Duration = Duration::from_secs(60);

/// A claim with the address that it is for.
struct Found {
    ticket: podo_domain::TicketId,
    email: Email,
    email_hash: [u8; 32],
}

async fn find(context: &AppContext, token: &str, origin: &Origin) -> Result<Found> {
    if let Some(network) = &origin.network {
        context.take(&format!("claim-from:{network}"), TRIES, TRIES_PER).await?;
    }
    let token = read_token(context, token).ok_or(Refusal::LinkInvalid)?;
    let id = ClaimId::new(token.id.uuid());
    let claim = context.store.ticket_claim(id).await?;
    let is_valid = |it: &ClaimRecord| it.token_hash == token.hash && context.now() < it.expires_at;
    let claim = claim.filter(is_valid).ok_or(Refusal::LinkInvalid)?;
    let email = Email::try_from(email_of(context, id, &claim)?);
    let email = email.map_err(|_changed| Refusal::LinkInvalid)?;
    let email_hash = context.keyring.lookup("email", email.as_str());
    Ok(Found { ticket: claim.ticket, email, email_hash })
}

/// What a link is about. Refusals: `LinkInvalid` if it is unknown, used, withdrawn or expired.
pub async fn show(context: &AppContext, token: &str, origin: &Origin) -> Result<TicketClaim> {
    let found = find(context, token, origin).await?;
    let offer = context.store.offer_to(found.ticket, found.email_hash, context.now()).await?;
    let offer = offer.ok_or(Refusal::LinkInvalid)?;
    let has_account = context.store.user_by_email(found.email_hash).await?.is_some();
    Ok(TicketClaim {
        event_title: offer.event_title,
        venue_name: offer.venue_name,
        starts_at: offer.starts_at,
        time_zone: offer.time_zone,
        seat_number: offer.seat_number,
        grade: offer.grade,
        email: found.email.as_str().to_owned(),
        has_account,
        expires_at: offer.expires_at,
    })
}

/// Who signs up with a link.
pub struct ClaimSignUp {
    pub name: Line<50>,
    pub password: NewPassword,
    pub consents: Consents,
}

/// Creates an account with the address of the link, which proves it. The ticket is claimed after the
/// log-in. Refusals: `LinkInvalid`, `EmailTaken`, `ConsentRequired`.
pub async fn sign_up(
    context: &AppContext,
    token: &str,
    asked: ClaimSignUp,
    origin: &Origin,
) -> Result<UserId> {
    let Found { email, .. } = find(context, token, origin).await?;
    let ClaimSignUp { name, password, consents } = asked;
    let asked = SignUp { email, password, name, phone: None, role: Role::User };
    join_with_proven_email(context, asked, consents, origin).await
}

/// The caller's account, which must have the address of the link, gets the ticket. Refusals:
/// `LinkInvalid`, `ClaimForeign`, and those of accepting an offer.
pub async fn claim(
    context: &AppContext,
    key: IdempotencyKey,
    caller: Caller,
    token: &str,
    origin: &Origin,
) -> Result<Idempotent<Transferred>> {
    // A repeat finds no claim any more, but its answer.
    if let Some(answer) = context.store.stored_answer(&key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let found = find(context, token, origin).await?;
    let user = context.store.user(caller.user).await?.ok_or(Refusal::LoginRequired)?;
    let own = open(context, "email", user.user, &user.email)?;
    if own != found.email.as_str() {
        return Err(Refusal::ClaimForeign.into());
    }
    // Only the mailbox of the address has the link.
    context.store.mark_email_proven(caller.user, found.email_hash, context.now()).await?;
    holders::accept(context, key, caller.user, found.ticket).await
}
