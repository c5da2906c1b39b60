//! Closes virtual accounts at their deadline, asks gateways about deposits, and reminds fans.

use crate::context::AppContext;
use crate::error::Result;
use crate::operations::jobs::{DEPOSITS, Round, put_off};
use crate::payments::deposits::close;
use crate::payments::port::deposits::{TakeClosing, TakeWatched};
use crate::payments::port::payments::GatewayQuery;
use crate::payments::settle;
use podo_domain::Timestamp;
use podo_domain::payments::Outcome;
use std::time::Duration;

const ROUND_MAX: u32 = 100;

/// When an account is tried again that the gateway didn't close.
const CLOSE_AGAIN: Duration = Duration::from_secs(60);

/// How often a gateway is asked about a deposit that is awaited, and about one that is over: money
/// may come late or twice. Webhooks are faster, but not every company sends them.
const ASK_EVERY: Duration = Duration::from_secs(10 * 60);
const ASK_LATER: Duration = Duration::from_secs(60 * 60);

/// How often a fan is reminded that a refund needs a bank account.
const REMIND_EVERY: Duration = Duration::from_secs(3 * 86_400);

pub async fn follow_deposits(context: &AppContext, now: Timestamp) -> Result<Round> {
    let mut round = Round::default();
    close_due(context, &mut round, now).await?;
    ask(context, &mut round, now).await?;
    let reminded = context.store.remind_depositors(now, now.plus(REMIND_EVERY), ROUND_MAX).await?;
    round.done += reminded;
    round.is_full |= reminded >= u64::from(ROUND_MAX);
    Ok(round)
}

/// The gateway closes the account first; only then the seats are freed.
async fn close_due(context: &AppContext, round: &mut Round, now: Timestamp) -> Result<()> {
    let command = TakeClosing { now, until: now.plus(CLOSE_AGAIN), limit: ROUND_MAX };
    let closing = context.store.take_closing(command).await?;
    round.is_full |= closing.len() >= ROUND_MAX as usize;
    for closing in closing {
        let closed = close(context, &closing).await;
        count(context, round, &closing.ask, closed).await?;
    }
    Ok(())
}

async fn ask(context: &AppContext, round: &mut Round, now: Timestamp) -> Result<()> {
    let command = TakeWatched {
        now,
        again_at: now.plus(ASK_EVERY),
        later_at: now.plus(ASK_LATER),
        limit: ROUND_MAX,
    };
    let watched = context.store.take_watched(command).await?;
    round.is_full |= watched.len() >= ROUND_MAX as usize;
    for query in watched {
        let known = ask_about(context, &query, now).await;
        count(context, round, &query, known).await?;
    }
    Ok(())
}

/// Returns whether the gateway answered.
async fn ask_about(context: &AppContext, query: &GatewayQuery, now: Timestamp) -> Result<bool> {
    let answered = context.gateway(&query.gateway)?.find(query, now).await;
    if answered.outcome == Outcome::Unknown {
        return Ok(false);
    }
    settle(context, query, answered).await.map(|_settled| true)
}

async fn count(
    context: &AppContext,
    round: &mut Round,
    query: &GatewayQuery,
    done: Result<bool>,
) -> Result<()> {
    match done {
        Ok(true) => round.done += 1,
        Ok(false) => round.failed += 1,
        Err(error) => {
            put_off(context, DEPOSITS, query.payment.uuid(), &error).await?;
            round.failed += 1;
        }
    }
    Ok(())
}
