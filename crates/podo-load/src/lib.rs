//! Plays fans over HTTP: they wait, look, hold, pay, give up and lose races like people do, and
//! every answer is timed. `podo bench` and `podo demo` use it. It knows the server only by its
//! public API, so it can be pointed at any base URL.
//!
//! ```no_run
//! # async fn example(schedule: podo_domain::ScheduleId) -> Result<(), podo_load::TargetError> {
//! use podo_load::{LoadPlan, Target};
//!
//! let target = Target::at("http://127.0.0.1:8080")?;
//! let plan = LoadPlan { fans: 500, ..LoadPlan::for_schedule(schedule) };
//! let report = podo_load::run(plan, target, Vec::new(), |_| ()).await;
//! assert_eq!(report.unexpected, 0, "{report}");
//! # Ok(())
//! # }
//! ```

mod crowd;
pub(crate) mod fan;
pub(crate) mod http;
mod load_run;
mod plan;
mod report;
mod rng;
mod run;
mod target;

pub use crowd::{
    Crowd, GateCall, OpenConnections, ReadyToPay, Stay, call_from_gates, greet, greet_at,
    upload_members,
};
pub use fan::account::FanAccount;
pub use fan::places::PlaceFindings;
pub use load_run::commits::commit_one_by_one;
pub use load_run::{Hello, LoadRun};
pub use plan::{
    Arrival, CheckoutPlan, FanProof, Favour, LoadPlan, PhasePart, TypeChoice, member_of,
};
pub use report::latencies::Latencies;
pub use report::stats::{Ending, Purchase, Sample, Step};
pub use report::{Report, StepReport};
pub use run::{Progress, run};
pub use target::{Target, TargetError};

#[cfg(test)]
mod tests;
