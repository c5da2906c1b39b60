//! A stage for demos and benchmarks: an arena and an event with one date.

mod arena;
pub(crate) mod fans;
pub(crate) mod own_server;
pub(super) mod programme;
pub(super) mod specials;
pub(crate) mod terms;

use anyhow::{Result, anyhow};
use podo_app::AppContext;
use podo_app::catalog::port::EventVerb;
use podo_app::catalog::{
    NewSchedule, NewVenue, change_event, create_event, create_hall, create_schedule, create_venue,
};
use podo_app::identity::accounts::{SignUp, create_admin};
use podo_domain::booking::seats::SEATS_PER_ORDER;
use podo_domain::catalog::text::{Line, Prose};
use podo_domain::catalog::{Genre, NewEvent, ResaleDelay, ScheduleTimes, SeatTemplate};
use podo_domain::identity::{Email, NewPassword, Role};
use podo_domain::waiting_room::QueueSettings;
use podo_domain::{ScheduleId, Timestamp, UserId, Won};
use std::collections::BTreeMap;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What is sold, and how fans are admitted.
pub(super) struct Show {
    pub(super) title: String,
    pub(super) artist: &'static str,
    pub(super) opens_in: Duration,
    pub(super) n_seats: u32,
    pub(super) queue: QueueSettings,
}

/// Like `Show`, with a given hall.
pub(super) struct Billing {
    pub(super) title: String,
    pub(super) artist: &'static str,
    pub(super) opens_in: Duration,
    pub(super) template: SeatTemplate,
    pub(super) prices: BTreeMap<String, Won>,
    pub(super) seats_per_person: u32,
    pub(super) seats_per_order: u32,
    pub(super) resale_delay: ResaleDelay,
    pub(super) queue: QueueSettings,
}

/// Creates the arena, the event and its date; the sale opens after `opens_in`.
pub(super) async fn set(context: &AppContext, show: &Show) -> Result<ScheduleId> {
    let template = arena::of(show.n_seats);
    let billing = Billing {
        title: show.title.clone(),
        artist: show.artist,
        opens_in: show.opens_in,
        prices: prices(&template),
        template,
        seats_per_person: 4,
        seats_per_order: SEATS_PER_ORDER,
        resale_delay: ResaleDelay::default(),
        queue: show.queue.clone(),
    };
    put_on(context, billing).await
}

/// Creates the hall, the event and its date; the sale opens after `opens_in`.
pub(super) async fn put_on(context: &AppContext, billing: Billing) -> Result<ScheduleId> {
    let organiser = organiser(context).await?;
    let venue = NewVenue {
        name: line("포도 아레나")?,
        address: line("서울특별시 송파구 올림픽로 1")?,
        city: line("서울")?,
        time_zone: None,
    };
    let venue = create_venue(context, organiser, venue).await?;
    let now = context.now();
    let hall = line("그랜드홀")?;
    let (hall, _) = create_hall(context, organiser, venue, hall, billing.template).await?;
    let event = NewEvent {
        description: Prose::try_from("포도가 사라지기 전에.".to_owned())?,
        genre: Genre::Pop,
        ..NewEvent::new(line(&billing.title)?, line(billing.artist)?, venue, hall)
    };
    let event = create_event(context, organiser, event).await?;
    let opens_at = now.plus(billing.opens_in);
    let starts_at = evening(opens_at.plus(DAY * 30));
    let schedule = NewSchedule {
        times: ScheduleTimes {
            starts_at,
            ends_at: starts_at.plus(HOUR * 3),
            sale_starts_at: opens_at,
            sale_ends_at: starts_at.minus(DAY),
        },
        prices: billing.prices,
        seats_per_person: billing.seats_per_person,
        seats_per_order: billing.seats_per_order,
        resale_delay: billing.resale_delay,
        queue: billing.queue,
    };
    let (schedule, _) = create_schedule(context, organiser, event, schedule).await?;
    change_event(context, organiser, event, EventVerb::Open).await?;
    Ok(schedule)
}

/// Seven in the evening in Seoul, on the day of `time`: shows don't begin at midnight.
fn evening(time: Timestamp) -> Timestamp {
    let midnight_utc = Timestamp::from_ms(time.seoul_day_number() * 86_400_000);
    // Seoul is nine hours ahead.
    midnight_utc.plus(HOUR * (19 - 9))
}

fn line<const MAX: usize>(text: &str) -> Result<Line<MAX>> {
    Ok(Line::try_from(text.to_owned())?)
}

/// Most expensive first.
const GRADES: [(&str, i64); 4] = [("VIP", 198_000), ("R", 165_000), ("S", 132_000), ("A", 99_000)];

/// Prices of the arena's grades; a small arena doesn't have all grades.
fn prices(arena: &SeatTemplate) -> BTreeMap<String, Won> {
    let SeatTemplate::Sections(template) = arena else { return BTreeMap::new() };
    let has = |grade: &str| template.sections.iter().any(|it| it.grade.as_deref() == Some(grade));
    let sold = GRADES.iter().filter(|(grade, _)| has(grade));
    sold.filter_map(|(grade, price)| Some(((*grade).to_owned(), Won::new(*price)?))).collect()
}

/// The stage's organiser, created once per data folder.
async fn organiser(context: &AppContext) -> Result<UserId> {
    let email = Email::try_from("organiser@podo.example".to_owned())?;
    let secret = context.rng.id(context.now()).to_string();
    let asked = SignUp {
        email: email.clone(),
        password: NewPassword::try_from(secret)?,
        name: line("Organiser")?,
        phone: None,
        role: Role::Admin,
    };
    if let Some(user) = create_admin(context, asked).await? {
        return Ok(user);
    }
    let hash = context.keyring.lookup("email", email.as_str());
    let known = context.store.user_by_email(hash).await?;
    known.map(|user| user.user).ok_or_else(|| anyhow!("the organiser's account no longer exists"))
}

/// Delivers the new fans' notifications, so that this work isn't measured.
pub(super) async fn settle(context: &AppContext) -> Result<()> {
    while podo_app::messaging::jobs::relay::relay_messages(context, context.now()).await?.done > 0 {
    }
    Ok(())
}

#[test]
fn a_show_begins_in_the_evening_of_seoul() {
    // 2026-11-17T15:26 UTC is already the 18th in Seoul.
    let found = evening(Timestamp::from_ms(1_794_929_160_000));
    assert_eq!(found.to_string(), "2026-11-18T10:00:00.000Z");
}

#[test]
fn an_arena_of_any_size_has_a_price_for_each_of_its_grades() {
    for n_seats in [1, 99, 100, 101, 350, 1_200, 60_000] {
        let arena = arena::of(n_seats);
        let plan = arena.plan().unwrap();
        assert_eq!(plan.seats.len(), n_seats as usize);
        podo_domain::catalog::price_seats(&plan, &prices(&arena), Default::default()).unwrap();
    }
}
