//! Events: every statement that names their columns.

use crate::sql::catalog::announce::announce_change;
use crate::sql::catalog::images::read_image;
use crate::sql::catalog::{EventById, Events, VenueAddress};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use crate::sql::identity::team::{in_scope, scope_values};
use podo_app::catalog::EventView;
use podo_app::catalog::port::{CreateEvent, EditEvent};
use podo_app::{Error, Result};
use podo_domain::catalog::{
    EventEdit, EventStatus, Genre, NewEvent, SaleTerms, ScheduleStatus, SeatTemplate, price_seats,
};
use podo_domain::payments::OfferedMethods;
use podo_domain::payments::deposits::DepositDeadline;
use podo_domain::{Currency, Refusal, Timestamp};
use serde_json::json;
use uuid::Uuid;

pub(super) async fn create_event(tx: &mut dyn Tx, command: &CreateEvent) -> Result<()> {
    let NewEvent { title, artist, description, venue_id, hall_id, .. } = &command.new;
    let hall = "select 1 from halls where id = $1 and venue_id = $2";
    tx.row(hall, params![*hall_id, *venue_id]).await?.ok_or(Refusal::NotFound)?;
    let sql = "insert into events (id, title, artist, description, venue_id, hall_id, status,
                                   created_at, updated_at, transferable, genre, minimum_age,
                                   payment_methods, vat_exempt, currency, deposit_deadline)
               values ($1, $2, $3, $4, $5, $6, 'PREPARING', $7, $7, $8, $9, $10, $11, $12, $13, $14)";
    let values = params![
        command.event,
        title.as_str(),
        artist.as_str(),
        description.as_str(),
        *venue_id,
        *hall_id,
        command.now,
        command.new.transferable.unwrap_or(true),
        command.new.genre.as_str(),
        i64::from(command.new.minimum_age.years()),
        command.terms.methods.to_text(),
        command.new.vat_exempt,
        command.terms.currency.as_str(),
        command.new.deposit_deadline.to_text()
    ];
    tx.execute(sql, values).await?;
    let sql = "insert into events_search (id, words) values ($1, $2)";
    let words = search_words(title.as_str(), artist.as_str());
    tx.execute(sql, params![command.event, words]).await?;
    let details = json!({ "title": title });
    announce_change(tx, command.actor, "event.create", command.event.uuid(), details, command.now)
        .await
}

/// The currency and the methods after the change, decided while no other change runs. The desk sells
/// before the sale opens, and takes the same lock.
async fn next_terms(tx: &mut dyn Tx, command: &EditEvent) -> Result<SaleTerms> {
    tx.lock(command.event.uuid()).await?;
    let sql = "select currency, payment_methods,
                      exists (select 1 from event_schedules s
                               where s.event_id = events.id
                                 and (s.sale_starts_at <= $2
                                      -- A seat that was ever held has a fence above zero.
                                      or exists (select 1 from seats t
                                                  where t.schedule_id = s.id and t.fence > 0)))
                        as was_on_sale
                 from events where id = $1";
    let row = tx.row(sql, params![command.event, command.now]).await?.ok_or(Refusal::NotFound)?;
    let terms = SaleTerms {
        currency: row.parse("currency", Currency::parse)?,
        methods: row.parse("payment_methods", OfferedMethods::parse)?,
    };
    Ok(terms.change(&command.edit, row.get("was_on_sale")?, command.home)?)
}

/// Prices that were set in another currency have to be possible in the new one.
async fn check_prices(tx: &mut dyn Tx, command: &EditEvent, currency: Currency) -> Result<()> {
    let sql = "select seat_template, prices from event_schedules where event_id = $1";
    for row in tx.query(sql, params![command.event]).await? {
        let template: SeatTemplate = row.json("seat_template")?;
        price_seats(&template.plan()?, &row.json("prices")?, currency)?;
    }
    Ok(())
}

pub(super) async fn edit_event(tx: &mut dyn Tx, command: &EditEvent) -> Result<()> {
    let terms = next_terms(tx, command).await?;
    if command.edit.currency.is_some() {
        check_prices(tx, command, terms.currency).await?;
    }
    let sql = "update events set title = coalesce($2, title), artist = coalesce($3, artist),
                      description = coalesce($4, description), updated_at = $5,
                      transferable = coalesce($6, transferable), genre = coalesce($7, genre),
                      minimum_age = coalesce($8, minimum_age),
                      payment_methods = $9, vat_exempt = coalesce($10, vat_exempt), currency = $11,
                      deposit_deadline = coalesce($12, deposit_deadline)
                where id = $1
               returning title, artist, transferable, genre, minimum_age, payment_methods,
                         vat_exempt, currency, deposit_deadline";
    let EventEdit { title, artist, description, .. } = &command.edit;
    let EventEdit { transferable, genre, minimum_age, vat_exempt, .. } = &command.edit;
    let deposit_deadline = command.edit.deposit_deadline.map(DepositDeadline::to_text);
    let values = params![
        command.event,
        title.as_ref().map(|it| it.as_str()),
        artist.as_ref().map(|it| it.as_str()),
        description.as_ref().map(|it| it.as_str()),
        command.now,
        *transferable,
        genre.map(Genre::as_str),
        minimum_age.map(|it| i64::from(it.years())),
        terms.methods.to_text(),
        *vat_exempt,
        terms.currency.as_str(),
        deposit_deadline
    ];
    let row = tx.row(sql, values).await?.ok_or(Refusal::NotFound)?;
    let (title, artist): (String, String) = (row.get("title")?, row.get("artist")?);
    let sql = "update events_search set words = $2 where id = $1";
    tx.execute(sql, params![command.event, search_words(&title, &artist)]).await?;
    let details = json!({
        "title": title,
        "artist": artist,
        "transferable": row.get::<bool>("transferable")?,
        "genre": row.get::<String>("genre")?,
        "minimumAge": row.get::<i64>("minimum_age")?,
        "paymentMethods": row.get::<String>("payment_methods")?,
        "vatExempt": row.get::<bool>("vat_exempt")?,
        "currency": row.get::<String>("currency")?,
        "depositDeadline": row.get::<String>("deposit_deadline")?,
    });
    announce_change(tx, command.actor, "event.edit", command.event.uuid(), details, command.now)
        .await
}

fn search_words(title: &str, artist: &str) -> String {
    format!("{title} {artist}").to_lowercase()
}

/// The columns that `read_event` reads.
macro_rules! columns {
    () => {
        "e.id, e.title, e.artist, e.description, e.status, v.name as venue_name, v.city,
                v.time_zone, e.currency, h.name as hall_name, e.transferable, e.genre, e.minimum_age, e.payment_methods, e.vat_exempt,
                e.deposit_deadline,
                p.hash as image_hash,
                p.widths as image_widths, p.width as image_width, p.height as image_height,
                p.tone as image_tone, p.alt as image_alt"
    };
}

/// A filter that is absent is null and matches everything.
pub(super) async fn events(tx: &mut dyn Tx, question: &Events) -> Result<Vec<EventView>> {
    if let Some(text) = &question.filter.query {
        return search(tx, question, text).await;
    }
    let sql = concat!(
        "select ",
        columns!(),
        "
                 from events e
                 join venues v on v.id = e.venue_id
                 join halls h on h.id = e.hall_id
                 left join event_images p on p.event_id = e.id and p.slot = 0
                where e.id < $1 ",
        in_scope!("e.id"),
        "
                  and (cast($2 as text) is null or e.status = $2)
                  and (cast($3 as text) is null or v.city = $3)
                  and (not $4 or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.starts_at >= $5 and s.starts_at < $6
                         limit 1) is not null)
                  and (cast($29 as text) is null or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.status = $29 limit 1) is not null)
                  and (cast($30 as text) is null or e.genre = $30)
                  and (not $31 or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.status <> 'CANCELLED'
                           and s.sale_starts_at >= $32 and s.sale_starts_at < $33
                         limit 1) is not null
                       or (
                        select 1 from event_schedules s
                          join sale_phases f on f.schedule_id = s.id
                         where s.event_id = e.id and s.status <> 'CANCELLED'
                           and f.starts_at >= $32 and f.starts_at < $33
                         limit 1) is not null)
                order by e.id desc limit $28"
    );
    tx.query(sql, &filters(question)).await?.iter().map(read_event).collect()
}

/// Matches Korean by any part of a word: three letters or more through the trigram index, fewer by
/// a scan.
async fn search(tx: &mut dyn Tx, question: &Events, text: &str) -> Result<Vec<EventView>> {
    let sql = concat!(
        "select ",
        columns!(),
        "
                 from events_search w
                 join events e on e.id = w.id
                 join venues v on v.id = e.venue_id
                 join halls h on h.id = e.hall_id
                 left join event_images p on p.event_id = e.id and p.slot = 0
                where w.words like $34 and w.words like $35 escape '\\'
                  and e.id < $1 ",
        in_scope!("e.id"),
        "
                  and (cast($2 as text) is null or e.status = $2)
                  and (cast($3 as text) is null or v.city = $3)
                  and (not $4 or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.starts_at >= $5 and s.starts_at < $6
                         limit 1) is not null)
                  and (cast($29 as text) is null or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.status = $29 limit 1) is not null)
                  and (cast($30 as text) is null or e.genre = $30)
                  and (not $31 or (
                        select 1 from event_schedules s
                         where s.event_id = e.id and s.status <> 'CANCELLED'
                           and s.sale_starts_at >= $32 and s.sale_starts_at < $33
                         limit 1) is not null
                       or (
                        select 1 from event_schedules s
                          join sale_phases f on f.schedule_id = s.id
                         where s.event_id = e.id and s.status <> 'CANCELLED'
                           and f.starts_at >= $32 and f.starts_at < $33
                         limit 1) is not null)
                order by e.id desc limit $28"
    );
    let mut values = filters(question);
    values.extend([rough_pattern(text).into(), like_pattern(text).into()]);
    tx.query(sql, &values).await?.iter().map(read_event).collect()
}

fn filters(question: &Events) -> Vec<Value> {
    let filter = &question.filter;
    let has_dates = filter.from.is_some() || filter.to.is_some();
    let mut values = params![
        question.page.after.unwrap_or(Uuid::max()),
        filter.only.map(EventStatus::as_str),
        filter.city.clone(),
        has_dates,
        filter.from.unwrap_or(Timestamp::from_ms(0)),
        filter.to.unwrap_or(Timestamp::FAR_FUTURE)
    ]
    .to_vec();
    values.extend(scope_values(filter.events.as_ref()));
    let status = filter.schedule_status.map(ScheduleStatus::as_str);
    let genre = filter.genre.map(Genre::as_str);
    let has_openings = filter.opens_from.is_some() || filter.opens_to.is_some();
    values.extend(
        params![
            question.page.limit + 1,
            status,
            genre,
            has_openings,
            filter.opens_from.unwrap_or(Timestamp::from_ms(0)),
            filter.opens_to.unwrap_or(Timestamp::FAR_FUTURE)
        ]
        .to_vec(),
    );
    values
}

/// Matches the text anywhere, with `_` in place of pattern characters. It matches slightly too
/// much, but it can use the index, which SQLite does only for patterns without escapes.
fn rough_pattern(text: &str) -> String {
    format!("%{}%", text.to_lowercase().replace(['\\', '%', '_'], "_"))
}

/// Matches the text anywhere, with its own `%` and `_` escaped.
fn like_pattern(text: &str) -> String {
    let escaped = text.to_lowercase().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
    format!("%{escaped}%")
}

fn read_event(row: &Row) -> Result<EventView> {
    Ok(EventView {
        id: row.get("id")?,
        title: row.get("title")?,
        artist: row.get("artist")?,
        description: row.get("description")?,
        status: row.parse("status", EventStatus::parse)?,
        venue_name: row.get("venue_name")?,
        city: row.get("city")?,
        hall_name: row.get("hall_name")?,
        transferable: row.get("transferable")?,
        genre: row.parse("genre", Genre::parse)?,
        minimum_age: row.get::<u8>("minimum_age")?.try_into().map_err(Error::broken)?,
        time_zone: row.get("time_zone")?,
        currency: row.parse("currency", Currency::parse)?,
        payment_methods: row.parse("payment_methods", OfferedMethods::parse)?,
        vat_exempt: row.get("vat_exempt")?,
        deposit_deadline: row.parse("deposit_deadline", DepositDeadline::parse)?,
        poster: read_image(row)?,
    })
}

pub(super) async fn event(tx: &mut dyn Tx, question: &EventById) -> Result<Option<EventView>> {
    let sql = concat!(
        "select ",
        columns!(),
        "
                 from events e
                 join venues v on v.id = e.venue_id
                 join halls h on h.id = e.hall_id
                 left join event_images p on p.event_id = e.id and p.slot = 0
                where e.id = $1"
    );
    tx.row(sql, params![question.event]).await?.as_ref().map(read_event).transpose()
}

pub(super) async fn venue_address(
    tx: &mut dyn Tx,
    question: &VenueAddress,
) -> Result<Option<String>> {
    let sql = "select v.address from events e join venues v on v.id = e.venue_id where e.id = $1";
    let row = tx.row(sql, params![question.event]).await?;
    row.map(|row| Ok(row.get("address")?)).transpose()
}
