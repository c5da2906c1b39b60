//! The date that is rehearsed, as far as a copy needs it.

use crate::config::Config;
use crate::wire::{self, Store};
use adapters::clock::SystemChance;
use anyhow::{Context, Result, bail};
use app::ports::catalog::Catalog;
use domain::catalog::{ResaleDelay, SeatTemplate};
use domain::queue::QueueSettings;
use domain::{ScheduleId, Won};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct Original {
    pub(super) title: String,
    pub(super) template: SeatTemplate,
    pub(super) n_seats: u32,
    pub(super) prices: BTreeMap<String, Won>,
    pub(super) seats_per_person: u32,
    pub(super) resale_delay: ResaleDelay,
    pub(super) queue: QueueSettings,
}

pub(super) async fn read(config: &Config, schedule: ScheduleId) -> Result<Original> {
    if let Store::Sqlite(path) = Store::named_by(&config.store_url, &config.data)?
        && !path.exists()
    {
        bail!("there is no database at {}; name its folder with --data", path.display());
    }
    let store = wire::open_store(config, Arc::new(SystemChance::new())).await?;
    let record = store.schedule(schedule).await?.context("there is no such date")?;
    let template = store.template_of(schedule).await?.context("the date has no hall")?;
    Ok(Original {
        title: record.event_title,
        template,
        n_seats: record.n_seats,
        prices: record.prices,
        seats_per_person: record.seats_per_person,
        resale_delay: record.resale_delay,
        queue: record.queue,
    })
}
