//! The store's history of the waiting rooms.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_app::booking::port::reservations::HoldSeats;
use podo_app::store::Order;
use podo_app::waiting_room::port::history::{HistoryCursor, PlaceRecord, Places, QueueHistory};
use podo_app::waiting_room::port::queue::{Admission, FanPlace, Remembered, Survivors};
use podo_domain::waiting_room::{Entry, PlaceNumber};
use podo_domain::{Refusal, ScheduleId, Timestamp, UserId};

commands! {
    impl QueueHistory for SqlStore {
        write record_admissions(RecordAdmissions {
            schedule: ScheduleId, admissions: Vec<Admission>, now: Timestamp,
        }) -> () as Sales => record;
        write record_extension(RecordExtension {
            schedule: ScheduleId, entry: Entry, now: Timestamp,
        }) -> () as Sales => extend;
        write end_entry(EndEntry {
            schedule: ScheduleId, number: PlaceNumber, reason: &'static str, now: Timestamp,
        }) -> () as Sales => end;
        read live_entries(LiveEntries { schedule: ScheduleId, now: Timestamp })
            -> Vec<Admission> as Worker => live;
        read schedules_entered(SchedulesEntered { now: Timestamp })
            -> Vec<ScheduleId> as Worker => entered;
        read remembered(Remember {
            schedule: ScheduleId, survivors: Option<Survivors>, now: Timestamp,
        }) -> Remembered as Worker => remembered;
        write expire_entries(ExpireEntries { now: Timestamp, limit: u32 })
            -> u64 as Worker => expire;
        read places_of(PlacesOf { user: UserId, before: HistoryCursor, limit: u32 })
            -> Vec<PlaceRecord> as Sales or_replica => places_of;
        read places_in(Places) -> Vec<PlaceRecord> as Sales => places_in;
    }
}

async fn record(tx: &mut dyn Tx, command: &RecordAdmissions) -> Result<()> {
    remember(tx, command.schedule, &command.admissions, command.now).await
}

/// Leaves known entries as they are: an ended one stays ended.
async fn remember(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    admissions: &[Admission],
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into queue_history
                 (schedule_id, place_number, user_id, state, activated_at, expires_at,
                  extensions_left, created_at, updated_at)
               values ($1, $2, $3, 'ACTIVE', $4, $5, $6, $7, $7)
               on conflict (schedule_id, place_number) do nothing";
    let set = |Admission { fan, entry }: &Admission| {
        params![
            schedule,
            entry.number,
            *fan,
            entry.admitted_at,
            entry.expires_at,
            entry.extensions_left,
            now
        ]
        .to_vec()
    };
    Ok(tx.add(sql, admissions.iter().map(set).collect()).await?)
}

/// The check inside the hold's own transaction: the entry belongs to this fan, is live and hasn't
/// ended. Records an admission that the store doesn't know yet.
pub(crate) async fn check_entry(tx: &mut dyn Tx, command: &HoldSeats) -> Result<()> {
    let schedule = command.room;
    let sql = "select user_id, state, expires_at from queue_history
                where schedule_id = $1 and place_number = $2";
    let values = params![schedule, command.entry.number];
    let mut row = tx.row(sql, values).await?;
    if row.is_none() {
        let admission = Admission { fan: command.user, entry: command.entry };
        remember(tx, schedule, &[admission], command.now).await?;
        row = tx.row(sql, values).await?;
    }
    let row = row.ok_or(Refusal::EntryRequired)?;
    if row.get::<UserId>("user_id")? != command.user {
        return Err(Refusal::EntryRequired.into());
    }
    let known: Option<Timestamp> = row.get("expires_at")?;
    let until = known.map_or(command.entry.expires_at, |at| at.max(command.entry.expires_at));
    if row.get::<String>("state")? != "ACTIVE" || until <= command.now {
        return Err(Refusal::EntryExpired.into());
    }
    // An extension may reach the store after the hold that it permits. Store it here, so that the
    // history shows why the hold was valid (I19).
    if known != Some(until) {
        let (entry, now) = (command.entry, command.now);
        extend(tx, &RecordExtension { schedule, entry, now }).await?;
    }
    Ok(())
}

/// Live entries only. The condition is negated so that it doesn't match the partial index of all
/// live entries.
async fn extend(tx: &mut dyn Tx, command: &RecordExtension) -> Result<()> {
    let sql = "update queue_history set expires_at = $3, extensions_left = $4, updated_at = $5
                where schedule_id = $1 and place_number = $2
                  and state not in ('WAITING', 'EXPIRED')";
    let entry = command.entry;
    let values = params![
        command.schedule,
        entry.number,
        entry.expires_at,
        entry.extensions_left,
        command.now
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Ends an entry for good, on leaving or log-out. A payment ends its entry by itself.
async fn end(tx: &mut dyn Tx, command: &EndEntry) -> Result<()> {
    let sql = "update queue_history set state = 'EXPIRED', ended_reason = $3, updated_at = $4
                where schedule_id = $1 and place_number = $2 and state = 'ACTIVE'";
    let values = params![command.schedule, command.number, command.reason, command.now];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn live(tx: &mut dyn Tx, question: &LiveEntries) -> Result<Vec<Admission>> {
    let sql = "select user_id, place_number, activated_at, expires_at, extensions_left
                 from queue_history
                where schedule_id = $1 and state = 'ACTIVE' and expires_at > $2";
    let rows = tx.query(sql, params![question.schedule, question.now]).await?;
    let read = |row: &crate::sql::engine::value::Row| {
        Ok(Admission {
            fan: row.get("user_id")?,
            entry: Entry {
                number: row.get("place_number")?,
                admitted_at: row.get("activated_at")?,
                expires_at: row.get("expires_at")?,
                extensions_left: row.get("extensions_left")?,
            },
        })
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn entered(
    tx: &mut dyn Tx,
    question: &SchedulesEntered,
) -> Result<Vec<ScheduleId>> {
    // Materialized, because SQLite would otherwise read the whole table in the order of its key.
    let sql = "with live as materialized (select schedule_id from queue_history
                                           where state = 'ACTIVE' and expires_at > $1)
               select distinct schedule_id from live";
    let rows = tx.query(sql, params![question.now]).await?;
    Ok(rows.iter().map(|row| row.get("schedule_id")).collect::<std::result::Result<_, _>>()?)
}

/// Both on one snapshot, so that neither misses an entry.
async fn remembered(tx: &mut dyn Tx, question: &Remember) -> Result<Remembered> {
    let Remember { schedule, survivors, now } = *question;
    let inside = live(tx, &LiveEntries { schedule, now }).await?;
    let Some(Survivors { oldest_inside, front }) = survivors else { return Ok(inside.into()) };
    // Fans whom the engine may still have inside although the store ended their entry early, and
    // fans whom it may still have waiting although they were admitted since: admission goes by
    // number.
    let sql = "select user_id, place_number from queue_history
                where schedule_id = $1 and place_number >= $2
                  and (state <> 'ACTIVE' or expires_at <= $4)
                  and (place_number >= $3 or expires_at > $4)";
    let rows = tx.query(sql, params![schedule, oldest_inside.min(front), front, now]).await?;
    let read = |row: &crate::sql::engine::value::Row| {
        Ok(FanPlace { fan: row.get("user_id")?, number: row.get("place_number")? })
    };
    let over = rows.iter().map(read).collect::<Result<_>>()?;
    Ok(Remembered { inside, over, epoch: None })
}

async fn expire(tx: &mut dyn Tx, command: &ExpireEntries) -> Result<u64> {
    let sql = "update queue_history
                  set state = 'EXPIRED', ended_reason = 'TIME_UP', updated_at = $1
                where (schedule_id, place_number) in
                      (select schedule_id, place_number from queue_history
                        where state = 'ACTIVE' and expires_at <= $1 limit $2)";
    Ok(tx.execute(sql, params![command.now, command.limit]).await?)
}

async fn places_of(tx: &mut dyn Tx, question: &PlacesOf) -> Result<Vec<PlaceRecord>> {
    let sql = "select schedule_id, user_id, place_number, state, activated_at, expires_at,
                      extensions_left, ended_reason, created_at, updated_at
                 from queue_history
                where user_id = $1 and created_at <= $2
                  and (created_at < $2 or place_number < $3)
                order by created_at desc, place_number desc limit $4";
    let HistoryCursor { at, number } = question.before;
    let rows = tx.query(sql, params![question.user, at, number, question.limit]).await?;
    rows.iter().map(read_place).collect()
}

/// One fan's places are found by the fan, because a schedule can have a million.
async fn places_in(tx: &mut dyn Tx, question: &Places) -> Result<Vec<PlaceRecord>> {
    let latest = "select schedule_id, user_id, place_number, state, activated_at, expires_at,
                         extensions_left, ended_reason, created_at, updated_at
                    from queue_history
                   where schedule_id = $1 and place_number < $2
                   order by place_number desc limit $3";
    let first = "select schedule_id, user_id, place_number, state, activated_at, expires_at,
                        extensions_left, ended_reason, created_at, updated_at
                   from queue_history
                  where schedule_id = $1 and place_number > $2
                  order by place_number limit $3";
    let of_fan = "select schedule_id, user_id, place_number, state, activated_at, expires_at,
                         extensions_left, ended_reason, created_at, updated_at
                    from queue_history
                   where schedule_id = $1 and place_number < $2 and user_id = $4
                   order by created_at desc, place_number desc limit $3";
    let Places { schedule, fan, order, cursor, limit } = *question;
    let before = cursor.unwrap_or(NUMBER_MAX);
    let rows = match (fan, order) {
        (Some(fan), _) => tx.query(of_fan, params![schedule, before, limit, fan]).await?,
        (None, Order::Newest) => tx.query(latest, params![schedule, before, limit]).await?,
        (None, Order::Oldest) => {
            // Numbers begin at 1.
            tx.query(first, params![schedule, cursor.unwrap_or(0), limit]).await?
        }
    };
    rows.iter().map(read_place).collect()
}

/// Above every number that an engine assigns: numbers are exact in a double.
const NUMBER_MAX: PlaceNumber = 1 << 53;

fn read_place(row: &crate::sql::engine::value::Row) -> Result<PlaceRecord> {
    Ok(PlaceRecord {
        schedule: row.get("schedule_id")?,
        user: row.get("user_id")?,
        number: row.get("place_number")?,
        state: row.get("state")?,
        activated_at: row.get("activated_at")?,
        expires_at: row.get("expires_at")?,
        extensions_left: row.get("extensions_left")?,
        ended_reason: row.get("ended_reason")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}
