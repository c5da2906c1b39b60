//! The load of the nodes in memory: there is one node, except in tests.

use async_trait::async_trait;
use podo_app::Result;
use podo_app::error::Error;
use podo_app::operations::port::node_load;
use podo_app::operations::port::node_load::{ClusterLoad, REPORT_TTL};
use podo_domain::{NodeId, Timestamp};
use std::collections::HashMap;
use std::sync::Mutex;

#[derive(Default)]
pub struct NodeLoad {
    reports: Mutex<HashMap<NodeId, (u32, Timestamp)>>,
}

#[async_trait]
impl node_load::NodeLoad for NodeLoad {
    async fn share(&self, node: NodeId, percent: u32, now: Timestamp) -> Result<ClusterLoad> {
        let mut reports = self.reports.lock().map_err(Error::broken)?;
        reports.insert(node, (percent, now));
        reports.retain(|_, (_, at)| now < at.plus(REPORT_TTL));
        let percent = reports.values().map(|(percent, _)| *percent).min().unwrap_or(percent);
        Ok(ClusterLoad { percent, n_nodes: u32::try_from(reports.len()).unwrap_or(u32::MAX) })
    }
}

#[tokio::test]
async fn keeps_the_contract() {
    let start = Timestamp::from_ms(1_900_000_000_000);
    node_load::contract::check(&NodeLoad::default(), 1, start).await;
}
