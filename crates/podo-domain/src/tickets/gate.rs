//! The gates of a hall, and what becomes of a scan.

use crate::Refusal;
use crate::catalog::text::{FieldError, Line};
use crate::tickets::TicketStatus;
use crate::time::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Most gates of a hall.
pub const GATES_MAX: usize = 50;

/// How long before and after its start the gates of a date are open: the gate offers it, and devices
/// may download its list.
pub const OPEN_BEFORE_START: Duration = Duration::from_secs(36 * 3_600);
pub const OPEN_AFTER_START: Duration = Duration::from_secs(12 * 3_600);

/// Refuses the names of guests to devices that don't need them yet, or no longer.
pub fn check_open(starts_at: Timestamp, now: Timestamp) -> Result<(), Refusal> {
    let is_open =
        now <= starts_at.plus(OPEN_AFTER_START) && starts_at.minus(OPEN_BEFORE_START) <= now;
    if is_open { Ok(()) } else { Err(Refusal::GatesClosed) }
}

/// An entrance of a hall.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Gate {
    pub name: Line<40>,
    /// The sections that it admits; every section if there are none.
    #[serde(default)]
    pub sections: Vec<String>,
}

impl Gate {
    fn admits(&self, section: Option<&str>) -> bool {
        self.sections.is_empty()
            || section.is_some_and(|section| self.sections.iter().any(|it| it == section))
    }
}

/// Whether this gate admits seats of the section. A hall without gates has one entrance for all, by
/// whatever name.
pub fn check_gate(gates: &[Gate], name: &str, section: Option<&str>) -> Result<(), Refusal> {
    let is_open =
        gates.iter().filter(|gate| gate.name.as_str() == name).any(|gate| gate.admits(section));
    if gates.is_empty() || is_open {
        return Ok(());
    }
    let others = gates_for(gates, section);
    Err(Refusal::TicketOtherGate { gates: others.into_iter().map(str::to_owned).collect() })
}

/// The gates that admit seats of the section; none in a hall without gates.
pub fn gates_for<'g>(gates: &'g [Gate], section: Option<&str>) -> Vec<&'g str> {
    gates.iter().filter(|gate| gate.admits(section)).map(|gate| gate.name.as_str()).collect()
}

/// A gate with a section that the hall doesn't have would refuse everybody in it.
pub fn check_sections(gates: &[Gate], sections: &[&str]) -> Result<(), Refusal> {
    let mut named = gates.iter().flat_map(|gate| &gate.sections);
    match named.all(|section| sections.contains(&section.as_str())) {
        true => Ok(()),
        false => Err(Refusal::Invalid { field: "gates", problem: FieldError::NotASection }),
    }
}

/// What becomes of a scan that a device made without a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ScanVerdict {
    /// The ticket counts as used from the moment of the scan.
    Admitted,
    /// Another scan had admitted it: two people came in with one ticket.
    Double,
    /// The ticket had been canceled.
    Void,
    /// There is no such ticket for this date.
    Unknown,
    /// The check-in was taken back, or had not counted.
    Undone,
}

impl ScanVerdict {
    pub const fn of(status: TicketStatus) -> ScanVerdict {
        match status {
            TicketStatus::Valid => ScanVerdict::Admitted,
            TicketStatus::Used => ScanVerdict::Double,
            TicketStatus::Void => ScanVerdict::Void,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(name: &str, sections: &[&str]) -> Gate {
        let sections = sections.iter().map(|section| (*section).to_owned()).collect();
        Gate { name: name.to_owned().try_into().unwrap(), sections }
    }

    #[test]
    fn a_gate_admits_its_sections_and_names_the_right_gate_otherwise() {
        let gates = [gate("1", &["A", "B"]), gate("2", &["C"]), gate("VIP", &[])];
        assert_eq!(check_gate(&gates, "1", Some("B")), Ok(()));
        assert_eq!(check_gate(&gates, "VIP", Some("C")), Ok(()));
        let other = |gates: &[&str]| {
            let gates = gates.iter().map(|gate| (*gate).to_owned()).collect();
            Err(Refusal::TicketOtherGate { gates })
        };
        assert_eq!(check_gate(&gates, "1", Some("C")), other(&["2", "VIP"]));
        assert_eq!(check_gate(&gates, "9", Some("A")), other(&["1", "VIP"]));
        assert_eq!(check_gate(&gates, "1", None), other(&["VIP"]));
    }

    #[test]
    fn gates_are_open_from_a_day_and_a_half_before_the_start_to_half_a_day_after() {
        let starts_at = Timestamp::from_ms(1_000_000_000_000);
        let (first, last) = (starts_at.minus(OPEN_BEFORE_START), starts_at.plus(OPEN_AFTER_START));
        let moment = Duration::from_millis(1);
        assert_eq!(check_open(starts_at, first), Ok(()));
        assert_eq!(check_open(starts_at, last), Ok(()));
        assert_eq!(check_open(starts_at, first.minus(moment)), Err(Refusal::GatesClosed));
        assert_eq!(check_open(starts_at, last.plus(moment)), Err(Refusal::GatesClosed));
    }

    #[test]
    fn a_gate_names_sections_of_its_hall_only() {
        let gates = [gate("1", &["A"]), gate("VIP", &[])];
        assert_eq!(check_sections(&gates, &["A", "B"]), Ok(()));
        let problem = FieldError::NotASection;
        let refused = Err(Refusal::Invalid { field: "gates", problem });
        assert_eq!(check_sections(&gates, &["B"]), refused);
    }

    #[test]
    fn a_hall_without_gates_admits_everywhere() {
        assert_eq!(check_gate(&[], "north", Some("A")), Ok(()));
        assert_eq!(check_gate(&[], "north", None), Ok(()));
    }
}
