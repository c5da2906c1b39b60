//! Changed shows that a fan accepts or declines, reminders of openings, and the end of reminders.

use crate::context::AppContext;
use crate::error::Result;
use crate::messaging::notifications;
use crate::messaging::port::announcements::OpenChange;
use crate::messaging::port::notifications::NotificationSettings;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::{EventId, Refusal, ReservationId, ScheduleId, UserId};
use uuid::Uuid;

/// Changes that the fan can still accept, or decline by canceling without a fee.
pub async fn open_changes(context: &AppContext, fan: UserId) -> Result<Vec<OpenChange>> {
    context.store.open_changes(fan, context.now()).await
}

/// Keeps the booking. From now on the usual refund policy applies.
pub async fn accept_change(
    context: &AppContext,
    fan: UserId,
    reservation: ReservationId,
) -> Result<()> {
    context.store.accept_change(reservation, fan, context.now()).await
}

/// A fan who asks for a reminder also wants to get it.
pub async fn ask_for_sale_reminder(
    context: &AppContext,
    fan: UserId,
    schedule: ScheduleId,
) -> Result<()> {
    context.store.ask_for_sale_reminder(schedule, fan, context.now()).await?;
    want_reminders(context, fan).await
}

/// Reminds the fan of every opening of an event's artist. Returns the artist.
pub async fn follow_artist(context: &AppContext, fan: UserId, event: EventId) -> Result<String> {
    let artist = context.store.follow_artist(event, fan, context.now()).await?;
    want_reminders(context, fan).await?;
    Ok(artist)
}

async fn want_reminders(context: &AppContext, fan: UserId) -> Result<()> {
    let settings = notifications::settings(context, fan).await?;
    if settings.reminders {
        return Ok(());
    }
    let wanted = NotificationSettings { reminders: true, ..settings };
    notifications::set_settings(context, fan, wanted).await
}

/// Bytes of the MAC in a link.
const MAC_BYTES: usize = 16;

/// The credential in the link that ends reminders. It permits nothing else, so it needs no expiry.
pub(crate) fn unsubscribe_token(context: &AppContext, user: UserId) -> String {
    let mac = context.keyring.lookup("unsubscribe", &user.to_string());
    URL_SAFE_NO_PAD.encode([user.uuid().as_bytes().as_slice(), &mac[..MAC_BYTES]].concat())
}

/// Ends reminders for the fan of this link. Idempotent. Refusals: `NotFound` for a forged link.
pub async fn unsubscribe(context: &AppContext, token: &str) -> Result<()> {
    let user = read_token(context, token).ok_or(Refusal::NotFound)?;
    let settings = notifications::settings(context, user).await?;
    let ended = NotificationSettings { reminders: false, ..settings };
    notifications::set_settings(context, user, ended).await
}

fn read_token(context: &AppContext, token: &str) -> Option<UserId> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let user = UserId::new(Uuid::from_slice(bytes.get(..16)?).ok()?);
    let mac = context.keyring.lookup("unsubscribe", &user.to_string());
    verify_slices_are_equal(&mac[..MAC_BYTES], bytes.get(16..)?).ok()?;
    Some(user)
}
