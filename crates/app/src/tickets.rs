//! The fan's tickets and what their QR codes say.

use crate::error::{Error, Result};
use crate::paging::{Page, PageAsk};
use crate::platform::Platform;
use crate::ports::tickets::TicketView;
use crate::seals::Purpose;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::{Refusal, TicketId, UserId};

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

/// What the QR code says: the ticket, its random code, and our signature over both. The gate can
/// tell a forgery without asking, and a copy by asking.
pub fn qr_text(platform: &Platform, ticket: &TicketView) -> String {
    let body = [ticket.id.uuid().as_bytes().as_slice(), &ticket.code].concat();
    let signature = platform.seals.code(Purpose::Ticket, &body);
    format!("PODO1.{}", URL_SAFE_NO_PAD.encode([&body[..], &signature[..16]].concat()))
}
