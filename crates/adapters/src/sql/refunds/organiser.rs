//! A refund that an organiser makes; much money needs a second organiser.

use super::super::approvals::{Decision, Subject, may_go_ahead};
use super::super::audit::note;
use super::super::keys;
use super::super::payments::cancel::{GivenBack, GivenBy, Paid, give_back, load_paid};
use super::super::tx::{Tx, work};
use app::Result;
use app::ports::keys::Once;
use app::ports::refunds::{OrganiserRefund, RefundByOrganiser, SecondNeeded};
use app::ports::reservations::ReservedSeat;
use domain::Won;
use domain::refunds::quote;
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
    let indexes: Vec<String> = seats.iter().map(|seat| seat.id.index().to_string()).collect();
    let decision = Decision {
        subject: Subject::Payment(command.payment),
        what: format!("{} -{}% {}", indexes.join(","), command.fee_percent, command.to.as_str()),
        amount,
        actor: command.actor,
        now: command.now,
    };
    if !may_go_ahead(tx, &decision).await? {
        return wait_for_second(tx, command, amount).await;
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
    keys::store(tx, (&command.key, Some(command.payment.uuid())), &answer, command.now).await?;
    Ok(Once::Fresh(OrganiserRefund::Made(answer, freed)))
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
    keys::store(tx, (&command.key, Some(command.payment.uuid())), &answer, command.now).await?;
    Ok(Once::Fresh(OrganiserRefund::SecondNeeded(answer)))
}
