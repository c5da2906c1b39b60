//! What makes single concerts of the demo worth a look: posters, a sold-out hall with a standby
//! list, a presale with a code, a draw, and a fan with an account.

use crate::cli::stage::{DAY, HOUR, line, organiser};
use anyhow::{Result, anyhow};
use podo_app::AppContext;
use podo_app::booking::reservations::issued::{AskToIssue, Customer, issue_order};
use podo_app::catalog::images::{Upload, set_poster};
use podo_app::catalog::phases::draws::set_draw;
use podo_app::catalog::phases::{NewCodes, create_codes, set_phases};
use podo_app::catalog::pricing::set_options;
use podo_app::identity::accounts::{SignUp, create_admin};
use podo_app::operations::idempotency::{ISSUE, idempotency_key};
use podo_app::payments::refunds::set_policy;
use podo_domain::booking::draws::DrawTerms;
use podo_domain::booking::issued::{Issue, Tender};
use podo_domain::booking::order::options::{Discount, Fee, FeeRefund, Fees, TicketTypeInput};
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::images::Frame;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::identity::{Email, NewPassword, Role};
use podo_domain::payments::refund_policy::{FeeStep, Grace, GraceUnit, RefundPolicy};
use podo_domain::{EventId, ScheduleId, SeatId, UserId, Won};
use std::collections::BTreeMap;

/// A poster of the demo, and what it shows.
pub(crate) type Poster = (&'static [u8], &'static str);

/// The poster of the concert that opens in seconds.
pub(crate) const SEREIN: Poster =
    (include_bytes!("posters/serein.jpg"), "노을 앞에 선 다섯 사람, SEREIN AFTERGLOW 포스터");

/// The demo's fan. The demo has its own data folder.
pub(crate) const FAN: (&str, &str) = ("fan@podo.example", "purple-grapes-2026");

/// The code of the presale.
pub(crate) const CODE: &str = "BARAM-2027";

pub(crate) async fn hang(context: &AppContext, event: EventId, poster: Poster) -> Result<()> {
    let (bytes, alt) = poster;
    let upload = Upload { bytes: bytes.to_vec(), frame: Some(Frame::default()), alt: line(alt)? };
    set_poster(context, organiser(context).await?, event, upload).await?;
    Ok(())
}

/// The poster of the concert that opens in seconds.
pub(crate) async fn hang_serein(context: &AppContext, schedule: ScheduleId) -> Result<()> {
    let record = context.store.schedule(schedule).await?;
    hang(context, record.ok_or_else(|| anyhow!("the date is gone"))?.event, SEREIN).await
}

/// Creates the fan's account, once per data folder.
pub(crate) async fn welcome_fan(context: &AppContext) -> Result<()> {
    let (email, password) = FAN;
    let asked = SignUp {
        email: Email::try_from(email.to_owned())?,
        password: NewPassword::try_from(password.to_owned())?,
        name: line("김지민")?,
        phone: None,
        role: Role::User,
    };
    create_admin(context, asked).await?;
    Ok(())
}

/// What canceling costs, as most ticket sellers of Korea have it.
pub(super) async fn set_terms(
    context: &AppContext,
    organiser: UserId,
    event: EventId,
) -> Result<()> {
    let steps = [(9, 10), (6, 20), (2, 30), (0, 90)];
    let policy = RefundPolicy {
        steps: steps.map(|(days, percent)| FeeStep::percent(days, percent)).to_vec(),
        grace: Some(Grace {
            unit: GraceUnit::Hours,
            length: 24,
            days_before: 3,
            refunds_fees: true,
        }),
        last_moment: None,
    };
    Ok(set_policy(context, organiser, event, policy).await?)
}

/// A booking fee, and a price for teenagers.
pub(super) async fn set_fees(
    context: &AppContext,
    organiser: UserId,
    schedule: ScheduleId,
) -> Result<()> {
    let amount = Won::new(2_000).ok_or_else(|| anyhow!("a fee is an amount"))?;
    let fees =
        Fees { booking: Some(Fee { amount, refund: FeeRefund::BookingDay }), ..Fees::default() };
    let teenager = TicketTypeInput {
        id: None,
        name: "청소년".to_owned(),
        name_en: "Teenager".to_owned(),
        grades: None,
        discount: Discount::Percent(20),
        per_order: None,
        proof: Some("학생증".to_owned()),
        proof_en: Some("Student card".to_owned()),
    };
    set_options(context, organiser, schedule, vec![teenager], fees).await?;
    Ok(())
}

/// Sells the first seats at the desk.
pub(super) async fn sell(
    context: &AppContext,
    organiser: UserId,
    schedule: ScheduleId,
    n_seats: u32,
) -> Result<()> {
    let seats: Vec<SeatId> = (0..n_seats).map(|index| schedule.seat(index)).collect();
    for (number, seats) in seats.chunks(4).enumerate() {
        let name = format!("{schedule}-{number}");
        let asked = AskToIssue {
            key: idempotency_key(organiser, ISSUE, Some(&name), name.as_bytes())
                .map_err(podo_app::Error::from)?,
            actor: organiser,
            schedule,
            seats: seats.iter().map(|seat| (*seat, None)).collect(),
            issue: Issue::Sale(Tender::Cash),
            customer: Customer { name: format!("현장 {number}"), phone: None, note: None },
        };
        issue_order(context, asked).await?;
    }
    Ok(())
}

/// A phase before the general sale.
#[derive(Clone, Copy)]
pub(super) enum Before {
    Presale,
    Draw,
}

/// The first day of the sale is for fans with a code, or for winners of a draw.
pub(super) async fn begin_with(
    context: &AppContext,
    organiser: UserId,
    schedule: ScheduleId,
    before: Before,
) -> Result<()> {
    let record = context.store.schedule(schedule).await?;
    let record = record.ok_or_else(|| anyhow!("the date is gone"))?;
    let sale = record.times.sale();
    let (opens_at, general_at) = (sale.starts_at, sale.starts_at.plus(DAY));
    let phase = |name: [&str; 2], audience, window| PhaseInput {
        id: None,
        terms: PhaseTerms {
            name: name[0].to_owned(),
            name_en: name[1].to_owned(),
            window,
            audience,
            seats_per_person: 2,
            seats_per_order: None,
            inventory: Inventory { grades: None, sections: None },
        },
    };
    let first = SaleWindow { starts_at: opens_at, ends_at: general_at };
    let first = match before {
        Before::Presale => {
            phase(["정기회원 선예매", "Members' presale"], PhaseAudience::Code, first)
        }
        Before::Draw => {
            phase(["블라인드 티켓 추첨", "Blind ticket draw"], PhaseAudience::Drawn, first)
        }
    };
    let general = SaleWindow { starts_at: general_at, ends_at: sale.ends_at };
    let general = phase(["일반예매", "General sale"], PhaseAudience::Everybody, general);
    let made = set_phases(context, organiser, schedule, vec![first, general]).await?;
    let first = made.first().ok_or_else(|| anyhow!("no phase was made"))?.phase.id;
    match before {
        Before::Presale => {
            let codes = NewCodes::Given(vec![CODE.to_owned()]);
            create_codes(context, organiser, first, codes, 1_000).await?;
        }
        Before::Draw => {
            let quantities: BTreeMap<String, u32> =
                record.prices.keys().map(|grade| (grade.clone(), 100)).collect();
            let terms = DrawTerms {
                apply_from: context.now(),
                apply_until: opens_at.minus(HOUR),
                seats_max: 2,
                offer_minutes: 24 * 60,
                quantities,
            };
            set_draw(context, organiser, first, terms).await?;
        }
    }
    Ok(())
}
