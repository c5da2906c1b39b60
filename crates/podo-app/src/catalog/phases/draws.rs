//! Draw sales: what organisers set up, what fans apply for, and the proof that anybody can check.

use crate::booking::port::reservations::ReservationView;
use crate::catalog::phases::draws_port::{
    ApplicationCount, ApplicationRecord, Apply, DrawRecord, SetDraw,
};
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts::require_identity;
use podo_domain::booking::draws::{ApplicationState, DrawTerms};
use podo_domain::waiting_room::draw::commitment;
use podo_domain::{PhaseId, Refusal, Timestamp, UserId};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;
use utoipa::ToSchema;

/// Changes of an application per fan: each writes a notification.
const CHANGES: u32 = 20;
const CHANGES_PER: Duration = Duration::from_secs(600);

/// A draw as everyone sees it. Its proof is complete once the seed is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrawSaleView {
    pub phase_id: PhaseId,
    pub apply_from: Timestamp,
    /// The draw follows at once.
    pub apply_until: Timestamp,
    /// Most seats of one application.
    pub seats_max: u32,
    /// How long a winner may take to pay.
    pub offer_minutes: u32,
    /// Seats to give away, by grade.
    pub quantities: BTreeMap<String, u32>,
    /// SHA-256 of the seed, published before the first application.
    pub seed_hash: String,
    /// The seed itself, after the draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The number of indexes in the draw, after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<u32>,
    /// SHA-256 of the list of applications, after the draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn_at: Option<Timestamp>,
    pub recipe: &'static str,
}

const RECIPE: &str = "Shuffle 0..drawn by Fisher–Yates with 64-bit numbers from \
    SHA-256(seed || counter). In each grade the seats go to the applications in that order. \
    `podo verify-draw --applications` and docs/draw.md show every step.";

impl DrawSaleView {
    pub fn of(draw: &DrawRecord) -> DrawSaleView {
        let terms = &draw.terms;
        DrawSaleView {
            phase_id: draw.phase,
            apply_from: terms.apply_from,
            apply_until: terms.apply_until,
            seats_max: terms.seats_max,
            offer_minutes: terms.offer_minutes,
            quantities: terms.quantities.clone(),
            seed_hash: hex(&commitment(&draw.seed)),
            seed: draw.drawn_at.map(|_| hex(&draw.seed)),
            drawn: draw.drawn_at.map(|_| draw.n_applied),
            list_hash: draw.list_hash.filter(|_| draw.drawn_at.is_some()).map(|hash| hex(&hash)),
            drawn_at: draw.drawn_at,
            recipe: RECIPE,
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A fan's application.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrawApplicationView {
    pub phase_id: PhaseId,
    /// Its line in the published list.
    pub index: u32,
    pub grade: String,
    pub count: u32,
    pub state: ApplicationState,
    /// Its place in the drawn order, from 1, after the draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<u32>,
    /// Whether the quantity reached it in the draw; others get an offer only if one lapses.
    pub wins: bool,
    /// The seats held for the fan, once there are some: pay before `holdExpiresAt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offer: Option<ReservationView>,
    pub created_at: Timestamp,
}

/// A draw as organisers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminDrawView {
    #[serde(flatten)]
    pub draw: DrawSaleView,
    /// Indexes given so far, those of withdrawn applications included.
    pub applied: u32,
    pub grades: Vec<DrawGradeView>,
}

/// How far a grade is. All but `applications` are seats.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DrawGradeView {
    pub grade: String,
    pub quantity: u32,
    /// Applications that weren't withdrawn.
    pub applications: u64,
    pub asked_for: u64,
    pub offered: u64,
    pub taken: u64,
    /// Seats of applications that wait for an offer.
    pub waiting: u64,
}

pub async fn set_draw(
    context: &AppContext,
    actor: UserId,
    phase: PhaseId,
    terms: DrawTerms,
) -> Result<AdminDrawView> {
    let command = SetDraw { actor, phase, terms, now: context.now() };
    let draw = context.store.set_draw(command).await?;
    context.catalog.cache.invalidate(context).await;
    admin_view(context, draw).await
}

/// The draw of a phase with its progress; `None` for a phase without one.
pub async fn show_progress(context: &AppContext, phase: PhaseId) -> Result<Option<AdminDrawView>> {
    match context.store.draw_of(phase).await? {
        Some(draw) => admin_view(context, draw).await.map(Some),
        None => Ok(None),
    }
}

async fn admin_view(context: &AppContext, draw: DrawRecord) -> Result<AdminDrawView> {
    let counts = context.store.count_applications(draw.phase).await?;
    let grades = draw.terms.quantities.iter();
    let grades = grades.map(|(grade, quantity)| grade_view(grade, *quantity, &counts)).collect();
    Ok(AdminDrawView { draw: DrawSaleView::of(&draw), applied: draw.n_applied, grades })
}

fn grade_view(grade: &str, quantity: u32, counts: &[ApplicationCount]) -> DrawGradeView {
    let mut view = DrawGradeView { grade: grade.to_owned(), quantity, ..DrawGradeView::default() };
    let live =
        counts.iter().filter(|it| it.grade == grade && it.state != ApplicationState::Withdrawn);
    for count in live {
        view.applications += count.applications;
        view.asked_for += count.seats;
        match count.state {
            ApplicationState::Offered => view.offered += count.seats,
            ApplicationState::Taken => view.taken += count.seats,
            ApplicationState::Applied | ApplicationState::Drawn => view.waiting += count.seats,
            ApplicationState::Withdrawn | ApplicationState::Lapsed | ApplicationState::Passed => {}
        }
    }
    view
}

/// The terms of a draw, and its proof as far as it is published.
pub async fn show_draw(context: &AppContext, phase: PhaseId) -> Result<DrawSaleView> {
    Ok(DrawSaleView::of(&visible_draw(context, phase).await?))
}

/// A draw of an event that the public sees.
async fn visible_draw(context: &AppContext, phase: PhaseId) -> Result<DrawRecord> {
    context.catalog.schedules.get(&*context.store, phase.schedule(), context.now()).await?;
    Ok(context.store.draw_of(phase).await?.ok_or(Refusal::NotFound)?)
}

/// Refuses the list before the draw, when it would show how a fan's own chances stand, and after
/// its retention.
pub async fn require_list(context: &AppContext, phase: PhaseId) -> Result<()> {
    let draw = visible_draw(context, phase).await?;
    if draw.forgotten_at.is_some() {
        return Err(Refusal::NotFound.into());
    }
    draw.drawn_at.ok_or(Refusal::DrawPending)?;
    Ok(())
}

/// The header of the published list.
pub const LIST_HEADER: &str = "index,grade,count,place,state\n";

/// Lines of one page of the published list.
pub const LIST_PAGE: u32 = 5_000;

/// Some lines of the published list, without anything personal, and the index after them; `None`
/// after the last.
pub async fn list_page(
    context: &AppContext,
    phase: PhaseId,
    from: u32,
) -> Result<Option<(String, u32)>> {
    let found = context.store.applications_from(phase, from, LIST_PAGE).await?;
    let Some(last) = found.last() else { return Ok(None) };
    let next = last.index + 1;
    Ok(Some((found.iter().map(list_line).collect(), next)))
}

fn list_line(application: &ApplicationRecord) -> String {
    let ApplicationRecord { index, grade, count, state, .. } = application;
    let place = application.place.map_or(String::new(), |place| (place + 1).to_string());
    let quoted = match grade.contains([',', '"', '\n']) {
        true => format!("\"{}\"", grade.replace('"', "\"\"")),
        false => grade.clone(),
    };
    format!("{index},{quoted},{count},{place},{}\n", state.as_str())
}

/// Applies, or changes the fan's application.
pub async fn apply(
    context: &AppContext,
    fan: UserId,
    phase: PhaseId,
    grade: String,
    count: u32,
) -> Result<DrawApplicationView> {
    let now = context.now();
    context.take(&format!("draw:{fan}"), CHANGES, CHANGES_PER).await?;
    let date = phase.schedule();
    let record = context.catalog.schedules.get(&*context.store, date, now).await?;
    if record.queue.identity_required {
        require_identity(context, fan).await?;
    }
    let command = Apply { phase, user: fan, grade, count, now };
    let application = context.store.apply(command).await?;
    view(context, application).await
}

pub async fn my_application(
    context: &AppContext,
    fan: UserId,
    phase: PhaseId,
) -> Result<DrawApplicationView> {
    let application = context.store.application_of(fan, phase).await?;
    view(context, application.ok_or(Refusal::NotFound)?).await
}

pub async fn withdraw(context: &AppContext, fan: UserId, phase: PhaseId) -> Result<()> {
    context.take(&format!("draw:{fan}"), CHANGES, CHANGES_PER).await?;
    context.store.withdraw_application(fan, phase, context.now()).await
}

async fn view(context: &AppContext, application: ApplicationRecord) -> Result<DrawApplicationView> {
    let offer = match application.reservation {
        Some(reservation) => context.store.reservation(reservation, application.user).await?,
        None => None,
    };
    Ok(DrawApplicationView {
        phase_id: application.phase,
        index: application.index,
        grade: application.grade,
        count: application.count,
        state: application.state,
        place: application.place.map(|place| place + 1),
        wins: application.wins,
        offer,
        created_at: application.created_at,
    })
}
