//! What is sold: the life of an event, the times of its dates, and the seats of a hall.

mod event;
mod plan;
mod schedule;
mod template;

pub use event::EventStatus;
pub use plan::{PlannedSeat, SeatPlan, price_seats};
pub use schedule::{SaleWindow, ScheduleStatus, ScheduleTimes};
pub use template::{
    GridTemplate, RowTemplate, SeatTemplate, SectionTemplate, SectionedTemplate, SingleSeat, Stage,
};

#[cfg(test)]
mod tests;
