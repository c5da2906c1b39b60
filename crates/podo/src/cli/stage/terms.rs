//! How a staged date is sold besides its prices: phases with their audiences, ticket types, fees,
//! codes, and kept seats.

use crate::cli::stage::organiser;
use anyhow::{Context, Result};
use podo_app::AppContext;
use podo_app::booking::allocations::{create_allocation, keep_seats};
use podo_app::catalog::phases::members::MemberImport;
use podo_app::catalog::phases::{NewCodes, create_codes, set_phases};
use podo_app::catalog::pricing::{add_promotion, set_options};
use podo_domain::booking::allocations::{AllocationTerms, KeepPick, SEATS_PER_KEEP_MAX};
use podo_domain::booking::order::options::{Discount, Fees, TicketTypeInput};
use podo_domain::booking::order::promotions::{Promotion, PromotionPer};
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::id::SeatIndex;
use podo_domain::{PhaseId, PromotionId, ScheduleId, SeatId, Timestamp, UserId, Won};
use podo_load::{CheckoutPlan, FanProof, PhasePart, TypeChoice, member_of};
use std::time::Duration;
use uuid::Uuid;

/// The code of every phase that asks for one.
const PHASE_CODE: &str = "PODO2026";

/// The promotion codes of the simulated fans begin with this.
const TEST_CODE: &str = "TESTCODE";

/// The share of orders with a ticket type, and with a code.
const EXTRAS_SHARE: f64 = 0.25;

#[derive(Default)]
pub(crate) struct SaleTerms {
    /// In order; the last one lasts until the sale ends.
    pub(crate) phases: Vec<StagedPhase>,
    pub(crate) ticket_types: Vec<TicketTypeInput>,
    pub(crate) fees: Fees,
    /// What each test code takes off.
    pub(crate) codes: Vec<(Discount, PromotionPer)>,
    pub(crate) kept: Vec<(AllocationTerms, Vec<SeatIndex>)>,
}

pub(crate) struct StagedPhase {
    /// Its window is set when the phase is staged.
    pub(crate) terms: PhaseTerms,
    pub(crate) length: Duration,
    /// How many of the fans wait for it.
    pub(crate) fans: u32,
}

impl StagedPhase {
    pub(crate) fn presale(audience: PhaseAudience, fans: u32, length: Duration) -> StagedPhase {
        StagedPhase::named(("선예매", "Presale"), audience, fans, length)
    }

    pub(crate) fn general(fans: u32) -> StagedPhase {
        let names = ("일반예매", "General sale");
        StagedPhase::named(names, PhaseAudience::Everybody, fans, Duration::ZERO)
    }

    fn named(
        (name, name_en): (&str, &str),
        audience: PhaseAudience,
        fans: u32,
        length: Duration,
    ) -> StagedPhase {
        let never = Timestamp::from_ms(0);
        let terms = PhaseTerms {
            name: name.to_owned(),
            name_en: name_en.to_owned(),
            window: SaleWindow { starts_at: never, ends_at: never },
            audience,
            seats_per_person: 4,
            seats_per_order: None,
            inventory: Inventory::default(),
        };
        StagedPhase { terms, length, fans }
    }
}

/// What the simulated fans have to know of a staged sale.
pub(crate) struct Staged {
    pub(crate) phases: Vec<PhasePart>,
    pub(crate) checkout: CheckoutPlan,
}

/// Sets all of it on a date whose sale hasn't opened.
pub(crate) async fn set(
    context: &AppContext,
    schedule: ScheduleId,
    sale: SaleTerms,
) -> Result<Staged> {
    let actor = organiser(context).await?;
    for (terms, seats) in sale.kept {
        keep(context, (actor, schedule), terms, &seats).await?;
    }
    let options = set_options(context, actor, schedule, sale.ticket_types, sale.fees).await?;
    let choice = |it: &podo_domain::booking::order::options::TicketType| TypeChoice {
        id: it.id,
        grades: it.grades.clone(),
    };
    let types: Vec<TypeChoice> = options.ticket_types.iter().map(choice).collect();
    let mut codes = Vec::with_capacity(sale.codes.len());
    for (number, (discount, per)) in sale.codes.into_iter().enumerate() {
        let code = test_code(format!("{TEST_CODE}{number}"), discount, per);
        codes.push(code.code.clone());
        add_promotion(context, actor, schedule, code).await?;
    }
    let phases = put_phases(context, (actor, schedule), sale.phases).await?;
    let share = |has: bool| if has { EXTRAS_SHARE } else { 0.0 };
    let (typed_share, code_share) = (share(!types.is_empty()), share(!codes.is_empty()));
    Ok(Staged { phases, checkout: CheckoutPlan { types, typed_share, codes, code_share } })
}

async fn keep(
    context: &AppContext,
    (actor, schedule): (UserId, ScheduleId),
    terms: AllocationTerms,
    seats: &[SeatIndex],
) -> Result<()> {
    let ids: Vec<SeatId> = seats.iter().map(|seat| schedule.seat(*seat)).collect();
    let made = create_allocation(context, actor, schedule, terms, &[]).await?;
    for some in ids.chunks(SEATS_PER_KEEP_MAX) {
        let pick = KeepPick::new(schedule, some).map_err(podo_app::Error::from)?;
        keep_seats(context, actor, made.id, pick).await?;
    }
    Ok(())
}

/// Any order may use it, so that the fans know its effect.
fn test_code(code: String, discount: Discount, per: PromotionPer) -> Promotion {
    Promotion {
        id: PromotionId::new(Uuid::nil()),
        code,
        discount,
        per,
        grades: None,
        amount_min: Won::ZERO,
        starts_at: None,
        ends_at: None,
        uses_max: 1_000_000,
        uses_per_person: None,
    }
}

async fn put_phases(
    context: &AppContext,
    (actor, schedule): (UserId, ScheduleId),
    staged: Vec<StagedPhase>,
) -> Result<Vec<PhasePart>> {
    if staged.is_empty() {
        return Ok(Vec::new());
    }
    let record = context.store.schedule(schedule).await?.context("the date was just made")?;
    let (mut from, end) = (record.times.sale_starts_at, record.times.sale_ends_at);
    let (last, mut inputs) = (staged.len() - 1, Vec::with_capacity(staged.len()));
    for (index, phase) in staged.iter().enumerate() {
        let ends_at = if index == last { end } else { from.plus(phase.length) };
        let window = SaleWindow { starts_at: from, ends_at };
        let terms = PhaseTerms { window, ..phase.terms.clone() };
        inputs.push(PhaseInput { id: None, terms });
        from = ends_at;
    }
    let views = set_phases(context, actor, schedule, inputs).await?;
    let record = context.store.schedule(schedule).await?.context("the date was just made")?;
    let mut parts = Vec::with_capacity(views.len());
    let mut first = 0;
    for ((view, stored), StagedPhase { fans, .. }) in views.iter().zip(record.phases).zip(staged) {
        let phase = view.phase.id;
        let audience = view.phase.audience;
        let proof = invite(context, (actor, phase), audience, first..first + fans).await?;
        parts.push(PhasePart { phase, fans, proof, seats: stored.seats });
        first += fans;
    }
    Ok(parts)
}

/// Prepares the proof of these fans.
async fn invite(
    context: &AppContext,
    (actor, phase): (UserId, PhaseId),
    audience: PhaseAudience,
    fans: std::ops::Range<u32>,
) -> Result<Option<FanProof>> {
    match audience {
        PhaseAudience::Code => {
            let codes = NewCodes::Given(vec![PHASE_CODE.to_owned()]);
            create_codes(context, actor, phase, codes, (fans.len() as u32).max(1)).await?;
            Ok(Some(FanProof::Code(PHASE_CODE.to_owned())))
        }
        PhaseAudience::Members => {
            let mut import = MemberImport::start(context, actor, phase).await?;
            for block in Lines::within(fans) {
                import.feed(block.as_bytes()).await?;
            }
            import.finish().await?;
            Ok(Some(FanProof::Member))
        }
        PhaseAudience::Everybody | PhaseAudience::VerifiedIdentity | PhaseAudience::Drawn => {
            Ok(None)
        }
    }
}

/// The member list of the simulated fans in blocks, so that it needs little memory.
pub(crate) struct Lines {
    rest: std::ops::Range<u32>,
    has_head: bool,
}

/// Lines in one block.
const BLOCK: usize = 1_000;

impl Lines {
    pub(crate) fn of(n_members: u32) -> Lines {
        Lines::within(0..n_members)
    }

    fn within(fans: std::ops::Range<u32>) -> Lines {
        Lines { rest: fans, has_head: false }
    }
}

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if !std::mem::replace(&mut self.has_head, true) {
            return Some("membershipNumber,name\n".to_owned());
        }
        let line = |fan| {
            let (number, name) = member_of(fan);
            format!("{number},{name}\n")
        };
        let block: String = self.rest.by_ref().take(BLOCK).map(line).collect();
        (!block.is_empty()).then_some(block)
    }
}

#[test]
fn a_member_list_comes_in_blocks_and_ends() {
    let blocks: Vec<String> = Lines::of(2_500).collect();
    assert_eq!(blocks.len(), 4);
    assert_eq!(blocks[0], "membershipNumber,name\n");
    assert!(blocks[1].starts_with("M-0,Fan 0\n") && blocks[3].ends_with("M-2499,Fan 2499\n"));
    let n_lines: usize = blocks.iter().map(|block| block.lines().count()).sum();
    assert_eq!(n_lines, 2_501);
}
