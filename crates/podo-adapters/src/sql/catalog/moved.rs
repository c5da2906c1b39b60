//! Announces a changed date or venue to the fans who have booked.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use crate::sql::messaging::announcements::announce_move;
use podo_app::Result;
use podo_app::catalog::port::{ChangeSchedule, EditVenue};
use podo_app::messaging::port::announcements::Moved;
use podo_domain::Refusal;
use podo_domain::ScheduleId;
use podo_domain::Timestamp;
use podo_domain::catalog::ScheduleTimes;
use podo_domain::messaging::announcements::{ShowPlace, is_moved};

/// Before the sale opens no fan relies on the date.
pub(super) async fn announce_date(
    tx: &mut dyn Tx,
    command: &ChangeSchedule,
    before: &ScheduleTimes,
    after: &ScheduleTimes,
) -> Result<()> {
    if !is_moved(before.starts_at, after.starts_at) || command.now < before.sale_starts_at {
        return Ok(());
    }
    let sql = "select v.name, v.address from event_schedules s
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where s.id = $1";
    let row = tx.row(sql, params![command.schedule]).await?.ok_or(Refusal::NotFound)?;
    let (venue_name, address): (String, String) = (row.get("name")?, row.get("address")?);
    let at = |starts_at: Timestamp| ShowPlace {
        starts_at,
        venue_name: venue_name.clone(),
        address: address.clone(),
    };
    let moved = Moved { before: at(before.starts_at), after: at(after.starts_at) };
    announce_move(tx, command.schedule, &moved, command.now).await
}

/// Announces to every date at this venue that is on sale or sold, and still to come.
pub(super) async fn announce_venue(
    tx: &mut dyn Tx,
    command: &EditVenue,
    name: String,
    address: String,
) -> Result<()> {
    let sql = "select s.id, s.starts_at from event_schedules s
                 join events e on e.id = s.event_id
                where e.venue_id = $1 and s.sale_starts_at <= $2 and $2 < s.starts_at
                  and s.status <> 'CANCELLED'";
    for row in tx.query(sql, params![command.venue, command.now]).await? {
        let (schedule, starts_at): (ScheduleId, Timestamp) =
            (row.get("id")?, row.get("starts_at")?);
        let after = ShowPlace {
            starts_at,
            venue_name: command.name.clone().unwrap_or_else(|| name.clone()),
            address: command.address.clone().unwrap_or_else(|| address.clone()),
        };
        let before = ShowPlace { starts_at, venue_name: name.clone(), address: address.clone() };
        announce_move(tx, schedule, &Moved { before, after }, command.now).await?;
    }
    Ok(())
}
