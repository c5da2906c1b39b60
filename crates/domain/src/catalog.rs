//! What is sold: the life of an event, the times of its dates, and the seats of a hall.

mod event;
mod plan;
mod rows;
mod schedule;
mod template;
mod terms;

pub use event::EventStatus;
pub use plan::{PlannedSeat, SeatPlan, price_seats};
pub use rows::{Arc, Line, RowTemplate, SingleSeat};
pub use schedule::{SaleWindow, ScheduleStatus, ScheduleTimes};
pub use template::{
    GridTemplate, Point, SeatTemplate, SectionTemplate, SectionedTemplate, Stage, StandingZone,
};
pub use terms::{ResaleDelay, ScheduleChange, ScheduleTerms};

#[cfg(test)]
mod tests;
