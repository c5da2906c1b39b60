//! What the store remembers of the waiting rooms.

use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::params;
use app::Result;
use app::ports::queue::{Admission, Over, Remembered, Survivors};
use app::ports::queue_history::{PlaceRecord, Places, QueueHistory};
use app::ports::reservations::HoldSeats;
use async_trait::async_trait;
use domain::queue::{Entry, PlaceNumber};
use domain::{Refusal, ScheduleId, Timestamp, UserId};

struct RecordAdmissions {
    schedule: ScheduleId,
    admissions: Vec<Admission>,
    now: Timestamp,
}

struct RecordExtension {
    schedule: ScheduleId,
    entry: Entry,
    now: Timestamp,
}

struct EndEntry {
    schedule: ScheduleId,
    number: PlaceNumber,
    reason: &'static str,
    now: Timestamp,
}

struct LiveEntries {
    schedule: ScheduleId,
    now: Timestamp,
}

struct Remember {
    schedule: ScheduleId,
    survivors: Option<Survivors>,
    now: Timestamp,
}

struct ExpireEntries {
    now: Timestamp,
    limit: u32,
}

struct PlacesOf {
    user: UserId,
    before: (Timestamp, PlaceNumber),
    limit: u32,
}

work!(Sales: RecordAdmissions => record, ());
work!(Sales: RecordExtension => extend, ());
work!(Sales: EndEntry => end, ());
work!(Worker: LiveEntries => live, Vec<Admission>);
work!(Worker: Remember => remembered, Remembered);
work!(Worker: ExpireEntries => expire, u64);
work!(Sales or_replica: PlacesOf => places_of, Vec<PlaceRecord>);
work!(Sales: Places => places_in, Vec<PlaceRecord>);

#[async_trait]
impl QueueHistory for SqlStore {
    async fn record_admissions(
        &self,
        schedule: ScheduleId,
        admissions: Vec<Admission>,
        now: Timestamp,
    ) -> Result<()> {
        self.write(RecordAdmissions { schedule, admissions, now }).await
    }

    async fn record_extension(
        &self,
        schedule: ScheduleId,
        entry: Entry,
        now: Timestamp,
    ) -> Result<()> {
        self.write(RecordExtension { schedule, entry, now }).await
    }

    async fn end_entry(
        &self,
        schedule: ScheduleId,
        number: PlaceNumber,
        reason: &'static str,
        now: Timestamp,
    ) -> Result<()> {
        self.write(EndEntry { schedule, number, reason, now }).await
    }

    async fn live_entries(&self, schedule: ScheduleId, now: Timestamp) -> Result<Vec<Admission>> {
        self.read(LiveEntries { schedule, now }).await
    }

    async fn remembered(
        &self,
        schedule: ScheduleId,
        survivors: Option<Survivors>,
        now: Timestamp,
    ) -> Result<Remembered> {
        self.read(Remember { schedule, survivors, now }).await
    }

    async fn expire_entries(&self, now: Timestamp, limit: u32) -> Result<u64> {
        self.write(ExpireEntries { now, limit }).await
    }

    async fn places_of(
        &self,
        user: UserId,
        before: (Timestamp, PlaceNumber),
        limit: u32,
    ) -> Result<Vec<PlaceRecord>> {
        self.read(PlacesOf { user, before, limit }).await
    }

    async fn places_in(&self, asked: Places) -> Result<Vec<PlaceRecord>> {
        self.read(asked).await
    }
}

async fn record(tx: &mut dyn Tx, command: &RecordAdmissions) -> Result<()> {
    remember(tx, command.schedule, &command.admissions, command.now).await
}

/// Entries that the store knows already are left as they are: an ended one stays ended.
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

/// The check inside the hold's own transaction: the entry is this fan's, live, and not ended. An
/// admission that the store has not heard of yet is remembered here.
pub(super) async fn check_entry(tx: &mut dyn Tx, command: &HoldSeats) -> Result<()> {
    let schedule = command.pick.schedule();
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
    if row.get::<UserId>(0)? != command.user {
        return Err(Refusal::EntryRequired.into());
    }
    let known: Option<Timestamp> = row.get(2)?;
    let until = known.map_or(command.entry.expires_at, |at| at.max(command.entry.expires_at));
    if row.get::<String>(1)? != "ACTIVE" || until <= command.now {
        return Err(Refusal::EntryExpired.into());
    }
    // An extension may reach the store after the hold that it allowed: then it is stored here, so
    // that the books show why the hold was right (I19).
    if known != Some(until) {
        let (entry, now) = (command.entry, command.now);
        extend(tx, &RecordExtension { schedule, entry, now }).await?;
    }
    Ok(())
}

/// Only a live entry: asked for by what it is not, so that the index of all of them does not seem
/// to fit.
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

/// Ends an entry for good: on leaving, at log-out. A payment ends its entry by itself.
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
    let read = |row: &super::value::Row| {
        Ok(Admission {
            fan: row.get(0)?,
            entry: Entry {
                number: row.get(1)?,
                admitted_at: row.get(2)?,
                expires_at: row.get(3)?,
                extensions_left: row.get(4)?,
            },
        })
    };
    rows.iter().map(read).collect()
}

/// Both on one view, so that no entry is missing in either.
async fn remembered(tx: &mut dyn Tx, question: &Remember) -> Result<Remembered> {
    let Remember { schedule, survivors, now } = *question;
    let inside = live(tx, &LiveEntries { schedule, now }).await?;
    let Some(Survivors { oldest_inside, front }) = survivors else { return Ok(inside.into()) };
    // Whoever the engine believes to be inside by an entry that the store ended before its time, and
    // whoever it believes to be waiting, who were let in since: admission goes by number.
    let sql = "select user_id, place_number from queue_history
                where schedule_id = $1 and place_number >= $2
                  and (state <> 'ACTIVE' or expires_at <= $4)
                  and (place_number >= $3 or expires_at > $4)";
    let rows = tx.query(sql, params![schedule, oldest_inside.min(front), front, now]).await?;
    let read = |row: &super::value::Row| Ok(Over { fan: row.get(0)?, number: row.get(1)? });
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
    let (moment, number) = question.before;
    let rows = tx.query(sql, params![question.user, moment, number, question.limit]).await?;
    rows.iter().map(read_place).collect()
}

/// One fan's are found by the fan: a schedule can have a million.
async fn places_in(tx: &mut dyn Tx, question: &Places) -> Result<Vec<PlaceRecord>> {
    let all = "select schedule_id, user_id, place_number, state, activated_at, expires_at,
                      extensions_left, ended_reason, created_at, updated_at
                 from queue_history
                where schedule_id = $1 and place_number < $2
                order by place_number desc limit $3";
    let of_fan = "select schedule_id, user_id, place_number, state, activated_at, expires_at,
                         extensions_left, ended_reason, created_at, updated_at
                    from queue_history
                   where schedule_id = $1 and place_number < $2 and user_id = $4
                   order by created_at desc, place_number desc limit $3";
    let before = question.before.unwrap_or(NUMBER_MAX);
    let rows = match question.fan {
        None => tx.query(all, params![question.schedule, before, question.limit]).await?,
        Some(fan) => {
            tx.query(of_fan, params![question.schedule, before, question.limit, fan]).await?
        }
    };
    rows.iter().map(read_place).collect()
}

/// Above every number that an engine gives: they are exact in a double.
const NUMBER_MAX: PlaceNumber = 1 << 53;

fn read_place(row: &super::value::Row) -> Result<PlaceRecord> {
    Ok(PlaceRecord {
        schedule: row.get(0)?,
        user: row.get(1)?,
        number: row.get(2)?,
        state: row.get(3)?,
        activated_at: row.get(4)?,
        expires_at: row.get(5)?,
        extensions_left: row.get(6)?,
        ended_reason: row.get(7)?,
        created_at: row.get(8)?,
        updated_at: row.get(9)?,
    })
}
