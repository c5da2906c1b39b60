//! The load of the nodes on Redis: one small hash for all of them.

use crate::live::redis::Connection;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::operations::port::node_load;
use podo_app::operations::port::node_load::{ClusterLoad, REPORT_TTL};
use podo_domain::{NodeId, Timestamp};
use redis::Script;

pub struct NodeLoad {
    connection: Connection,
    share: Script,
}

impl NodeLoad {
    pub fn new(connection: Connection) -> NodeLoad {
        NodeLoad { connection, share: Script::new(include_str!("share.lua")) }
    }
}

#[async_trait]
impl node_load::NodeLoad for NodeLoad {
    async fn share(&self, node: NodeId, percent: u32, now: Timestamp) -> Result<ClusterLoad> {
        let mut call = self.share.key(self.connection.key(format_args!("strains")));
        call.arg(node.uuid().as_bytes()).arg(percent).arg(now.ms());
        call.arg(REPORT_TTL.as_millis() as u64);
        let (percent, n_nodes) = self.connection.run(&call).await?;
        Ok(ClusterLoad { percent, n_nodes })
    }
}
