//! Rate limit buckets that all nodes share on Redis. One script counts the reports of many keys; a
//! group's keys have the same hash tag, so they are in one cluster slot.

use crate::live::redis::Connection;
use crate::live::redis::limits::token_micros;
use async_trait::async_trait;
use podo_app::Result;
use podo_app::operations::throttling::limits;
use podo_app::operations::throttling::limits::{Group, Usage};
use podo_domain::Timestamp;
use podo_domain::operations::rate_limit::{Report, TokenBucket};
use redis::Script;

pub struct SharedBuckets {
    connection: Connection,
    report: Script,
}

impl SharedBuckets {
    pub fn new(connection: Connection) -> SharedBuckets {
        SharedBuckets { connection, report: Script::new(include_str!("limits/report.lua")) }
    }
}

#[async_trait]
impl limits::SharedBuckets for SharedBuckets {
    async fn report(
        &self,
        group: Group,
        usage: &[Usage],
        now: Timestamp,
    ) -> Result<Vec<TokenBucket>> {
        if usage.is_empty() {
            return Ok(Vec::new());
        }
        let mut call = self.report.prepare_invoke();
        call.arg(now.ms().saturating_mul(1_000));
        let tag = group.index();
        for Usage { key, report } in usage {
            let Report { quota, taken, n_nodes } = *report;
            call.key(self.connection.key(format_args!("{{limits-{tag}}}:{key}")));
            let missing_max = quota.burst.saturating_add(quota.overdraft(n_nodes));
            call.arg(token_micros(quota)).arg(missing_max).arg(taken);
        }
        let full_at_micros: Vec<i64> = self.connection.run(&call).await?;
        let bucket = |micros: i64| TokenBucket { full_at: micros.saturating_mul(1_000) };
        Ok(full_at_micros.into_iter().map(bucket).collect())
    }
}
