//! A refund that an organiser makes; a large one needs a second organiser.

use super::super::audit::note;
use super::super::keys;
use super::super::payments::cancel::{GivenBack, GivenBy, Paid, give_back, load_paid};
use super::super::tx::{Tx, work};
use super::super::value::params;
use app::Result;
use app::ports::keys::Once;
use app::ports::refunds::{OrganiserRefund, RefundByOrganiser, SecondNeeded};
use app::ports::reservations::ReservedSeat;
use domain::refunds::{SECOND_ORGANISER_ABOVE, quote};
use domain::{PaymentId, Timestamp, UserId, Won};
use serde_json::json;

work!(Sales: RefundByOrganiser => refund, Once<OrganiserRefund>);

async fn refund(tx: &mut dyn Tx, command: &RefundByOrganiser) -> Result<Once<OrganiserRefund>> {
    if let Some(answer) = keys::find(tx, &command.key).await? {
        return Ok(Once::Replay(answer));
    }
    let paid = load_paid(tx, command.payment).await?;
    paid.refuse_unless_paid()?;
    let seats = paid.choose(&command.seats)?;
    let amount = quote(seats.iter().map(|seat| seat.price), command.fee_percent).refund;
    if amount > SECOND_ORGANISER_ABOVE {
        let indexes: Vec<String> = seats.iter().map(|seat| seat.id.index().to_string()).collect();
        let what = format!("{} -{}%", indexes.join(","), command.fee_percent);
        let by = (command.actor, command.now);
        if !is_second(tx, command.payment, &what, by).await? {
            return wait_for_second(tx, command, amount).await;
        }
    }
    make(tx, command, paid, seats).await
}

async fn make(
    tx: &mut dyn Tx,
    command: &RefundByOrganiser,
    paid: Paid,
    seats: Vec<ReservedSeat>,
) -> Result<Once<OrganiserRefund>> {
    let given = GivenBack {
        seats,
        fee_percent: command.fee_percent,
        refund: command.refund,
        reason: &command.reason,
        to: command.to,
        by: GivenBy::House,
        now: command.now,
    };
    let (answer, freed) = give_back(tx, paid, given).await?;
    let details = json!({ "amount": answer.refund_amount, "reason": command.reason });
    let action = (command.actor, "payment.refund");
    note(tx, action, command.payment, details, command.now).await?;
    keys::store(tx, &command.key, &answer, command.now).await?;
    Ok(Once::Fresh(OrganiserRefund::Made(answer, freed)))
}

/// Whether another organiser has asked for the very same. Otherwise this one's wish is noted.
pub(in super::super) async fn is_second(
    tx: &mut dyn Tx,
    payment: PaymentId,
    what: &str,
    (actor, now): (UserId, Timestamp),
) -> Result<bool> {
    let find = "select actor_id from refund_approvals where payment_id = $1 and seats = $2";
    let first = tx.row(find, params![payment, what]).await?;
    let first: Option<UserId> = first.map(|row| row.get(0)).transpose()?;
    match first {
        Some(first) if first != actor => {
            let sql = "delete from refund_approvals where payment_id = $1";
            tx.execute(sql, params![payment]).await?;
            Ok(true)
        }
        Some(_) => Ok(false),
        None => {
            let sql = "insert into refund_approvals (payment_id, seats, actor_id, created_at)
                       values ($1, $2, $3, $4)";
            let values = params![payment, what, actor, now];
            tx.execute(sql, values).await?;
            Ok(false)
        }
    }
}

async fn wait_for_second(
    tx: &mut dyn Tx,
    command: &RefundByOrganiser,
    amount: Won,
) -> Result<Once<OrganiserRefund>> {
    let answer = SecondNeeded::of(command.payment, amount);
    let details = json!({ "amount": amount, "reason": command.reason });
    let action = (command.actor, "payment.refund-asked");
    note(tx, action, command.payment, details, command.now).await?;
    keys::store(tx, &command.key, &answer, command.now).await?;
    Ok(Once::Fresh(OrganiserRefund::SecondNeeded(answer)))
}
