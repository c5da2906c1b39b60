//! The measured cost of each call.

use serde_json::Value;

/// A node's processor time per call, in microseconds; memory; and the engines' capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Costs {
    pub enter_us: f64,
    pub poll_us: f64,
    pub look_us: f64,
    /// An attempt on a taken seat.
    pub refusal_us: f64,
    pub hold_us: f64,
    /// Request and confirm.
    pub purchase_us: f64,
    /// The memory of a waiting fan with a connection, without one, and of a stream.
    pub connection_kb: f64,
    pub place_bytes: f64,
    pub stream_kb: f64,
    pub store_purchases_per_second: f64,
    pub live_calls_per_second: f64,
    /// A node's Redis calls for its replica of a line, regardless of polls.
    pub live_calls_per_node: f64,
    pub bus_messages_per_second: f64,
}

impl Default for Costs {
    /// The figures of docs/performance.md.
    fn default() -> Costs {
        Costs {
            enter_us: 15.0,
            poll_us: 9.2,
            look_us: 12.1,
            refusal_us: 11.8,
            hold_us: 143.0,
            purchase_us: 236.0,
            connection_kb: 9.0,
            place_bytes: 72.0,
            stream_kb: 3.4,
            store_purchases_per_second: 2_480.0,
            live_calls_per_second: 14_000.0,
            live_calls_per_node: 10.0,
            bus_messages_per_second: 9_450.0,
        }
    }
}

impl Costs {
    /// Reads the results of `podo bench --all --json`; missing values keep their defaults.
    pub fn read(text: &str) -> Result<Costs, String> {
        let all: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let figures = all["figures"].as_array().ok_or("there are no figures")?;
        let mut costs = Costs::default();
        for figure in figures {
            let what = figure["what"].as_str().unwrap_or_default();
            let (cost, value) = (figure["cost"]["each"].as_f64(), figure["value"].as_f64());
            let found = [
                ("entering", &mut costs.enter_us, cost),
                ("polls of", &mut costs.poll_us, cost),
                ("attempts of", &mut costs.refusal_us, cost),
                ("holds of", &mut costs.hold_us, cost),
                ("wallet purchases", &mut costs.purchase_us, cost),
                ("seat map, not changed", &mut costs.look_us, cost),
            ];
            for (name, slot, measured) in found {
                if let (true, Some(measured)) = (what.starts_with(name), measured) {
                    *slot = measured;
                }
            }
            for (name, slot) in [
                ("connections that poll", &mut costs.connection_kb),
                ("streams of the waiting room", &mut costs.stream_kb),
            ] {
                if let (true, Some(measured)) = (what.ends_with(name), value) {
                    *slot = measured;
                }
            }
        }
        Ok(costs)
    }
}

#[test]
fn figures_of_a_run_are_read() {
    let text = r#"{"figures": [
        {"what": "polls of 19,999 who wait", "value": 1.0, "cost": {"each": 4.5, "unit": "µs"}},
        {"what": "4,999 streams of the waiting room", "value": 20.5, "unit": "KB each"}]}"#;
    let costs = Costs::read(text).unwrap();
    assert_eq!((costs.poll_us, costs.stream_kb), (4.5, 20.5));
    assert_eq!(costs.enter_us, Costs::default().enter_us);
    Costs::read("{}").unwrap_err();
}
