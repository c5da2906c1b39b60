//! Changed dates and venues, and reminders: planned once, then written page by page.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::messaging::facts;
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use podo_app::messaging::port::announcements::{
    Announcements, Moved, OpenAnnouncement, OpenChange, ShowFacts, Subject,
};
use podo_app::{Error, Result};
use podo_domain::booking::issued::Channel;
use podo_domain::messaging::announcements::{
    AnnouncementKind, SALE_REMINDER_BEFORE, SHOW_REMINDER_BEFORE, SHOW_REMINDER_UNTIL,
};
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{AnnouncementId, EventId, Refusal, ReservationId, ScheduleId, Timestamp, UserId};
use serde_json::{Value, json};
use uuid::Uuid;

commands! {
    impl Announcements for SqlStore {
        read show_facts(FactsOf { subjects: Vec<Subject> })
            -> Vec<Option<ShowFacts>> as Sales => facts::facts_of;
        read announced_change(ChangeOf { announcement: AnnouncementId })
            -> Option<Moved> as Event => change_of;
        write ask_for_sale_reminder(AskForReminder {
            schedule: ScheduleId, user: UserId, now: Timestamp,
        }) -> () as Event => ask_for_reminder;
        write drop_sale_reminder(DropReminder { schedule: ScheduleId, user: UserId })
            -> () as Event => drop_reminder;
        read sale_reminders_of(RemindersOf { user: UserId })
            -> Vec<ScheduleId> as Event => reminders_of;
        write follow_artist(FollowArtist { event: EventId, user: UserId, now: Timestamp })
            -> String as Event => follow_artist;
        write unfollow_artist(UnfollowArtist { artist: String, user: UserId })
            -> () as Event => unfollow_artist;
        read followed_artists(FollowedArtists { user: UserId })
            -> Vec<String> as Event => followed_artists;
        read interest_in(InterestIn { event: EventId }) -> u64 as Event => interest_in;
        write plan_reminders(PlanReminders { now: Timestamp, limit: u32 })
            -> u64 as Worker => plan_reminders;
        read open_announcements(OpenAnnouncements { now: Timestamp, limit: u32 })
            -> Vec<OpenAnnouncement> as Worker => open_announcements;
        write announce_some(AnnounceSome {
            announcement: AnnouncementId, limit: u32, now: Timestamp,
        }) -> u64 as Worker => announce_some;
        read open_changes(OpenChanges { user: UserId, now: Timestamp })
            -> Vec<OpenChange> as Sales => open_changes;
        write accept_change(AcceptChange {
            reservation: ReservationId, user: UserId, now: Timestamp,
        }) -> () as Sales => accept_change;
        write forget_announcements(ForgetAnnouncements { before: Timestamp, limit: u32 })
            -> u64 as Worker => forget;
    }
}

/// Runs in the transaction of the change that it announces.
pub(crate) async fn announce_move(
    tx: &mut dyn Tx,
    schedule: ScheduleId,
    moved: &Moved,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into announcements (id, schedule_id, kind, about_at, details, last_seat,
                                          last_user, created_at)
               values ($1, $2, 'MOVED', $3, $4, -1, $5, $3)
               on conflict (schedule_id, kind, about_at) do nothing";
    let details = serde_json::to_string(moved).map_err(Error::broken)?;
    let id = tx.rng().id(now);
    tx.execute(sql, params![id, schedule, now, details, Uuid::nil()]).await?;
    Ok(())
}

async fn change_of(tx: &mut dyn Tx, question: &ChangeOf) -> Result<Option<Moved>> {
    let sql = "select details from announcements where id = $1 and details is not null";
    let row = tx.row(sql, params![question.announcement]).await?;
    row.map(|row| read_details(&row)).transpose()
}

fn read_details(row: &Row) -> Result<Moved> {
    let details: String = row.get("details")?;
    serde_json::from_str(&details).map_err(Error::broken)
}

async fn ask_for_reminder(tx: &mut dyn Tx, command: &AskForReminder) -> Result<()> {
    let find = "select sale_starts_at from event_schedules where id = $1";
    let row = tx.row(find, params![command.schedule]).await?.ok_or(Refusal::NotFound)?;
    let opens_at: Timestamp = row.get("sale_starts_at")?;
    if opens_at <= command.now {
        return Err(Refusal::SaleBegun.into());
    }
    let sql = "insert into sale_reminders (schedule_id, user_id, created_at) values ($1, $2, $3)
               on conflict (schedule_id, user_id) do nothing";
    tx.execute(sql, params![command.schedule, command.user, command.now]).await?;
    Ok(())
}

async fn drop_reminder(tx: &mut dyn Tx, command: &DropReminder) -> Result<()> {
    let sql = "delete from sale_reminders where schedule_id = $1 and user_id = $2";
    tx.execute(sql, params![command.schedule, command.user]).await?;
    Ok(())
}

async fn reminders_of(tx: &mut dyn Tx, question: &RemindersOf) -> Result<Vec<ScheduleId>> {
    let sql = "select schedule_id from sale_reminders where user_id = $1
                order by schedule_id desc limit 100";
    let read = |row: &Row| Ok(row.get("schedule_id")?);
    tx.query(sql, params![question.user]).await?.iter().map(read).collect()
}

/// Follows go by the name as the event writes it.
async fn follow_artist(tx: &mut dyn Tx, command: &FollowArtist) -> Result<String> {
    let find = "select artist from events where id = $1 and status <> 'PREPARING'";
    let row = tx.row(find, params![command.event]).await?.ok_or(Refusal::NotFound)?;
    let artist: String = row.get("artist")?;
    let sql = "insert into artist_follows (artist, user_id, created_at) values ($1, $2, $3)
               on conflict (artist, user_id) do nothing";
    tx.execute(sql, params![artist.as_str(), command.user, command.now]).await?;
    Ok(artist)
}

async fn unfollow_artist(tx: &mut dyn Tx, command: &UnfollowArtist) -> Result<()> {
    let sql = "delete from artist_follows where artist = $1 and user_id = $2";
    tx.execute(sql, params![command.artist.as_str(), command.user]).await?;
    Ok(())
}

async fn followed_artists(tx: &mut dyn Tx, question: &FollowedArtists) -> Result<Vec<String>> {
    let sql = "select artist from artist_follows where user_id = $1
                order by created_at desc, artist limit 100";
    let read = |row: &Row| Ok(row.get("artist")?);
    tx.query(sql, params![question.user]).await?.iter().map(read).collect()
}

/// A fan with a reminder who also follows the artist counts twice, as one who is very interested.
async fn interest_in(tx: &mut dyn Tx, question: &InterestIn) -> Result<u64> {
    let reminders = "select count(*) as n from event_schedules s
                       join sale_reminders r on r.schedule_id = s.id
                      where s.event_id = $1";
    let followers = "select count(*) as n from events e
                       join artist_follows f on f.artist = e.artist
                      where e.id = $1";
    let mut sum = 0;
    for sql in [reminders, followers] {
        let row = tx.row(sql, params![question.event]).await?;
        sum += row.map_or(Ok(0), |row| row.get::<u64>("n"))?;
    }
    Ok(sum)
}

/// The unique index makes a second plan of the same reminder harmless.
async fn plan_reminders(tx: &mut dyn Tx, command: &PlanReminders) -> Result<u64> {
    let openings = "select s.id, s.sale_starts_at as about_at from event_schedules s
                     where s.status = 'UPCOMING' and $1 < s.sale_starts_at
                       and s.sale_starts_at <= $2
                       and (exists (select 1 from sale_reminders r where r.schedule_id = s.id)
                            or exists (select 1 from events e
                                         join artist_follows f on f.artist = e.artist
                                        where e.id = s.event_id and e.status = 'OPEN'))
                       and not exists (select 1 from announcements a
                                        where a.schedule_id = s.id and a.kind = 'SALE_REMINDER'
                                          and a.about_at = s.sale_starts_at)
                     order by s.sale_starts_at limit $3";
    let shows = "select s.id, s.starts_at as about_at from event_schedules s
                  where s.status <> 'CANCELLED' and $1 < s.starts_at and s.starts_at <= $2
                    and not exists (select 1 from announcements a
                                     where a.schedule_id = s.id and a.kind = 'SHOW_REMINDER'
                                       and a.about_at = s.starts_at)
                  order by s.starts_at limit $3";
    let now = command.now;
    let soon = now.plus(SALE_REMINDER_BEFORE);
    let openings = tx.query(openings, params![now, soon, command.limit]).await?;
    let (least, most) = (now.plus(SHOW_REMINDER_UNTIL), now.plus(SHOW_REMINDER_BEFORE));
    let shows = tx.query(shows, params![least, most, command.limit]).await?;
    let mut n_planned = 0;
    for (kind, rows) in
        [(AnnouncementKind::SaleReminder, openings), (AnnouncementKind::ShowReminder, shows)]
    {
        for row in rows {
            let (schedule, about_at): (ScheduleId, Timestamp) =
                (row.get("id")?, row.get("about_at")?);
            n_planned += plan(tx, kind, schedule, about_at, now).await?;
        }
    }
    Ok(n_planned)
}

async fn plan(
    tx: &mut dyn Tx,
    kind: AnnouncementKind,
    schedule: ScheduleId,
    about_at: Timestamp,
    now: Timestamp,
) -> Result<u64> {
    let sql = "insert into announcements (id, schedule_id, kind, about_at, last_seat, last_user,
                                          created_at)
               values ($1, $2, $3, $4, -1, $5, $6)
               on conflict (schedule_id, kind, about_at) do nothing";
    let id = tx.rng().id(now);
    Ok(tx.execute(sql, params![id, schedule, kind.as_str(), about_at, Uuid::nil(), now]).await?)
}

async fn open_announcements(
    tx: &mut dyn Tx,
    question: &OpenAnnouncements,
) -> Result<Vec<OpenAnnouncement>> {
    let sql = "select a.id, a.kind, a.schedule_id from announcements a
                where a.done_at is null
                  and coalesce((select f.next_at from job_failures f
                                 where f.job = 'announce' and f.item = a.id), $2) <= $2
                order by a.id limit $1";
    let read = |row: &Row| {
        Ok(OpenAnnouncement {
            id: row.get("id")?,
            kind: row.parse("kind", AnnouncementKind::parse)?,
            schedule: row.get("schedule_id")?,
        })
    };
    let values = params![question.limit, question.now];
    tx.query(sql, values).await?.iter().map(read).collect()
}

/// An announcement at its position.
struct Position {
    kind: AnnouncementKind,
    schedule: ScheduleId,
    last_seat: i64,
    last_user: Uuid,
    about_at: Timestamp,
}

/// Two nodes that read the same position write the same page, and only one of them commits: the
/// position is a compare-and-set.
async fn announce_some(tx: &mut dyn Tx, command: &AnnounceSome) -> Result<u64> {
    let find = "select kind, schedule_id, last_seat, last_user, about_at from announcements
                 where id = $1 and done_at is null";
    let Some(row) = tx.row(find, params![command.announcement]).await? else { return Ok(0) };
    let position = Position {
        kind: row.parse("kind", AnnouncementKind::parse)?,
        schedule: row.get("schedule_id")?,
        last_seat: row.get("last_seat")?,
        last_user: row.get("last_user")?,
        about_at: row.get("about_at")?,
    };
    let page = match position.kind {
        _ if is_void(tx, &position).await? => Page::default(),
        AnnouncementKind::SaleReminder => next_fans(tx, &position, command.limit).await?,
        AnnouncementKind::Moved | AnnouncementKind::ShowReminder => {
            next_owners(tx, &position, command.limit).await?
        }
    };
    let is_last = page.n_read < u64::from(command.limit);
    let advance = "update announcements set last_seat = $4, last_user = $5, done_at = $6
                    where id = $1 and last_seat = $2 and last_user = $3 and done_at is null";
    let (last_seat, last_user) = (
        page.last_seat.unwrap_or(position.last_seat),
        page.last_user.unwrap_or(position.last_user),
    );
    let values = params![
        command.announcement,
        position.last_seat,
        position.last_user,
        last_seat,
        last_user,
        is_last.then_some(command.now)
    ];
    if tx.execute(advance, values).await? != 1 {
        return Err(Error::Conflict("another node writes this announcement".into()));
    }
    let n_notified = page.messages.len() as u64;
    for (user, mut payload) in page.messages {
        payload["announcementId"] = json!(command.announcement);
        let message = Outgoing {
            kind: message_kind(position.kind),
            aggregate: tx.rng().id(command.now),
            seq: 1,
            key: user.uuid(),
            payload: &payload,
        };
        outbox::push(tx, message, command.now).await?;
    }
    Ok(n_notified)
}

const fn message_kind(kind: AnnouncementKind) -> MessageKind {
    match kind {
        AnnouncementKind::Moved => MessageKind::ReservationMoved,
        AnnouncementKind::SaleReminder => MessageKind::SaleReminder,
        AnnouncementKind::ShowReminder => MessageKind::ShowReminder,
    }
}

/// A reminder of a show or an opening that was canceled or moved meanwhile reminds of nothing.
async fn is_void(tx: &mut dyn Tx, position: &Position) -> Result<bool> {
    let sql = "select status, starts_at, sale_starts_at from event_schedules where id = $1";
    let Some(row) = tx.row(sql, params![position.schedule]).await? else { return Ok(true) };
    let status: String = row.get("status")?;
    let still: Timestamp = match position.kind {
        AnnouncementKind::Moved => return Ok(status == "CANCELLED"),
        AnnouncementKind::SaleReminder => row.get("sale_starts_at")?,
        AnnouncementKind::ShowReminder => row.get("starts_at")?,
    };
    Ok(status == "CANCELLED" || still != position.about_at)
}

/// Recipients with their messages, and the position after them.
#[derive(Default)]
struct Page {
    messages: Vec<(UserId, Value)>,
    n_read: u64,
    last_seat: Option<i64>,
    last_user: Option<Uuid>,
}

/// Reads tickets by seat and writes one message per owner and booking, with its first seat.
async fn next_owners(tx: &mut dyn Tx, position: &Position, limit: u32) -> Result<Page> {
    let sql = "select t.reservation_id, t.user_id, t.seat_index,
                      cast(case when exists (select 1 from tickets o
                                              where o.reservation_id = t.reservation_id
                                                and o.user_id = t.user_id and o.status <> 'VOID'
                                                and o.seat_index < t.seat_index)
                                then 0 else 1 end as bigint) as is_first,
                      r.channel, r.user_id as buyer_id
                 from tickets t join reservations r on r.id = t.reservation_id
                where t.schedule_id = $1 and t.status <> 'VOID' and $2 < t.seat_index
                order by t.seat_index limit $3";
    let rows = tx.query(sql, params![position.schedule, position.last_seat, limit]).await?;
    let mut page = Page { n_read: rows.len() as u64, ..Page::default() };
    for row in &rows {
        page.last_seat = Some(row.get("seat_index")?);
        let is_first: i64 = row.get("is_first")?;
        let user: UserId = row.get("user_id")?;
        // The organiser who issued it at the desk; a customer without an account can't be reached.
        let is_issuer = !row.parse("channel", Channel::parse)?.is_fan()
            && row.get::<UserId>("buyer_id")? == user;
        if is_first == 1 && !is_issuer {
            let reservation: ReservationId = row.get("reservation_id")?;
            let payload = json!({ "userId": user, "reservationId": reservation,
                "eventScheduleId": position.schedule });
            page.messages.push((user, payload));
        }
    }
    Ok(page)
}

/// Fans who asked for this date, and followers of its artist. Several dates of an event that open
/// together remind a follower once, of the first one.
async fn next_fans(tx: &mut dyn Tx, position: &Position, limit: u32) -> Result<Page> {
    let sql = "with asked as (
                   select user_id from sale_reminders where schedule_id = $1 and $2 < user_id
                    order by user_id limit $3),
                 following as (
                   select f.user_id from event_schedules s
                     join events e on e.id = s.event_id and e.status = 'OPEN'
                     join artist_follows f on f.artist = e.artist
                    where s.id = $1 and $2 < f.user_id
                      and not exists (select 1 from event_schedules o
                                       where o.event_id = s.event_id and o.status <> 'CANCELLED'
                                         and o.sale_starts_at = s.sale_starts_at
                                         and o.play_sequence < s.play_sequence)
                    order by f.user_id limit $3)
               select user_id from asked union select user_id from following
                order by user_id limit $3";
    let rows = tx.query(sql, params![position.schedule, position.last_user, limit]).await?;
    let mut page = Page { n_read: rows.len() as u64, ..Page::default() };
    for row in &rows {
        let user: UserId = row.get("user_id")?;
        page.last_user = Some(user.uuid());
        let payload = json!({ "userId": user, "eventScheduleId": position.schedule });
        page.messages.push((user, payload));
    }
    Ok(page)
}

/// The last change of each booking that its buyer has not accepted.
async fn open_changes(tx: &mut dyn Tx, question: &OpenChanges) -> Result<Vec<OpenChange>> {
    let sql = "select a.id, a.details, a.created_at, r.id as reservation_id, r.schedule_id
                 from reservations r
                 join event_schedules s on s.id = r.schedule_id
                 join announcements a on a.schedule_id = r.schedule_id and a.kind = 'MOVED'
                where r.user_id = $1 and r.status = 'CONFIRMED' and r.created_at < a.created_at
                  and r.channel = 'FAN' and $2 < s.starts_at
                  and not exists (select 1 from announcements b
                                   where b.schedule_id = a.schedule_id and b.kind = 'MOVED'
                                     and a.about_at < b.about_at)
                  and not exists (select 1 from accepted_changes c
                                   where c.reservation_id = r.id and c.announcement_id = a.id)
                order by a.id desc limit 100";
    let read = |row: &Row| {
        let Moved { before, after } = read_details(row)?;
        Ok(OpenChange {
            id: row.get("id")?,
            reservation_id: row.get("reservation_id")?,
            schedule_id: row.get("schedule_id")?,
            before,
            after,
            announced_at: row.get("created_at")?,
        })
    };
    tx.query(sql, params![question.user, question.now]).await?.iter().map(read).collect()
}

/// Whether the buyer may cancel without a fee, because the show changed after the booking.
pub(crate) async fn has_open_change(
    tx: &mut dyn Tx,
    reservation: ReservationId,
    user: UserId,
    now: Timestamp,
) -> Result<bool> {
    let open = open_changes(tx, &OpenChanges { user, now }).await?;
    Ok(open.iter().any(|it| it.reservation_id == reservation))
}

async fn accept_change(tx: &mut dyn Tx, command: &AcceptChange) -> Result<()> {
    let changes = "select a.id from reservations r
                     join announcements a on a.schedule_id = r.schedule_id and a.kind = 'MOVED'
                    where r.id = $1 and r.user_id = $2 and r.status = 'CONFIRMED'
                      and r.channel = 'FAN'
                      and r.created_at < a.created_at";
    let rows = tx.query(changes, params![command.reservation, command.user]).await?;
    if rows.is_empty() {
        return Err(Refusal::NotFound.into());
    }
    let sql = "insert into accepted_changes (reservation_id, announcement_id, created_at)
               values ($1, $2, $3) on conflict (reservation_id, announcement_id) do nothing";
    for row in rows {
        let announcement: AnnouncementId = row.get("id")?;
        tx.execute(sql, params![command.reservation, announcement, command.now]).await?;
    }
    Ok(())
}

/// Changes stay as long as a fan can answer them: until their show is over.
async fn forget(tx: &mut dyn Tx, command: &ForgetAnnouncements) -> Result<u64> {
    let done = "delete from announcements where id in
                  (select a.id from announcements a
                     join event_schedules s on s.id = a.schedule_id
                    where a.done_at is not null and a.done_at < $1 and s.ends_at < $1
                    limit $2)";
    let reminders = "delete from sale_reminders where schedule_id in
                       (select a.schedule_id from announcements a
                         where a.done_at is not null and a.done_at < $1
                           and a.kind = 'SALE_REMINDER' limit $2)";
    let n_reminders = tx.execute(reminders, params![command.before, command.limit]).await?;
    Ok(n_reminders + tx.execute(done, params![command.before, command.limit]).await?)
}
