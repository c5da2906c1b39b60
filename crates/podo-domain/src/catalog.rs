//! What is sold: the life of an event, the times of its dates, and the seats of a hall.

mod event;
pub mod hall;
pub mod images;
pub mod phases;
mod plan;
mod schedule;
pub mod suggestions;
mod template;
mod terms;
pub mod text;

pub use event::{EventEdit, EventStatus, Genre, MinimumAge, NewEvent, SaleTerms};
pub use plan::{PlannedSeat, SeatPlan, price_seats};
pub use schedule::{SaleWindow, ScheduleStatus, ScheduleTimes, ShowStatus};
pub use template::rows::{Arc, RowLine, RowTemplate, SingleSeat};
pub use template::seat_list::SeatList;
pub use template::shapes::{Numbering, SectionShape};
pub use template::{
    GridTemplate, Point, SeatTemplate, SectionTemplate, SectionedTemplate, Stage, StandingZone,
};
pub use terms::{ResaleDelay, ScheduleChange, ScheduleTerms, is_order_size};

#[cfg(test)]
mod tests;
