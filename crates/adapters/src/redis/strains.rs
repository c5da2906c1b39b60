//! The strain of the nodes on Redis: one small hash for all of them.

use super::Connection;
use app::Result;
use app::ports::strains::{self, HEARD_FOR, Heard};
use async_trait::async_trait;
use domain::{NodeId, Timestamp};
use redis::Script;

pub struct Strains {
    connection: Connection,
    share: Script,
}

impl Strains {
    pub fn new(connection: Connection) -> Strains {
        Strains { connection, share: Script::new(include_str!("share.lua")) }
    }
}

#[async_trait]
impl strains::Strains for Strains {
    async fn share(&self, node: NodeId, percent: u32, now: Timestamp) -> Result<Heard> {
        let mut call = self.share.key(self.connection.key(format_args!("strains")));
        call.arg(node.uuid().as_bytes()).arg(percent).arg(now.ms());
        call.arg(HEARD_FOR.as_millis() as u64);
        let (percent, n_nodes) = self.connection.run(&call).await?;
        Ok(Heard { percent, n_nodes })
    }
}
