//! Plays fans over HTTP: they wait, look, hold, pay, give up and lose races like people do, and
//! every answer is timed. Behind `podo bench` and `podo demo`; it knows the server only by its
//! public API, so it can be pointed at any base URL.
//!
//! ```no_run
//! # async fn example(schedule: domain::ScheduleId) -> Result<(), load::TargetError> {
//! let target = load::Target::at("http://127.0.0.1:8080")?;
//! let plan = load::Plan { fans: 500, ..load::Plan::for_schedule(schedule) };
//! let report = load::run(plan, target, Vec::new(), |_| ()).await;
//! assert_eq!(report.unexpected, 0, "{report}");
//! # Ok(())
//! # }
//! ```

mod account;
mod caller;
mod chance;
mod client;
mod commits;
mod crowd;
mod household;
mod journey;
mod latencies;
mod places;
mod plan;
mod report;
mod run;
mod tally;
mod target;
mod volley;
mod wire;

pub use account::FanAccount;
pub use commits::commit_one_by_one;
pub use crowd::{Crowd, OpenConnections, ReadyToPay, Stay, greet, greet_at};
pub use latencies::Latencies;
pub use places::PlaceFindings;
pub use plan::{Arrival, Favour, Plan};
pub use report::{Report, StepReport};
pub use run::{Progress, run};
pub use tally::{Ending, Purchase, Sample, Step};
pub use target::{Target, TargetError};
pub use volley::{Hello, Volley};

#[cfg(test)]
mod tests;
