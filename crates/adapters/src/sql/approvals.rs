//! Four eyes: the sums that one organiser moved alone, and requests that wait for a second one.
//!
//! Decisions of one organiser, and those about one payment or wallet, wait for each other: whoever
//! comes second sees the sum of the first, however close together they came.

use super::tx::Tx;
use super::value::params;
use app::Result;
use app::seals::sha256;
use domain::approvals::MovedAlone;
use domain::{PaymentId, Timestamp, UserId, Won};
use uuid::Uuid;

/// What money is moved of.
#[derive(Clone, Copy)]
pub(super) enum Subject {
    Payment(PaymentId),
    Wallet(UserId),
}

/// What an organiser decided by hand.
pub(super) struct Decision {
    pub(super) subject: Subject,
    /// All that a second organiser has to repeat.
    pub(super) what: String,
    /// How much it counts.
    pub(super) amount: Won,
    pub(super) actor: UserId,
    pub(super) now: Timestamp,
}

/// A row of `moved_alone`.
struct Sum {
    kind: &'static str,
    of: Uuid,
    /// A day in Seoul; 0 for a sum that no day ends.
    day: i64,
}

impl Sum {
    /// Other locks on the same payment or person are something else. Organisers come first everywhere,
    /// so that no two decisions wait for each other's.
    fn lock(&self) -> Uuid {
        let name = format!("moved alone {} {}", self.kind, self.of);
        Uuid::from_slice(&sha256(name.as_bytes())[..16]).expect("sixteen bytes are a UUID")
    }
}

impl Decision {
    fn subject_id(&self) -> Uuid {
        match self.subject {
            Subject::Payment(payment) => payment.uuid(),
            Subject::Wallet(user) => user.uuid(),
        }
    }

    /// A payment is paid once, so its sum never starts again. A wallet lives for years.
    fn sum_of_subject(&self) -> Sum {
        match self.subject {
            Subject::Payment(payment) => Sum { kind: "PAYMENT", of: payment.uuid(), day: 0 },
            Subject::Wallet(user) => {
                Sum { kind: "WALLET", of: user.uuid(), day: self.now.seoul_day_number() }
            }
        }
    }

    fn sum_of_organiser(&self) -> Sum {
        Sum { kind: "ORGANISER", of: self.actor.uuid(), day: self.now.seoul_day_number() }
    }
}

/// Whether the decision takes effect now. Otherwise the request is noted, and the same one by another
/// organiser takes effect.
pub(super) async fn may_go_ahead(tx: &mut dyn Tx, decision: &Decision) -> Result<bool> {
    let (of_subject, by_organiser) = (decision.sum_of_subject(), decision.sum_of_organiser());
    tx.lock(by_organiser.lock()).await?;
    tx.lock(of_subject.lock()).await?;
    let (subject, what) = (decision.subject_id(), &decision.what);
    let find = "select actor_id from refund_approvals where payment_id = $1 and seats = $2";
    let first = tx.row(find, params![subject, what]).await?;
    let first: Option<UserId> = first.map(|row| row.get(0)).transpose()?;
    if first.is_some_and(|first| first != decision.actor) {
        let sql = "delete from refund_approvals where payment_id = $1";
        tx.execute(sql, params![subject]).await?;
        return Ok(true);
    }
    let moved = MovedAlone {
        of_subject: read(tx, &of_subject).await?,
        by_organiser: read(tx, &by_organiser).await?,
    };
    if !moved.needs_second(decision.amount) {
        add(tx, &of_subject, decision).await?;
        add(tx, &by_organiser, decision).await?;
        return Ok(true);
    }
    if first.is_none() {
        let sql = "insert into refund_approvals (payment_id, seats, actor_id, created_at)
                   values ($1, $2, $3, $4)";
        tx.execute(sql, params![subject, what, decision.actor, decision.now]).await?;
    }
    Ok(false)
}

async fn read(tx: &mut dyn Tx, sum: &Sum) -> Result<Won> {
    let sql = "select amount from moved_alone where kind = $1 and subject_id = $2 and day = $3";
    let row = tx.row(sql, params![sum.kind, sum.of, sum.day]).await?;
    Ok(row.map(|row| row.get(0)).transpose()?.unwrap_or(Won::ZERO))
}

async fn add(tx: &mut dyn Tx, sum: &Sum, decision: &Decision) -> Result<()> {
    let sql = "insert into moved_alone (kind, subject_id, day, amount, updated_at)
               values ($1, $2, $3, $4, $5)
               on conflict (kind, subject_id, day) do update
               set amount = moved_alone.amount + excluded.amount, updated_at = excluded.updated_at";
    let values = params![sum.kind, sum.of, sum.day, decision.amount, decision.now];
    tx.execute(sql, values).await?;
    Ok(())
}
