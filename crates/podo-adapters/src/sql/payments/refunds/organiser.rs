//! Refunds by organisers; large amounts need a second organiser.

use crate::sql::engine::tx::Tx;
use crate::sql::operations::audit::note;
use crate::sql::operations::idempotency;
use crate::sql::payments::by_hand::approvals::{Decision, Subject, may_go_ahead};
use crate::sql::payments::cancel::{GivenBack, GivenBy, Paid, give_back, load_paid};
use crate::sql::payments::refunds::terms_of;
use podo_app::Result;
use podo_app::booking::port::reservations::ReservedSeat;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::refunds::{OrganiserRefund, RefundByOrganiser, SecondNeeded};
use podo_domain::Won;
use podo_domain::payments::refund_policy::Retained;
use podo_domain::payments::refunds::{CancelTerms, FeesBack};
use serde_json::json;

pub(super) async fn refund(
    tx: &mut dyn Tx,
    command: &RefundByOrganiser,
) -> Result<Idempotent<OrganiserRefund>> {
    if let Some(answer) = idempotency::find(tx, &command.key).await? {
        return Ok(Idempotent::Replay(answer));
    }
    let paid = load_paid(tx, command.payment).await?;
    paid.refuse_unless_paid()?;
    let seats = paid.choose(&command.seats)?;
    let fees_back = match command.refunds_fees {
        Some(true) => FeesBack::ALL,
        Some(false) => FeesBack::NONE,
        None => terms_of(tx, &paid).await?.fees_back(command.now),
    };
    let terms = CancelTerms { retained: Retained::percent(command.fee_percent), fees_back };
    let amount = paid.quote(&seats, terms).quote.refund;
    let indexes: Vec<String> = seats.iter().map(|seat| seat.id.index().to_string()).collect();
    let decision = Decision {
        subject: Subject::Payment(command.payment),
        what: format!("{} -{}% {}", indexes.join(","), command.fee_percent, command.to.as_str()),
        amount,
        currency: paid.row.currency,
        actor: command.actor,
        now: command.now,
    };
    if !may_go_ahead(tx, &decision).await? {
        return wait_for_second(tx, command, amount).await;
    }
    make(tx, command, paid, seats, terms).await
}

async fn make(
    tx: &mut dyn Tx,
    command: &RefundByOrganiser,
    paid: Paid,
    seats: Vec<ReservedSeat>,
    terms: CancelTerms,
) -> Result<Idempotent<OrganiserRefund>> {
    let given = GivenBack {
        seats,
        terms,
        refund: command.refund,
        reason: &command.reason,
        to: command.to,
        by: GivenBy::House,
        now: command.now,
    };
    let (answer, freed) = give_back(tx, paid, given).await?;
    let details = json!({ "amount": answer.refund_amount, "reason": command.reason });
    note(tx, command.actor, "payment.refund", command.payment, details, command.now).await?;
    idempotency::store(tx, &command.key, Some(command.payment.uuid()), &answer, command.now)
        .await?;
    Ok(Idempotent::Fresh(OrganiserRefund::Made(answer, freed)))
}

async fn wait_for_second(
    tx: &mut dyn Tx,
    command: &RefundByOrganiser,
    amount: Won,
) -> Result<Idempotent<OrganiserRefund>> {
    let answer = SecondNeeded::of(command.payment, amount);
    let details = json!({ "amount": amount, "reason": command.reason });
    note(tx, command.actor, "payment.refund-asked", command.payment, details, command.now).await?;
    idempotency::store(tx, &command.key, Some(command.payment.uuid()), &answer, command.now)
        .await?;
    Ok(Idempotent::Fresh(OrganiserRefund::SecondNeeded(answer)))
}
