//! Stewards at the gates of a hall.

use crate::http::client::{Call, Credentials};
use crate::http::connection::request;
use crate::load_run::{Bodies, LoadRun, Pace, fire};
use crate::{FanAccount, Target};
use bytes::Bytes;
use podo_domain::ScheduleId;
use serde_json::json;
use std::io::Result;
use std::sync::Arc;

/// What a device at a gate asks.
pub enum GateCall {
    CheckIn {
        /// The content of a ticket's QR code.
        code: String,
    },
    Attendance,
}

/// The stewards in turn make one call each, at this rate in all, whether or not the server keeps
/// up. Each has a connection.
pub async fn call_from_gates(
    target: &Target,
    schedule: ScheduleId,
    stewards: &[FanAccount],
    calls: Vec<GateCall>,
    per_second: f64,
) -> Result<LoadRun> {
    let gates = stewards.iter().enumerate().cycle();
    let ask = |(call, (number, steward)): (GateCall, (usize, &FanAccount))| {
        let call = match call {
            GateCall::CheckIn { code } => {
                let gate = format!("{}", number + 1);
                let body = json!({ "code": code, "scheduleId": schedule, "gate": gate });
                Call::post("/api/admin/checkin", &body)
            }
            GateCall::Attendance => {
                Call::get(format!("/api/admin/schedules/{schedule}/attendance"))
            }
        };
        let access = Some(steward.access_token.as_str());
        request(target, &call, Credentials { access, ..Credentials::default() })
    };
    let requests: Arc<[Bytes]> = calls.into_iter().zip(gates).map(ask).collect();
    fire(target, requests, stewards.len(), Bodies::Dropped, Pace::PerSecond(per_second)).await
}
