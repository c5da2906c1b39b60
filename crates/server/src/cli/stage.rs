//! A stage for demos and benchmarks: an arena and an event with one date.

mod arena;

use anyhow::{Result, anyhow};
use app::Platform;
use app::accounts::{SignUp, create_admin};
use app::catalog::{
    NewEvent, NewSchedule, NewVenue, change_event, create_event, create_hall, create_schedule,
    create_venue,
};
use app::ports::catalog::EventVerb;
use domain::accounts::{Email, NewPassword, Role};
use domain::catalog::{ResaleDelay, ScheduleTimes, SeatTemplate};
use domain::queue::QueueSettings;
use domain::text::{Line, Prose};
use domain::{ScheduleId, UserId, Won};
use std::collections::BTreeMap;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What is sold and how fans are let in.
pub(super) struct Show {
    pub(super) title: String,
    pub(super) opens_in: Duration,
    pub(super) n_seats: u32,
    pub(super) queue: QueueSettings,
}

/// The same with a hall that is known.
pub(super) struct Billing {
    pub(super) title: String,
    pub(super) opens_in: Duration,
    pub(super) template: SeatTemplate,
    pub(super) prices: BTreeMap<String, Won>,
    pub(super) seats_per_person: u32,
    pub(super) resale_delay: ResaleDelay,
    pub(super) queue: QueueSettings,
}

/// Makes the arena, the event and its date; the sale opens after `opens_in`.
pub(super) async fn set(platform: &Platform, show: &Show) -> Result<ScheduleId> {
    let template = arena::of(show.n_seats);
    let billing = Billing {
        title: show.title.clone(),
        opens_in: show.opens_in,
        prices: prices(&template),
        template,
        seats_per_person: 4,
        resale_delay: ResaleDelay::default(),
        queue: show.queue.clone(),
    };
    put_on(platform, billing).await
}

/// Makes the hall, the event and its date; the sale opens after `opens_in`.
pub(super) async fn put_on(platform: &Platform, billing: Billing) -> Result<ScheduleId> {
    let organiser = organiser(platform).await?;
    let venue = NewVenue {
        name: line("포도 아레나")?,
        address: line("서울특별시 송파구 올림픽로 1")?,
        city: line("서울")?,
    };
    let venue = create_venue(platform, organiser, venue).await?;
    let now = platform.now();
    let hall = line(&format!("Hall {now}"))?;
    let (hall, _) = create_hall(platform, organiser, venue, hall, billing.template).await?;
    let event = NewEvent {
        title: line(&billing.title)?,
        artist: line("청포도밴드")?,
        description: Prose::try_from("포도가 사라지기 전에.".to_owned())?,
        venue,
        hall,
        transferable: true,
    };
    let event = create_event(platform, organiser, event).await?;
    let opens_at = now.plus(billing.opens_in);
    let schedule = NewSchedule {
        times: ScheduleTimes {
            starts_at: now.plus(DAY * 30),
            ends_at: now.plus(DAY * 30 + Duration::from_secs(3 * 3_600)),
            sale_starts_at: opens_at,
            sale_ends_at: opens_at.plus(DAY * 29),
        },
        prices: billing.prices,
        seats_per_person: billing.seats_per_person,
        resale_delay: billing.resale_delay,
        queue: billing.queue,
    };
    let (schedule, _) = create_schedule(platform, organiser, event, schedule).await?;
    change_event(platform, organiser, event, EventVerb::Open).await?;
    Ok(schedule)
}

fn line<const MAX: usize>(text: &str) -> Result<Line<MAX>> {
    Ok(Line::try_from(text.to_owned())?)
}

/// From the dearest down.
const GRADES: [(&str, i64); 4] = [("VIP", 198_000), ("R", 165_000), ("S", 132_000), ("A", 99_000)];

/// A price for every grade that the arena has: a small one has fewer than all.
fn prices(arena: &SeatTemplate) -> BTreeMap<String, Won> {
    let SeatTemplate::Sections(template) = arena else { return BTreeMap::new() };
    let has = |grade: &str| template.sections.iter().any(|it| it.grade.as_deref() == Some(grade));
    let sold = GRADES.iter().filter(|(grade, _)| has(grade));
    sold.filter_map(|(grade, price)| Some(((*grade).to_owned(), Won::new(*price)?))).collect()
}

/// The organiser of the stage; made once per data folder.
async fn organiser(platform: &Platform) -> Result<UserId> {
    let email = Email::try_from("organiser@podo.example".to_owned())?;
    let secret = platform.chance.id(platform.now()).to_string();
    let asked = SignUp {
        email: email.clone(),
        password: NewPassword::try_from(secret)?,
        name: line("Organiser")?,
        phone: None,
        role: Role::Admin,
    };
    if let Some(user) = create_admin(platform, asked).await? {
        return Ok(user);
    }
    let hash = platform.seals.lookup("email", email.as_str());
    let known = platform.store.user_by_email(hash).await?;
    known.map(|user| user.user).ok_or_else(|| anyhow!("the organiser's account is gone"))
}

/// Delivers the letters to all these new fans, so that nothing of it is left to be measured.
pub(super) async fn settle(platform: &Platform) -> Result<()> {
    while app::jobs::relay_messages(platform, platform.now()).await?.done > 0 {}
    Ok(())
}

#[test]
fn an_arena_of_any_size_has_a_price_for_each_of_its_grades() {
    for n_seats in [1, 99, 100, 101, 350, 1_200, 60_000] {
        let arena = arena::of(n_seats);
        let plan = arena.plan().unwrap();
        assert_eq!(plan.seats.len(), n_seats as usize);
        domain::catalog::price_seats(&plan, &prices(&arena)).unwrap();
    }
}
