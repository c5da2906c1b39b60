//! How large a system an on-sale needs: the crowd is played second by second with the rules of the
//! waiting room, and every call is paid for at its measured cost.
//!
//! `cargo run -p podo-sim -- capacity --fans 100000 --seats 20000 --costs target/bench.json`

mod costs;
mod day;

pub use costs::Costs;
pub use day::{Course, Day};

use std::fmt;

/// The maximum utilisation of a group at its peak. The rest is headroom for a worse second, and for
/// the remaining nodes after a failure.
const BUSY_MAX: f64 = 0.6;

/// Connections per node, below the open file limit in `deploy/systemd`.
const CONNECTIONS_PER_NODE: f64 = 150_000.0;

/// A group's load in its busiest second.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    pub roles: &'static str,
    pub calls_per_second: f64,
    /// Busy processors.
    pub processors: f64,
    /// Concurrent connections, and the memory of connections and places.
    pub connections: f64,
    pub memory_gb: f64,
    pub nodes: u64,
}

/// The requirements of the day.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    pub groups: Vec<Group>,
    /// The peak's share of what the store, Redis and one Kafka partition set can do.
    pub engines: Vec<(&'static str, f64)>,
    pub admit_per_second: u32,
    pub inside_at_most: f64,
    pub sold_out_after_s: Option<u64>,
    pub last_let_in_after_s: u64,
}

impl Need {
    pub fn of(day: &Day, costs: &Costs, cores_per_node: u32) -> Need {
        let course = day.play(costs);
        let peak =
            |read: fn(&day::Second) -> f64| course.seconds.iter().map(read).fold(0.0, f64::max);
        let (enters, polls) = (peak(|it| it.enters), peak(|it| it.polls));
        let (looks, attempts) = (peak(|it| it.looks), peak(|it| it.attempts));
        let (holds, purchases) = (peak(|it| it.holds), peak(|it| it.purchases));
        let waiting = peak(|it| it.waiting);
        let group = |roles, calls: &[(f64, f64)], connections: f64, each_kb: f64| {
            let processors = calls.iter().map(|(rate, cost_us)| rate * cost_us / 1e6).sum::<f64>();
            let busy = processors / BUSY_MAX / f64::from(cores_per_node);
            let nodes = busy.max(connections / CONNECTIONS_PER_NODE).ceil().max(2.0) as u64;
            let calls_per_second = calls.iter().map(|(rate, _)| rate).sum();
            let memory_gb = connections * each_kb / 1e6;
            Group { roles, calls_per_second, processors, connections, memory_gb, nodes }
        };
        let waiting_kb = costs.connection_kb + costs.place_bytes / 1e3;
        let inside = course.inside_at_most;
        let groups = vec![
            group(
                "queue",
                &[(enters, costs.enter_us), (polls, costs.poll_us)],
                waiting,
                waiting_kb,
            ),
            group(
                "booking",
                &[(looks, costs.look_us), (attempts, costs.refusal_us), (holds, costs.hold_us)],
                inside,
                costs.stream_kb,
            ),
            group("payment", &[(purchases, costs.purchase_us)], 0.0, 0.0),
        ];
        let n_nodes: u64 = groups.iter().map(|group| group.nodes).sum();
        let live_calls = enters + holds + purchases + n_nodes as f64 * costs.live_calls_per_node;
        let engines = vec![
            ("the store, by purchases", purchases / costs.store_purchases_per_second),
            ("Redis, by calls", live_calls / costs.live_calls_per_second),
            ("the bus, by messages", 2.0 * purchases / costs.bus_messages_per_second),
        ];
        Need {
            groups,
            engines,
            admit_per_second: course.admit_per_second,
            inside_at_most: course.inside_at_most,
            sold_out_after_s: course.sold_out_after_s,
            last_let_in_after_s: course.last_let_in_after_s,
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| roles | calls/s at the peak | busy processors | connections | nodes |")?;
        writeln!(f, "|---|---|---|---|---|")?;
        for it in &self.groups {
            let (roles, calls, busy) = (it.roles, it.calls_per_second, it.processors);
            let (open, memory, nodes) = (it.connections, it.memory_gb, it.nodes);
            writeln!(
                f,
                "| {roles} | {calls:.0} | {busy:.2} | {open:.0}, {memory:.1} GB | {nodes} |"
            )?;
        }
        writeln!(f)?;
        for (engine, share) in &self.engines {
            writeln!(f, "- {engine}: {:.0} % of what was measured", share * 100.0)?;
        }
        let (rate, inside) = (self.admit_per_second, self.inside_at_most);
        writeln!(f, "- admitPerSecond {rate}, at most {inside:.0} inside")?;
        match self.sold_out_after_s {
            Some(seconds) => writeln!(f, "- sold out after {}", minutes(seconds))?,
            None => writeln!(f, "- seats are left")?,
        }
        writeln!(f, "- the last fan is admitted after {}", minutes(self.last_let_in_after_s))
    }
}

fn minutes(seconds: u64) -> String {
    format!("{} min {:02} s", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(fans: u32) -> Need {
        Need::of(&Day { fans, seats: 20_000 }, &Costs::default(), 4)
    }

    #[test]
    fn a_larger_crowd_needs_no_less() {
        let needs = [10_000, 100_000, 1_000_000].map(need);
        for pair in needs.windows(2) {
            for (small, large) in pair[0].groups.iter().zip(&pair[1].groups) {
                assert!(small.nodes <= large.nodes, "{small:?} {large:?}");
            }
            assert!(pair[0].last_let_in_after_s <= pair[1].last_let_in_after_s);
        }
        assert!(needs[2].groups[0].nodes > needs[0].groups[0].nodes, "{}", needs[2]);
    }

    #[test]
    fn cheaper_calls_need_fewer_processors() {
        let day = Day { fans: 1_000_000, seats: 20_000 };
        let cheap = Costs { poll_us: 1.0, ..Costs::default() };
        let (dear, cheap) = (Need::of(&day, &Costs::default(), 4), Need::of(&day, &cheap, 4));
        assert!(cheap.groups[0].processors < dear.groups[0].processors);
        assert_eq!(cheap.groups[2], dear.groups[2]);
    }

    #[test]
    fn the_guide_shows_what_this_program_says() {
        let guide = include_str!("../../../docs/scaling.md");
        for fans in [100_000, 1_000_000] {
            let said = need(fans).to_string();
            for line in said.lines().filter(|line| line.starts_with("| ")) {
                assert!(
                    guide.contains(line),
                    "docs/scaling.md does not say for {fans} fans:\n{said}"
                );
            }
        }
    }
}
