//! The strain of the nodes in memory: there is one, unless a test has more.

use app::Result;
use app::error::Error;
use app::ports::strains::{self, HEARD_FOR, Heard};
use async_trait::async_trait;
use domain::{NodeId, Timestamp};
use std::collections::HashMap;
use std::sync::Mutex;

#[derive(Default)]
pub struct Strains {
    told: Mutex<HashMap<NodeId, (u32, Timestamp)>>,
}

#[async_trait]
impl strains::Strains for Strains {
    async fn share(&self, node: NodeId, percent: u32, now: Timestamp) -> Result<Heard> {
        let mut told = self.told.lock().map_err(Error::broken)?;
        told.insert(node, (percent, now));
        told.retain(|_, (_, at)| now < at.plus(HEARD_FOR));
        let percent = told.values().map(|(percent, _)| *percent).min().unwrap_or(percent);
        Ok(Heard { percent, n_nodes: u32::try_from(told.len()).unwrap_or(u32::MAX) })
    }
}

#[tokio::test]
async fn keeps_the_contract() {
    let start = Timestamp::from_ms(1_900_000_000_000);
    strains::contract::check(&Strains::default(), 1, start).await;
}
