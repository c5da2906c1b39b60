//! The data of the rehearsed date that a copy needs.

use crate::bootstrap;
use crate::bootstrap::Store;
use crate::config::Config;
use anyhow::{Context, Result, bail};
use podo_adapters::clock::SystemRng;
use podo_app::catalog::port::Catalog;
use podo_domain::catalog::{ResaleDelay, SeatTemplate};
use podo_domain::waiting_room::QueueSettings;
use podo_domain::{ScheduleId, Won};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct Original {
    pub(super) title: String,
    pub(super) template: SeatTemplate,
    pub(super) n_seats: u32,
    pub(super) prices: BTreeMap<String, Won>,
    pub(super) seats_per_person: u32,
    pub(super) seats_per_order: u32,
    pub(super) resale_delay: ResaleDelay,
    pub(super) queue: QueueSettings,
}

pub(super) async fn read(config: &Config, schedule: ScheduleId) -> Result<Original> {
    if let Store::Sqlite(path) = Store::named_by(&config.store_url, &config.data)?
        && !path.exists()
    {
        bail!("no database at {}; pass its folder with --data", path.display());
    }
    let store = bootstrap::open_store(config, Arc::new(SystemRng::new())).await?;
    let record = store.schedule(schedule).await?.context("no such date")?;
    let template = store.template_of(schedule).await?.context("the date has no hall")?;
    Ok(Original {
        title: record.event_title,
        template,
        n_seats: record.n_seats,
        prices: record.prices,
        seats_per_person: record.seats_per_person,
        seats_per_order: record.seats_per_order,
        resale_delay: record.resale_delay,
        queue: record.queue,
    })
}
