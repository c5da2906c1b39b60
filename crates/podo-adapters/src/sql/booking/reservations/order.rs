//! The ticket types and the promotion code of an order, chosen while it is held.

use crate::sql::booking::reservations::{
    Change, ReservationOf, json_or_null, load_with_date, read, seats_of, tell,
};
use crate::sql::catalog::promotions;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use crate::sql::payments::cancel_ready;
use podo_app::booking::port::reservations::{
    ChooseOrder, ReservationView, ReservedSeat, SeatParts,
};
use podo_app::{Error, Result};
use podo_domain::booking::order::options::{Fees, PriceOptions, TypeMark, choose_types};
use podo_domain::booking::order::promotions::Promotion;
use podo_domain::booking::order::{ChosenSeat, Order, SeatPrice, price};
use podo_domain::booking::reservations::Reservation;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{Refusal, Won};
use std::collections::BTreeSet;

/// Replaces the types and the code. Everything that counts on the amount is renewed with it.
pub(super) async fn choose(tx: &mut dyn Tx, command: &ChooseOrder) -> Result<ReservationView> {
    let found = load_with_date(tx, command.reservation).await?;
    let found = found.filter(|found| found.reservation.user == command.user);
    let found = found.ok_or(Refusal::NotFound)?;
    let reservation = found.reservation;
    // Refuses an order that isn't held any more, before anything is said about its choices.
    reservation.reprice(reservation.amount, reservation.order_fee, None, command.now)?;
    found.date.refuse_canceled()?;
    let (options, fees) = terms_of(tx, &reservation).await?;
    let seats = seats_of(tx, reservation.id, reservation.schedule).await?;
    let chosen = in_request_order(&seats, command)?;
    let ids: Vec<_> = chosen.iter().map(|(seat, id)| (seat.grade.as_str(), *id)).collect();
    let types = choose_types(&options, &ids)?;
    let promotion = match &command.code {
        Some(code) => {
            let found = promotions::find(tx, reservation.schedule, code).await?;
            let promotion = found.ok_or(Refusal::PromotionWrong)?;
            promotion.check_open(command.now)?;
            Some(promotion)
        }
        None => None,
    };
    let asked: Vec<ChosenSeat<'_>> = chosen
        .iter()
        .zip(&types)
        .map(|((seat, _), it)| ChosenSeat {
            grade: &seat.grade,
            list: seat.parts().list,
            ticket_type: *it,
        })
        .collect();
    let order = price(&asked, promotion.as_ref(), &fees, reservation.currency)?;
    let marks = types.iter().map(|it| it.map(|it| it.mark()));
    let next: Vec<ReservedSeat> = chosen
        .iter()
        .zip(order.seats.iter().zip(marks))
        .map(|((seat, _), (price, mark))| repriced(seat, *price, mark))
        .collect();
    let promotion_id = promotion.as_ref().map(|promotion| promotion.id);
    if is_same(&seats, &next) && promotion_id == reservation.promotion {
        return view(tx, command).await;
    }
    store(tx, &reservation, command, &order, next, promotion.as_ref()).await?;
    view(tx, command).await
}

async fn view(tx: &mut dyn Tx, command: &ChooseOrder) -> Result<ReservationView> {
    let question = ReservationOf { reservation: command.reservation, user: command.user };
    let view = read::one(tx, &question).await?;
    view.ok_or_else(|| Error::broken("a reservation disappeared in its transaction"))
}

/// The types of the date now, and the fees as they were when the seats were held.
async fn terms_of(tx: &mut dyn Tx, reservation: &Reservation) -> Result<(PriceOptions, Fees)> {
    let sql = "select s.price_options, r.fees
                 from reservations r join event_schedules s on s.id = r.schedule_id
                where r.id = $1";
    let row = tx.row(sql, params![reservation.id]).await?.ok_or(Refusal::NotFound)?;
    Ok((json_or_default(&row, "price_options")?, json_or_default(&row, "fees")?))
}

/// A JSON column whose null means the default.
pub(crate) fn json_or_default<T: Default + serde::de::DeserializeOwned>(
    row: &Row,
    name: &str,
) -> Result<T> {
    match row.get::<Option<String>>(name)? {
        Some(_) => Ok(row.json(name)?),
        None => Ok(T::default()),
    }
}

/// The seats in the order of the request, then those that it doesn't name.
fn in_request_order<'s>(
    seats: &'s [ReservedSeat],
    command: &ChooseOrder,
) -> Result<Vec<(&'s ReservedSeat, Option<u32>)>> {
    let mut named = BTreeSet::new();
    let mut chosen = Vec::with_capacity(seats.len());
    for (id, chosen_type) in &command.types {
        let seat = seats.iter().find(|seat| seat.id == *id).ok_or(Refusal::ForeignSeat)?;
        if !named.insert(*id) {
            return Err(Refusal::SeatRepeated.into());
        }
        chosen.push((seat, *chosen_type));
    }
    chosen.extend(seats.iter().filter(|seat| !named.contains(&seat.id)).map(|seat| (seat, None)));
    Ok(chosen)
}

pub(crate) fn repriced(
    seat: &ReservedSeat,
    price: SeatPrice,
    mark: Option<TypeMark>,
) -> ReservedSeat {
    let is_plain = mark.is_none() && price == SeatPrice { list: price.list, ..Default::default() };
    let parts = SeatParts {
        list_price: price.list,
        type_discount: price.type_off,
        code_discount: price.code_off,
        booking_fee: price.fee,
        ticket_type: mark,
    };
    ReservedSeat { price: price.ticket(), parts: (!is_plain).then_some(parts), ..seat.clone() }
}

fn is_same(before: &[ReservedSeat], after: &[ReservedSeat]) -> bool {
    after.iter().all(|seat| before.iter().any(|other| other == seat))
}

async fn store(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    command: &ChooseOrder,
    order: &Order,
    seats: Vec<ReservedSeat>,
    promotion: Option<&Promotion>,
) -> Result<()> {
    let amount = order.total().unwrap_or(Won::MAX);
    let id = promotion.map(|promotion| promotion.id);
    let next = reservation.reprice(amount, order.order_fee, id, command.now)?;
    let sql = "update reservations
                  set amount = $3, order_fee = $4, promotion_id = $5, promotion_code = $6,
                      version = $2, updated_at = $7
                where id = $1 and version = $2 - 1 and status = 'HELD'";
    let code = promotion.map(|promotion| promotion.code.clone());
    let values = params![next.id, next.version, next.amount, next.order_fee, id, code, command.now];
    tx.change(sql, vec![values.to_vec()]).await?;
    promotions::change_use(tx, reservation, promotion, command.now).await?;
    store_seats(tx, &next, &seats).await?;
    // A gateway may have been prepared for the old amount.
    cancel_ready(tx, next.id, command.now).await?;
    let kind = MessageKind::ReservationPriced;
    let change = Change { reservation: &next, seats: &seats, booking: None, kind };
    tell(tx, change, command.now).await
}

async fn store_seats(
    tx: &mut dyn Tx,
    reservation: &Reservation,
    seats: &[ReservedSeat],
) -> Result<()> {
    let sql = "update reservation_seats
                  set price = $3, list_price = $4, type_off = $5, code_off = $6, fee = $7,
                      ticket_type = $8
                where reservation_id = $1 and seat_index = $2 and active";
    let set = |seat: &ReservedSeat| {
        let key: [Value; 2] = [reservation.id.into(), seat.id.index().into()];
        Ok(key.into_iter().chain(priced(seat)?).collect())
    };
    let sets = seats.iter().map(set).collect::<Result<Vec<Vec<Value>>>>()?;
    Ok(tx.change(sql, sets).await?)
}

/// The price columns of a seat.
pub(super) fn priced(seat: &ReservedSeat) -> Result<[Value; 6]> {
    let parts = seat.parts();
    Ok([
        seat.price.into(),
        seat.parts.as_ref().map(|_| parts.list).into(),
        parts.type_off.into(),
        parts.code_off.into(),
        parts.fee.into(),
        json_or_null(seat.ticket_type())?,
    ])
}
