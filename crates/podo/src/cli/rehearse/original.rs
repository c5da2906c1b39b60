//! The data of the rehearsed date that a copy needs.

use crate::bootstrap;
use crate::bootstrap::Store;
use crate::cli::stage::terms::{SaleTerms, StagedPhase};
use crate::config::Config;
use anyhow::{Context, Result, bail};
use podo_adapters::clock::SystemRng;
use podo_app::booking::port::allocations::Allocations;
use podo_app::catalog::port::Catalog;
use podo_app::catalog::pricing_port::Pricing;
use podo_domain::booking::allocations::AllocationTerms;
use podo_domain::booking::order::options::{Discount, PriceOptions, TicketType, TicketTypeInput};
use podo_domain::booking::order::promotions::PromotionPer;
use podo_domain::catalog::phases::{Phase, PhaseAudience, PhaseTerms};
use podo_domain::catalog::{ResaleDelay, SeatTemplate};
use podo_domain::id::SeatIndex;
use podo_domain::waiting_room::QueueSettings;
use podo_domain::{ScheduleId, Won};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

pub(super) struct Original {
    pub(super) title: String,
    pub(super) template: SeatTemplate,
    pub(super) n_seats: u32,
    pub(super) prices: BTreeMap<String, Won>,
    pub(super) seats_per_person: u32,
    pub(super) seats_per_order: u32,
    pub(super) resale_delay: ResaleDelay,
    pub(super) queue: QueueSettings,
    phases: Vec<Phase>,
    options: PriceOptions,
    /// What its promotion codes take off. The codes themselves aren't used.
    codes: Vec<(Discount, PromotionPer)>,
    kept: Vec<(AllocationTerms, Vec<SeatIndex>)>,
}

impl Original {
    /// Whether it is sold at its prices to everybody, with nothing besides.
    pub(super) fn is_plain(&self) -> bool {
        let Original { phases, options, codes, kept, .. } = self;
        phases.is_empty() && options.is_plain() && codes.is_empty() && kept.is_empty()
    }

    /// How the copy is sold. A phase takes `length`, and the fans are divided among the phases.
    pub(super) fn terms(&self, fans: u32, length: Duration) -> SaleTerms {
        let phases: Vec<&Phase> = self.phases.iter().filter(|it| !is_left_out(it)).collect();
        let fans = fans.div_ceil(phases.len().max(1) as u32);
        let stage = |phase: &&Phase| StagedPhase {
            terms: PhaseTerms { audience: played(phase.terms.audience), ..phase.terms.clone() },
            length,
            fans,
        };
        SaleTerms {
            phases: phases.iter().map(stage).collect(),
            ticket_types: self.options.ticket_types.iter().map(as_new).collect(),
            fees: self.options.fees,
            codes: self.codes.clone(),
            kept: self.kept.clone(),
        }
    }

    /// What is copied besides the prices, and what can't be played.
    pub(super) fn describe(&self) -> String {
        let n_left_out = self.phases.iter().filter(|it| is_left_out(it)).count();
        let n_kept: usize = self.kept.iter().map(|(_, seats)| seats.len()).sum();
        let left_out = match n_left_out {
            0 => String::new(),
            n => format!(" Phases for winners of a draw are left out: {n}."),
        };
        format!(
            "Copied: {} phases, {} ticket types, {} codes (as test codes), {n_kept} kept \
             seats.{left_out}",
            self.phases.len() - n_left_out,
            self.options.ticket_types.len(),
            self.codes.len(),
        )
    }
}

/// Its offers take hours to accept, and need no entry.
fn is_left_out(phase: &Phase) -> bool {
    phase.terms.audience == PhaseAudience::Drawn
}

/// Simulated fans can't verify their identity.
fn played(audience: PhaseAudience) -> PhaseAudience {
    match audience {
        PhaseAudience::VerifiedIdentity => PhaseAudience::Everybody,
        PhaseAudience::Everybody
        | PhaseAudience::Code
        | PhaseAudience::Members
        | PhaseAudience::Drawn => audience,
    }
}

fn as_new(it: &TicketType) -> TicketTypeInput {
    TicketTypeInput {
        id: None,
        name: it.name.clone(),
        name_en: it.name_en.clone(),
        grades: it.grades.clone(),
        discount: it.discount,
        per_order: it.per_order,
        proof: it.proof.clone(),
        proof_en: it.proof_en.clone(),
    }
}

pub(super) async fn read(config: &Config, schedule: ScheduleId) -> Result<Original> {
    if let Store::Sqlite(path) = Store::named_by(&config.store_url, &config.data)?
        && !path.exists()
    {
        bail!("no database at {}; pass its folder with --data", path.display());
    }
    let store = bootstrap::open_store(config, Arc::new(SystemRng::new())).await?;
    let record = store.schedule(schedule).await?.context("no such date")?;
    let template = store.template_of(schedule).await?.context("the date has no hall")?;
    let promotions = store.promotions_of(schedule).await?;
    let kept = kept_seats(&store, schedule).await?;
    Ok(Original {
        title: record.event_title,
        template,
        n_seats: record.n_seats,
        prices: record.prices,
        seats_per_person: record.seats_per_person,
        seats_per_order: record.seats_per_order,
        resale_delay: record.resale_delay,
        queue: record.queue,
        phases: record.phases,
        options: record.options,
        codes: promotions.iter().map(|it| (it.discount, it.per)).collect(),
        kept,
    })
}

/// The seats that fans can't have, those with an order of the box office too.
async fn kept_seats(
    store: &impl Allocations,
    schedule: ScheduleId,
) -> Result<Vec<(AllocationTerms, Vec<SeatIndex>)>> {
    let seats = store.allocated_seats(schedule).await?;
    let allocations = store.allocations_of(schedule).await?.into_iter().map(|it| {
        let of_it = seats.iter().filter(|seat| seat.allocation_id == it.id);
        let indexes = of_it.map(|seat| seat.seat_id.index()).collect::<Vec<SeatIndex>>();
        let (name, kind) = (it.name, it.kind);
        (AllocationTerms { name, kind, note: None, release_at: None }, indexes)
    });
    Ok(allocations.filter(|(_, seats)| !seats.is_empty()).collect())
}
