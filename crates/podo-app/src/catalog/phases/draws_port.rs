//! Draw sales in the store: what organisers set up, who applied, the drawn order, and the offers.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::booking::draws::{ApplicationState, DrawTerms};
use podo_domain::booking::seats::SeatPick;
use podo_domain::{PhaseId, ReservationId, ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct SetDraw {
    pub actor: UserId,
    pub phase: PhaseId,
    pub terms: DrawTerms,
    pub now: Timestamp,
}

/// A stored draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawRecord {
    pub phase: PhaseId,
    pub terms: DrawTerms,
    /// Secret until the draw.
    pub seed: [u8; 32],
    /// Indexes given to applications.
    pub n_applied: u32,
    pub closed_at: Option<Timestamp>,
    /// Indexes that have their place.
    pub n_ranked: u32,
    pub list_hash: Option<[u8; 32]>,
    pub drawn_at: Option<Timestamp>,
    /// When the applications without an offer were deleted.
    pub forgotten_at: Option<Timestamp>,
    /// When the phase ends, and with it the offers.
    pub ends_at: Timestamp,
    /// Seats that are offered or taken, by grade.
    pub n_out: BTreeMap<String, u32>,
}

/// A fan's application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationRecord {
    pub phase: PhaseId,
    pub user: UserId,
    pub index: u32,
    pub grade: String,
    pub count: u32,
    pub state: ApplicationState,
    pub place: Option<u32>,
    /// Whether the quantity reached it in the draw.
    pub wins: bool,
    pub reservation: Option<ReservationId>,
    pub created_at: Timestamp,
}

#[derive(Clone, Debug)]
pub struct Apply {
    pub phase: PhaseId,
    pub user: UserId,
    pub grade: String,
    pub count: u32,
    pub now: Timestamp,
}

/// The places of some indexes, which follow those that are stored.
#[derive(Clone, Debug)]
pub struct StorePlaces {
    pub phase: PhaseId,
    /// The first index.
    pub from: u32,
    pub places: Vec<Placed>,
    pub list_hash: [u8; 32],
    pub now: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    pub place: u32,
    pub wins: bool,
}

/// The application whose turn it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextApplication {
    pub application: ApplicationRecord,
    /// Seats of the grade that are neither offered nor taken.
    pub left: u32,
    /// Whether an offer of the grade is open, whose seats may come back.
    pub has_open: bool,
}

/// Holds seats for the fan whose turn it is. The application authorises it, so no entry is needed.
#[derive(Clone, Debug)]
pub struct OfferDrawn {
    pub phase: PhaseId,
    pub user: UserId,
    pub reservation: ReservationId,
    pub pick: SeatPick,
    pub until: Timestamp,
    pub now: Timestamp,
}

/// How many applications of a grade are in a state, and their seats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationCount {
    pub grade: String,
    pub state: ApplicationState,
    pub applications: u64,
    pub seats: u64,
}

#[async_trait]
pub trait Draws: Send + Sync {
    /// Creates or changes the draw of a phase. Refusals: `NotFound`, `InvalidDraw`, `DrawBegun`.
    async fn set_draw(&self, command: SetDraw) -> Result<DrawRecord>;

    async fn draw_of(&self, phase: PhaseId) -> Result<Option<DrawRecord>>;

    /// Applies, or changes the fan's application, which keeps its index. Refusals: `NotFound`,
    /// `DrawNotOpen`, `DrawClosed`, `UnknownGrade`, `NoSeats`, `TooManySeats`.
    async fn apply(&self, command: Apply) -> Result<ApplicationRecord>;

    async fn application_of(
        &self,
        user: UserId,
        phase: PhaseId,
    ) -> Result<Option<ApplicationRecord>>;

    /// Before the draw the index is skipped; after it the place is passed over. Refusals:
    /// `NotFound`, `DrawOffered`, `DrawClosed` between the end of the window and the draw.
    async fn withdraw_application(
        &self,
        user: UserId,
        phase: PhaseId,
        now: Timestamp,
    ) -> Result<()>;

    /// Draws whose window is over and that aren't complete, the longest over first.
    async fn draws_due(&self, now: Timestamp, limit: u32) -> Result<Vec<PhaseId>>;

    /// Ends the window: from now on the indexes and their applications are fixed.
    async fn close_draw(&self, phase: PhaseId, now: Timestamp) -> Result<DrawRecord>;

    /// The applications from an index on, in the order of the indexes.
    async fn applications_from(
        &self,
        phase: PhaseId,
        from: u32,
        limit: u32,
    ) -> Result<Vec<ApplicationRecord>>;

    /// Compares with the number of stored places, so a repeated call changes nothing. The last
    /// places complete the draw.
    async fn store_places(&self, command: StorePlaces) -> Result<()>;

    /// Complete draws whose phase runs and that have something to tell or to offer.
    async fn draws_running(&self, now: Timestamp, limit: u32) -> Result<Vec<DrawRecord>>;

    /// Writes messages to the next fans who weren't drawn, until all of them have one. Returns how
    /// many indexes it went through.
    async fn tell_not_drawn(&self, phase: PhaseId, limit: u32, now: Timestamp) -> Result<u64>;

    async fn next_to_offer(&self, phase: PhaseId, grade: String)
    -> Result<Option<NextApplication>>;

    /// Refusals: `NotFound` (it isn't this fan's turn), `DrawClosed` (more than the quantity has
    /// left), `SeatTaken`, `SeatLimit`, `SeatNotInPhase`, `SaleNotOpen`, `SaleClosed`, `SaleStopped`,
    /// `ScheduleCanceled`.
    async fn offer_drawn(&self, command: OfferDrawn) -> Result<()>;

    /// Passes over an application whose turn it is.
    async fn pass_over(&self, phase: PhaseId, user: UserId, now: Timestamp) -> Result<()>;

    /// Closes offers that were bought, declined or have expired; returns how many.
    async fn settle_drawn(&self, now: Timestamp, limit: u32) -> Result<u64>;

    async fn count_applications(&self, phase: PhaseId) -> Result<Vec<ApplicationCount>>;

    /// Deletes at most `limit` applications without an offer of each phase of a date; returns the
    /// most that it deleted of a phase.
    async fn forget_applications(
        &self,
        schedule: ScheduleId,
        limit: u32,
        now: Timestamp,
    ) -> Result<u64>;
}
