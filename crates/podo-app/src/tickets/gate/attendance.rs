//! Who has come, by grade, section and gate.

use crate::context::AppContext;
use crate::error::Result;
use crate::tickets::gate_port::{Attendance, SectionAttendance};
use podo_domain::catalog::hall::Hall;
use podo_domain::id::SeatIndex;
use podo_domain::{Refusal, ScheduleId};
use std::collections::HashMap;

pub async fn attendance(context: &AppContext, schedule: ScheduleId) -> Result<Attendance> {
    context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    let found = context.store.attendance(schedule).await?;
    let hall = context.catalog.layouts.get(&*context.store, schedule).await?;
    let names = hall.section_names();
    if names.is_empty() {
        return Ok(found);
    }
    let seats = context.store.seats_at_gate(schedule).await?;
    Ok(Attendance { sections: by_section(&hall, &names, &seats), ..found })
}

/// The store doesn't know which seats are a section.
fn by_section(hall: &Hall, names: &[&str], seats: &[(SeatIndex, bool)]) -> Vec<SectionAttendance> {
    let mut counts: HashMap<&str, (u64, u64)> = HashMap::new();
    for (seat, is_admitted) in seats {
        let Some(section) = hall.section(*seat) else { continue };
        let (tickets, admitted) = counts.entry(section).or_default();
        *tickets += 1;
        *admitted += u64::from(*is_admitted);
    }
    let of = |name: &&str| {
        let (tickets, admitted) = counts.get(name).copied().unwrap_or_default();
        SectionAttendance { section: (*name).to_owned(), tickets, admitted }
    };
    names.iter().map(of).collect()
}
