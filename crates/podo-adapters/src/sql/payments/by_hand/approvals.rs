//! The four-eyes rule: the amounts that one organiser moved alone, and requests that wait for a
//! second organiser.
//!
//! Decisions of one organiser, and those about one payment or wallet, are serialised, so that the
//! second sees the sum of the first, however close together they come.

use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_app::identity::keyring::sha256;
use podo_domain::payments::approvals::MovedAlone;
use podo_domain::{Currency, PaymentId, Timestamp, UserId, Won};
use uuid::Uuid;

/// The subject of a money movement.
#[derive(Clone, Copy)]
pub(crate) enum Subject {
    Payment(PaymentId),
    Wallet(UserId),
}

/// An organiser's manual decision.
pub(crate) struct Decision {
    pub(crate) subject: Subject,
    /// Everything that a second organiser has to repeat.
    pub(crate) what: String,
    /// The amount that counts towards the limits.
    pub(crate) amount: Won,
    pub(crate) currency: Currency,
    pub(crate) actor: UserId,
    pub(crate) now: Timestamp,
}

/// A row of `moved_alone`.
struct Sum {
    kind: &'static str,
    of: Uuid,
    /// A day in Seoul; 0 for a sum without a daily reset.
    day: i64,
}

impl Sum {
    /// A lock distinct from other locks on the same payment or person. The organiser's lock always
    /// comes first, so that two decisions can't deadlock.
    fn lock(&self) -> Uuid {
        named(&format!("moved alone {} {}", self.kind, self.of))
    }
}

fn named(name: &str) -> Uuid {
    Uuid::from_slice(&sha256(name.as_bytes())[..16]).expect("16 bytes are a UUID")
}

impl Decision {
    fn subject_id(&self) -> Uuid {
        match self.subject {
            Subject::Payment(payment) => payment.uuid(),
            Subject::Wallet(user) => user.uuid(),
        }
    }

    /// A payment is paid once, so its sum never resets. A wallet lives for years.
    fn sum_of_subject(&self) -> Sum {
        match self.subject {
            Subject::Payment(payment) => Sum { kind: "PAYMENT", of: payment.uuid(), day: 0 },
            Subject::Wallet(user) => {
                Sum { kind: "WALLET", of: user.uuid(), day: self.now.seoul_day_number() }
            }
        }
    }

    /// A sum for each currency: won and cents don't add up. Won keep the organiser's own id, which
    /// they had before there were other currencies.
    fn sum_of_organiser(&self) -> Sum {
        let of = match self.currency {
            Currency::Krw => self.actor.uuid(),
            Currency::Jpy | Currency::Eur | Currency::Usd | Currency::Gbp => {
                named(&format!("{} {}", self.actor, self.currency.as_str()))
            }
        };
        Sum { kind: "ORGANISER", of, day: self.now.seoul_day_number() }
    }
}

/// Whether the decision takes effect now. Otherwise the request is stored, and takes effect once
/// another organiser repeats it.
pub(crate) async fn may_go_ahead(tx: &mut dyn Tx, decision: &Decision) -> Result<bool> {
    let (of_subject, by_organiser) = (decision.sum_of_subject(), decision.sum_of_organiser());
    tx.lock(by_organiser.lock()).await?;
    tx.lock(of_subject.lock()).await?;
    let (subject, what) = (decision.subject_id(), &decision.what);
    let find = "select actor_id from refund_approvals where payment_id = $1 and seats = $2";
    let first = tx.row(find, params![subject, what]).await?;
    let first: Option<UserId> = first.map(|row| row.get("actor_id")).transpose()?;
    if first.is_some_and(|first| first != decision.actor) {
        let sql = "delete from refund_approvals where payment_id = $1";
        tx.execute(sql, params![subject]).await?;
        return Ok(true);
    }
    let moved = MovedAlone {
        of_subject: read(tx, &of_subject).await?,
        by_organiser: read(tx, &by_organiser).await?,
    };
    if !moved.needs_second(decision.amount, decision.currency) {
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
    Ok(row.map(|row| row.get("amount")).transpose()?.unwrap_or(Won::ZERO))
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
