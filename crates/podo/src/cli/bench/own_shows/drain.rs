//! How fast the outbox drains once the bus accepts messages.

use crate::cli::bench::figure::Figure;
use crate::cli::bench::figure::table::PER_SECOND;
use crate::cli::stage::fans;
use crate::config::Config;
use crate::{bootstrap, simulated_fans};
use anyhow::{Result, bail};
use podo_app::AppContext;
use podo_app::messaging::jobs::relay::relay_messages;
use std::time::{Duration, Instant};

/// One relay, as on the leading node; the messages are those of new accounts.
pub(super) async fn measure(config: &Config, n_messages: u32) -> Result<Figure> {
    let context = bootstrap::context(config).await?.context;
    prepare(&context).await?;
    // The first message discovers the brokers and the topics.
    simulated_fans::accounts(&context, 1, |_| {}).await?;
    relay_all(&context).await?;
    let bar = fans::bar(u64::from(n_messages), "messages");
    simulated_fans::accounts(&context, n_messages, |n| bar.set_position(u64::from(n))).await?;
    bar.finish_and_clear();
    let start = Instant::now();
    let n_published = relay_all(&context).await?;
    let rate = n_published as f64 / start.elapsed().as_secs_f64();
    let what = format!("messages published, {n_published} pending");
    Ok(Figure::alone(what, rate, PER_SECOND))
}

/// A broker that has just started returns misleading errors about topics it is still creating.
async fn prepare(context: &AppContext) -> Result<()> {
    let mut n_left = 10;
    while let Err(error) = context.messaging.bus.prepare().await {
        n_left -= 1;
        if n_left == 0 {
            bail!(error);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

async fn relay_all(context: &AppContext) -> Result<u64> {
    let mut n_published = 0;
    loop {
        let round = relay_messages(context, context.now()).await?;
        if round.failed > 0 {
            bail!("the bus doesn't accept messages; check bus_url");
        }
        if round.done == 0 {
            return Ok(n_published);
        }
        n_published += round.done;
    }
}
