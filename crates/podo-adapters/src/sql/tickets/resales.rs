//! Resales: one row per listing. The swap is one transaction: the buyer's seat is given back at the
//! price paid, and the taker's reservation claims and pays for it.

use crate::sql::booking::reservations;
use crate::sql::booking::reservations::{Claim, store_claimed, take_free_seats};
use crate::sql::booking::standby::check_sale;
use crate::sql::catalog::phases::phases_of;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::idempotency;
use crate::sql::payments::cancel::{GivenBack, GivenBy, Paid, give_back, load_paid};
use crate::sql::payments::confirm::pay_at_once;
use crate::sql::tickets::gate::why_not_valid;
use podo_app::booking::port::reservations::SeatParts;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::Sold;
use podo_app::tickets::resale_port::{
    AdvanceResale, ListTicket, ResaleView, Resales, Resold, TakeResale,
};
use podo_app::{Error, Result};
use podo_domain::Currency;
use podo_domain::booking::issued::Channel;
use podo_domain::booking::order::options::Fees;
use podo_domain::booking::reservations::check_seat_limit;
use podo_domain::booking::seats::SeatPick;
use podo_domain::booking::standby::PLACE_OF_OFFER;
use podo_domain::catalog::phases::is_for_everybody;
use podo_domain::id::SeatIndex;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::payments::refunds::{CancelTerms, FeesBack, RefundTo};
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::resales::{NextOffer, ResaleState};
use podo_domain::{
    PaymentId, Refusal, ResaleId, ReservationId, ScheduleId, StandbyId, TicketId, Timestamp,
    UserId, Won,
};
use serde_json::json;
use uuid::Uuid;

commands! {
    impl Resales for SqlStore {
        write list_ticket(ListTicket) -> ResaleView as Sales => list_ticket;
        write withdraw_resale(WithdrawResale { ticket: TicketId, user: UserId, now: Timestamp })
            -> bool as Sales => withdraw;
        read resales_of(ResalesOf { user: UserId, limit: u32 })
            -> Vec<ResaleView> as Sales => of_seller;
        read resales_for(ResalesFor { user: UserId, now: Timestamp })
            -> Vec<ResaleView> as Sales => for_taker;
        read open_resales(OpenResales { now: Timestamp, limit: u32 })
            -> Vec<ResaleId> as Worker => open;
        write advance_resale(AdvanceResale) -> bool as Sales => advance;
        write take_resale(TakeResale) -> Idempotent<Resold> as Sales => take;
    }
}

fn read_view(row: &Row) -> Result<ResaleView> {
    let state = row.parse("state", ResaleState::parse)?;
    let offered_until: Option<Timestamp> = row.get("offered_until")?;
    Ok(ResaleView {
        id: row.get("id")?,
        ticket_id: row.get("ticket_id")?,
        schedule_id: row.get("schedule_id")?,
        event_title: row.get("title")?,
        venue_name: row.get("venue_name")?,
        starts_at: row.get("starts_at")?,
        time_zone: row.get("time_zone")?,
        seat_number: row.get("seat_number")?,
        grade: row.get("grade")?,
        price: row.get("price")?,
        currency: row.parse("currency", Currency::parse)?,
        state,
        offered_until: offered_until.filter(|_| state == ResaleState::Offered),
        created_at: row.get("created_at")?,
    })
}

async fn list_ticket(tx: &mut dyn Tx, command: &ListTicket) -> Result<ResaleView> {
    let ListTicket { resale, ticket, user, now, .. } = *command;
    // Two listings of one ticket take turns, so that the second finds the first.
    tx.lock(ticket.uuid()).await?;
    let open =
        "select z.id, z.ticket_id, z.schedule_id, e.title, v.name as venue_name, v.time_zone, s.starts_at,
                       t.seat_number, z.grade, z.price, z.state, z.offered_until, z.created_at,
                       e.currency
                  from resales z
                  join tickets t on t.id = z.ticket_id
                  join event_schedules s on s.id = z.schedule_id
                  join events e on e.id = s.event_id
                  join venues v on v.id = e.venue_id
                 where z.ticket_id = $1 and z.state in ('LISTED', 'OFFERED')";
    let sql = "select t.status, t.schedule_id, t.seat_index, t.grade, t.reservation_id,
                      r.user_id as buyer_id, c.price + c.fee as price,
                      r.channel, r.currency
                 from tickets t
                 join reservations r on r.id = t.reservation_id
                 left join reservation_seats c
                   on c.reservation_id = t.reservation_id and c.seat_index = t.seat_index
                  and c.active
                where t.id = $1 and t.user_id = $2";
    let row = tx.row(sql, params![ticket, user]).await?.ok_or(Refusal::NotFound)?;
    if row.parse("status", TicketStatus::parse)? != TicketStatus::Valid {
        return Err(why_not_valid(tx, ticket).await?.into());
    }
    // Only what a fan paid can be paid back to them.
    if row.get::<UserId>("buyer_id")? != user {
        return Err(Refusal::TicketTransferred.into());
    }
    check_sale(tx, row.get("schedule_id")?, now).await?;
    // The fan who takes it pays from the wallet.
    if row.parse("currency", Currency::parse)? != command.home {
        return Err(Refusal::WalletCurrency { field: "ticketId" }.into());
    }
    if let Some(known) = tx.row(open, params![ticket]).await? {
        return read_view(&known);
    }
    let price: Option<Won> = row.get("price")?;
    // Nothing was paid for it that could be paid back.
    // The desk gives back what it took, so no wallet does.
    let is_fans = row.parse("channel", Channel::parse)? == Channel::Fan;
    let price =
        price.filter(|price| is_fans && !price.is_zero()).ok_or(Refusal::NothingToRefund)?;
    let insert = "insert into resales (id, ticket_id, reservation_id, schedule_id, seat_index,
                                       grade, user_id, price, state, created_at, updated_at)
                  values ($1, $2, $3, $4, $5, $6, $7, $8, 'LISTED', $9, $9)";
    let values = params![
        resale,
        ticket,
        row.get::<ReservationId>("reservation_id")?,
        row.get::<ScheduleId>("schedule_id")?,
        row.get::<SeatIndex>("seat_index")?,
        row.get::<String>("grade")?,
        user,
        price,
        now
    ];
    tx.execute(insert, values).await?;
    let made = tx.row(open, params![ticket]).await?;
    read_view(&made.ok_or_else(|| Error::broken("a listing disappeared in its transaction"))?)
}

async fn withdraw(tx: &mut dyn Tx, command: &WithdrawResale) -> Result<bool> {
    let sql = "update resales set state = 'WITHDRAWN', updated_at = $3
                where ticket_id = $1 and user_id = $2 and state in ('LISTED', 'OFFERED')";
    Ok(tx.execute(sql, params![command.ticket, command.user, command.now]).await? == 1)
}

async fn of_seller(tx: &mut dyn Tx, question: &ResalesOf) -> Result<Vec<ResaleView>> {
    let sql = "select z.id, z.ticket_id, z.schedule_id, e.title, v.name as venue_name, v.time_zone, s.starts_at,
                      t.seat_number, z.grade, z.price, z.state, z.offered_until, z.created_at,
                      e.currency
                 from resales z
                 join tickets t on t.id = z.ticket_id
                 join event_schedules s on s.id = z.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where z.user_id = $1 order by z.id desc limit $2";
    tx.query(sql, params![question.user, question.limit]).await?.iter().map(read_view).collect()
}

async fn for_taker(tx: &mut dyn Tx, question: &ResalesFor) -> Result<Vec<ResaleView>> {
    let sql = "select z.id, z.ticket_id, z.schedule_id, e.title, v.name as venue_name, v.time_zone, s.starts_at,
                      t.seat_number, z.grade, z.price, z.state, z.offered_until, z.created_at,
                      e.currency
                 from resales z
                 join tickets t on t.id = z.ticket_id
                 join event_schedules s on s.id = z.schedule_id
                 join events e on e.id = s.event_id
                 join venues v on v.id = e.venue_id
                where z.offered_to = $1 and z.state = 'OFFERED' and z.offered_until > $2
                  and t.status = 'VALID'
                order by z.offered_until limit 20";
    tx.query(sql, params![question.user, question.now]).await?.iter().map(read_view).collect()
}

async fn open(tx: &mut dyn Tx, question: &OpenResales) -> Result<Vec<ResaleId>> {
    let sql = "select z.id from resales z
                where z.state in ('LISTED', 'OFFERED')
                  and coalesce((select f.next_at from job_failures f
                                   where f.job = 'resell' and f.item = z.id), $1) <= $1
                order by z.id limit $2";
    let rows = tx.query(sql, params![question.now, question.limit]).await?;
    rows.iter().map(|row| Ok(row.get("id")?)).collect()
}

/// A listing with what decides about it.
struct Listing {
    id: ResaleId,
    reservation: ReservationId,
    schedule: ScheduleId,
    seat: SeatIndex,
    grade: String,
    seller: UserId,
    price: Won,
    currency: Currency,
    state: ResaleState,
    standby: Option<StandbyId>,
    offered_to: Option<UserId>,
    offered_until: Option<Timestamp>,
    seat_number: String,
    /// Whether the ticket is valid and still with its buyer.
    is_whole: bool,
}

async fn load(tx: &mut dyn Tx, id: ResaleId) -> Result<Option<Listing>> {
    let sql = "select z.id, z.reservation_id, z.schedule_id, z.seat_index, z.grade, z.user_id,
                      z.price, z.state, z.standby_id, z.offered_to, z.offered_until,
                      t.seat_number, t.status, t.user_id as owner_id, r.currency
                 from resales z join tickets t on t.id = z.ticket_id
                 join reservations r on r.id = t.reservation_id
                where z.id = $1";
    let Some(row) = tx.row(sql, params![id]).await? else { return Ok(None) };
    let (seller, owner): (UserId, UserId) = (row.get("user_id")?, row.get("owner_id")?);
    let is_valid = row.parse("status", TicketStatus::parse)? == TicketStatus::Valid;
    Ok(Some(Listing {
        id: row.get("id")?,
        reservation: row.get("reservation_id")?,
        schedule: row.get("schedule_id")?,
        seat: row.get("seat_index")?,
        grade: row.get("grade")?,
        seller,
        price: row.get("price")?,
        currency: row.parse("currency", Currency::parse)?,
        state: row.parse("state", ResaleState::parse)?,
        standby: row.get("standby_id")?,
        offered_to: row.get("offered_to")?,
        offered_until: row.get("offered_until")?,
        seat_number: row.get("seat_number")?,
        is_whole: is_valid && seller == owner,
    }))
}

async fn advance(tx: &mut dyn Tx, command: &AdvanceResale) -> Result<bool> {
    tx.lock(command.resale.uuid()).await?;
    let Some(listing) = load(tx, command.resale).await? else { return Ok(false) };
    let is_on_sale = match check_sale(tx, listing.schedule, command.now).await {
        Ok(_) => true,
        Err(Error::Refused(_)) => false,
        Err(error) => return Err(error),
    };
    let is_sellable = listing.is_whole && is_on_sale;
    match listing.state.next(is_sellable, listing.offered_until, command.now) {
        NextOffer::Nothing => Ok(false),
        NextOffer::End => end(tx, &listing, command.now).await,
        NextOffer::Lapse => {
            let sql = "update standbys set state = 'LAPSED', updated_at = $2
                        where id = $1 and state = 'WAITING'";
            tx.execute(sql, params![listing.standby, command.now]).await?;
            let is_offered = offer(tx, &listing, command).await?;
            match is_offered {
                true => Ok(true),
                false => back(tx, &listing, command.now).await,
            }
        }
        NextOffer::Offer => offer(tx, &listing, command).await,
    }
}

async fn end(tx: &mut dyn Tx, listing: &Listing, now: Timestamp) -> Result<bool> {
    let sql = "update resales set state = 'ENDED', updated_at = $2
                where id = $1 and state in ('LISTED', 'OFFERED')";
    Ok(tx.execute(sql, params![listing.id, now]).await? == 1)
}

/// No one else waits: the next entry of the standby list gets it.
async fn back(tx: &mut dyn Tx, listing: &Listing, now: Timestamp) -> Result<bool> {
    let sql = "update resales set state = 'LISTED', offered_to = null, offered_until = null,
                                  updated_at = $2
                where id = $1 and state = 'OFFERED'";
    Ok(tx.execute(sql, params![listing.id, now]).await? == 1)
}

/// The first entry for one seat of this grade that was not asked about it before, and whose fan has
/// no other offer of this kind.
async fn offer(tx: &mut dyn Tx, listing: &Listing, command: &AdvanceResale) -> Result<bool> {
    // The list doesn't know who is eligible for a phase, so it gets nothing while a limited one
    // runs.
    let phases = phases_of(tx, listing.schedule).await?;
    if !is_for_everybody(&phases, listing.seat, command.now) {
        return Ok(false);
    }
    let find = "select w.id, w.user_id from standbys w
                 where w.schedule_id = $1 and w.state = 'WAITING' and w.id > $2
                   and w.grade = $3 and w.n_seats = 1 and w.user_id <> $4
                   and not exists (select 1 from resales o
                                    where o.offered_to = w.user_id and o.state = 'OFFERED'
                                      and o.id <> $5)
                 order by w.id limit 1";
    let after = listing.standby.map_or(Uuid::nil(), StandbyId::uuid);
    let values = params![listing.schedule, after, &listing.grade, listing.seller, listing.id];
    let Some(row) = tx.row(find, values).await? else { return Ok(false) };
    let (standby, fan): (StandbyId, UserId) = (row.get("id")?, row.get("user_id")?);
    let sql = "update resales set state = 'OFFERED', standby_id = $2, offered_to = $3,
                                  offered_until = $4, updated_at = $5
                where id = $1 and state = $6";
    let before = listing.state.as_str();
    let values = params![listing.id, standby, fan, command.until, command.now, before];
    if tx.execute(sql, values).await? != 1 {
        return Ok(false);
    }
    let payload = json!({
        "resaleId": listing.id, "userId": fan, "eventScheduleId": listing.schedule,
        "seatNumber": listing.seat_number, "amount": listing.price,
        "currency": listing.currency, "until": command.until,
    });
    let message = Outgoing {
        kind: MessageKind::ResaleOffered,
        aggregate: tx.rng().id(command.now),
        seq: 1,
        key: listing.schedule.uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, command.now).await?;
    Ok(true)
}

async fn take(tx: &mut dyn Tx, command: &TakeResale) -> Result<Idempotent<Resold>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let listing = load(tx, command.resale).await?;
    let listing = listing.filter(|it| it.offered_to == Some(command.user));
    let listing = listing.ok_or(Refusal::NotFound)?;
    listing.state.take(listing.offered_until, command.now)?;
    if listing.price != command.amount {
        return Err(Refusal::AmountMismatch.into());
    }
    claim_listing(tx, &listing, command).await?;
    check_limit(tx, &listing, command).await?;
    let (canceled, freed) = refund_seller(tx, &listing, command).await?;
    if canceled != listing.price {
        return Err(Error::broken("a resale refunds exactly what was paid for the seat"));
    }
    let sold = sell_to_taker(tx, &listing, command).await?;
    let payment = Some(command.payment.uuid());
    idempotency::store(tx, &command.key, payment, &sold.confirmed, command.now).await?;
    Ok(Idempotent::Fresh(Resold { freed, sold: Box::new(sold) }))
}

/// The listing and the standby entry change hands first: of two takers, or a taker and a buyer who
/// withdraws, one finds a row.
async fn claim_listing(tx: &mut dyn Tx, listing: &Listing, command: &TakeResale) -> Result<()> {
    let sql = "update resales set state = 'SOLD', sold_as = $2, refund_id = $3, updated_at = $4
                where id = $1 and state = 'OFFERED' and offered_to = $5 and offered_until > $4";
    let values =
        params![listing.id, command.reservation, command.refund, command.now, command.user];
    if tx.execute(sql, values).await? != 1 {
        return Err(Refusal::ResaleOver.into());
    }
    let sql = "update standbys set state = 'TAKEN', reservation_id = $2, updated_at = $3
                where id = $1 and state = 'WAITING'";
    if tx.execute(sql, params![listing.standby, command.reservation, command.now]).await? != 1 {
        return Err(Refusal::ResaleOver.into());
    }
    Ok(())
}

async fn check_limit(tx: &mut dyn Tx, listing: &Listing, command: &TakeResale) -> Result<()> {
    let (fan, date) = (command.user.uuid().as_u128(), listing.schedule.uuid().as_u128());
    tx.lock(Uuid::from_u128(fan ^ date)).await?;
    let max = check_sale(tx, listing.schedule, command.now).await?.seats_per_person;
    let sql = "select cast(coalesce(sum(n_seats), 0) as bigint) as n_active from reservations
                where schedule_id = $1 and user_id = $2
                  and status in ('HELD', 'PAYING', 'CONFIRMED')
                  and not (status = 'HELD' and hold_expires_at <= $3)";
    let row = tx.row(sql, params![listing.schedule, command.user, command.now]).await?;
    let n_active = row.map(|row| row.get("n_active")).transpose()?.unwrap_or(0);
    Ok(check_seat_limit(n_active, 1, max)?)
}

/// Cancels the seat without a fee. Returns the refund with the freed seat.
async fn refund_seller(
    tx: &mut dyn Tx,
    listing: &Listing,
    command: &TakeResale,
) -> Result<(Won, podo_app::booking::port::reservations::Freed)> {
    let sql = "select id from payments
                where reservation_id = $1 and user_id = $2 and captured > refunded + promised
                order by id desc limit 1";
    let row = tx.row(sql, params![listing.reservation, listing.seller]).await?;
    let payment: PaymentId = row.ok_or(Refusal::ResaleOver)?.get("id")?;
    let paid: Paid = load_paid(tx, payment).await?;
    paid.refuse_unless_paid()?;
    // The taker pays the booking fee that the buyer paid. The fee of the buyer's order stays.
    let fees_back = FeesBack { booking: true, order: false };
    let given = GivenBack {
        seats: paid.choose(&[listing.schedule.seat(listing.seat)])?,
        terms: CancelTerms { fees_back, ..CancelTerms::FREE },
        refund: command.refund,
        reason: "resale",
        to: RefundTo::Original,
        by: GivenBy::Fan,
        now: command.now,
    };
    let (canceled, freed) = give_back(tx, paid, given).await?;
    Ok((canceled.refund_amount, freed))
}

/// What the buyer paid for the seat, with the ticket type that the gate asks about.
async fn bought_as(tx: &mut dyn Tx, listing: &Listing) -> Result<(Won, Option<SeatParts>)> {
    let sql = "select price, list_price, type_off, code_off, fee, ticket_type
                 from reservation_seats where reservation_id = $1 and seat_index = $2";
    let row = tx.row(sql, params![listing.reservation, listing.seat]).await?;
    let row = row.ok_or(Refusal::ResaleOver)?;
    Ok((row.get("price")?, reservations::read_parts(&row)?))
}

/// The taker pays what the buyer paid, whatever the seat costs now.
async fn sell_to_taker(tx: &mut dyn Tx, listing: &Listing, command: &TakeResale) -> Result<Sold> {
    let seat = listing.schedule.seat(listing.seat);
    let pick = SeatPick::new(listing.schedule, &[seat])?;
    let claim = Claim {
        reservation: command.reservation,
        user: command.user,
        channel: Channel::Fan,
        pick: &pick,
        phase: None,
        place: PLACE_OF_OFFER,
        until: listing.offered_until.ok_or(Refusal::ResaleOver)?,
        // In the price already.
        fees: Fees::default(),
        prices: None,
        currency: listing.currency,
        now: command.now,
    };
    let mut claimed = take_free_seats(tx, &claim).await?;
    for claimed in &mut claimed {
        (claimed.seat.price, claimed.seat.parts) = bought_as(tx, listing).await?;
    }
    store_claimed(tx, &claim, claimed).await?;
    let held = reservations::load_with_date(tx, command.reservation).await?;
    let held = held.ok_or_else(|| Error::broken("a reservation disappeared as it was made"))?;
    held.date.refuse_canceled()?;
    pay_at_once(tx, &held, command.payment, command.now).await
}
