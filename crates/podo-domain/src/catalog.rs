//! What is sold: the life of an event, the times of its dates, and the seats of a hall.

mod event;
pub mod hall;
mod plan;
mod rows;
mod schedule;
mod seat_list;
mod template;
mod terms;
pub mod text;

pub use event::EventStatus;
pub use plan::{PlannedSeat, SeatPlan, price_seats};
pub use rows::{Arc, Line, RowTemplate, SingleSeat};
pub use schedule::{SaleWindow, ScheduleStatus, ScheduleTimes, ShowStatus};
pub use seat_list::SeatList;
pub use template::{
    GridTemplate, Point, SeatTemplate, SectionTemplate, SectionedTemplate, Stage, StandingZone,
};
pub use terms::{ResaleDelay, ScheduleChange, ScheduleTerms};

#[cfg(test)]
mod tests;
