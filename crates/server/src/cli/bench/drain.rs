//! How fast the outbox empties once the bus takes what it is given.

use super::figure::Figure;
use super::table::PER_SECOND;
use crate::cli::fans;
use crate::config::Config;
use crate::{crowd, wire};
use anyhow::{Result, bail};
use app::Platform;
use app::jobs::relay_messages;
use std::time::{Duration, Instant};

/// One relay, as it works on a node that leads; the messages are those of new accounts.
pub(super) async fn measure(config: &Config, n_messages: u32) -> Result<Figure> {
    let platform = wire::platform(config).await?.platform;
    prepare(&platform).await?;
    // The first one finds the brokers and the topics.
    crowd::accounts(&platform, 1, |_| {}).await?;
    relay_all(&platform).await?;
    let bar = fans::bar(u64::from(n_messages), "messages");
    crowd::accounts(&platform, n_messages, |n| bar.set_position(u64::from(n))).await?;
    bar.finish_and_clear();
    let start = Instant::now();
    let n_published = relay_all(&platform).await?;
    let rate = n_published as f64 / start.elapsed().as_secs_f64();
    let what = format!("messages published, {n_published} waited");
    Ok(Figure::alone(what, rate, PER_SECOND))
}

/// A broker that has just started says strange things about topics that it is making.
async fn prepare(platform: &Platform) -> Result<()> {
    let mut n_left = 10;
    while let Err(error) = platform.bus.prepare().await {
        n_left -= 1;
        if n_left == 0 {
            bail!(error);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Ok(())
}

async fn relay_all(platform: &Platform) -> Result<u64> {
    let mut n_published = 0;
    loop {
        let round = relay_messages(platform, platform.now()).await?;
        if round.failed > 0 {
            bail!("the bus does not take what it is given; see bus_url");
        }
        if round.done == 0 {
            return Ok(n_published);
        }
        n_published += round.done;
    }
}
