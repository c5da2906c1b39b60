//! A stage for demos and benchmarks: an arena, an event with one date, and fans with accounts.

use anyhow::{Result, anyhow};
use app::Platform;
use app::accounts::{SignUp, create_admin, new_user};
use app::catalog::{
    NewEvent, NewSchedule, NewVenue, change_event, create_event, create_hall, create_schedule,
    create_venue,
};
use app::ports::catalog::EventVerb;
use app::sessions::Caller;
use domain::accounts::{Email, NewPassword, Role};
use domain::catalog::{
    ResaleDelay, RowTemplate, ScheduleTimes, SeatTemplate, SectionTemplate, SectionedTemplate,
    Stage,
};
use domain::queue::QueueSettings;
use domain::text::{Line, Prose};
use domain::{ScheduleId, SessionId, Timestamp, UserId, Won};
use load::FanAccount;
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

/// Makes the arena, the event and its date; the sale opens after `opens_in`.
pub(super) async fn set(platform: &Platform, show: &Show) -> Result<ScheduleId> {
    let organiser = organiser(platform).await?;
    let venue = NewVenue {
        name: line("포도 아레나")?,
        address: line("서울특별시 송파구 올림픽로 1")?,
        city: line("서울")?,
    };
    let venue = create_venue(platform, organiser, venue).await?;
    let now = platform.now();
    let hall = line(&format!("Hall {now}"))?;
    let (hall, _) = create_hall(platform, organiser, venue, hall, arena(show.n_seats)).await?;
    let event = NewEvent {
        title: line(&show.title)?,
        artist: line("청포도밴드")?,
        description: Prose::try_from("포도가 사라지기 전에.".to_owned())?,
        venue,
        hall,
    };
    let event = create_event(platform, organiser, event).await?;
    let opens_at = now.plus(show.opens_in);
    let schedule = NewSchedule {
        times: ScheduleTimes {
            starts_at: now.plus(DAY * 30),
            ends_at: now.plus(DAY * 30 + Duration::from_secs(3 * 3_600)),
            sale_starts_at: opens_at,
            sale_ends_at: opens_at.plus(DAY * 29),
        },
        prices: prices(show.n_seats),
        seats_per_person: 4,
        resale_delay: ResaleDelay::default(),
        queue: show.queue.clone(),
    };
    let (schedule, _) = create_schedule(platform, organiser, event, schedule).await?;
    change_event(platform, organiser, event, EventVerb::Open).await?;
    Ok(schedule)
}

fn line<const MAX: usize>(text: &str) -> Result<Line<MAX>> {
    Ok(Line::try_from(text.to_owned())?)
}

const GRADES: [(&str, i64); 4] = [("VIP", 198_000), ("R", 165_000), ("S", 132_000), ("A", 99_000)];

/// A price for every grade that the arena has: a small one has fewer than all.
fn prices(n_seats: u32) -> BTreeMap<String, Won> {
    let n_sections = n_sections(n_seats);
    let grades = (0..n_sections).map(|section| GRADES[grade_of(section, n_sections)]);
    grades.filter_map(|(grade, price)| Some((grade.to_owned(), Won::new(price)?))).collect()
}

const SEATS_PER_SECTION: u32 = 100;

fn n_sections(n_seats: u32) -> u32 {
    n_seats.div_ceil(SEATS_PER_SECTION).max(1)
}

/// The front is the dearest.
fn grade_of(section: u32, n_sections: u32) -> usize {
    (section as usize * GRADES.len()) / n_sections as usize
}

/// Sections of ten rows of ten seats, six beside each other.
fn arena(n_seats: u32) -> SeatTemplate {
    let n_sections = n_sections(n_seats);
    let section = |index: u32| {
        let first = index * SEATS_PER_SECTION;
        let n_here = SEATS_PER_SECTION.min(n_seats - first);
        let (left, top) = ((index % 6) * 130, 60 + (index / 6) * 130);
        let grade = GRADES[grade_of(index, n_sections)].0;
        SectionTemplate {
            name: (101 + index).to_string(),
            grade: Some(grade.to_owned()),
            rows: (0..n_here.div_ceil(10))
                .map(|row| seats_of_row(row, n_here, left, top))
                .collect(),
            standing: None,
        }
    };
    SeatTemplate::Sections(SectionedTemplate {
        stage: Some(Stage { x: 240, y: 0, width: 280, height: 40 }),
        focus: None,
        sections: (0..n_sections).map(section).collect(),
    })
}

fn seats_of_row(row: u32, n_here: u32, left: u32, top: u32) -> RowTemplate {
    let at = |offset: u32| i32::try_from(offset).unwrap_or(i32::MAX);
    RowTemplate {
        label: (row + 1).to_string(),
        count: Some(10.min(n_here - row * 10)),
        line: Some(domain::catalog::Line { x: at(left), y: at(top + row * 12), dx: 12, dy: 0 }),
        ..RowTemplate::default()
    }
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

/// Fans made in one transaction: one password hash serves all of them, because hashing takes 30 ms
/// on purpose and nobody ever logs in with these.
const FANS_PER_BATCH: u32 = 500;

/// Makes accounts and their access tokens.
pub(super) async fn fans(
    platform: &Platform,
    n_fans: u32,
    progress: impl Fn(u32),
) -> Result<Vec<FanAccount>> {
    let secret = platform.chance.id(platform.now()).to_string();
    let hash = platform.passwords.hash(secret.clone()).await?;
    let run = platform.chance.number();
    let mut accounts = Vec::with_capacity(n_fans as usize);
    for first in (0..n_fans).step_by(FANS_PER_BATCH as usize) {
        let now = platform.now();
        let batch = (first..n_fans.min(first + FANS_PER_BATCH)).map(|number| {
            let asked = SignUp {
                email: Email::try_from(format!("fan{number}.{run:016x}@podo.example"))?,
                password: NewPassword::try_from(secret.clone())?,
                name: line(&format!("Fan {number}"))?,
                phone: None,
                role: Role::User,
            };
            Ok(new_user(platform, &asked, hash.clone(), now))
        });
        let batch: Vec<_> = batch.collect::<Result<_>>()?;
        accounts.extend(batch.iter().map(|fan| account(platform, fan.user, now)));
        platform.store.create_users(batch).await?;
        progress(u32::try_from(accounts.len()).unwrap_or(u32::MAX));
    }
    Ok(accounts)
}

/// Delivers the letters to all these new fans, so that nothing of it is left to be measured.
pub(super) async fn settle(platform: &Platform) -> Result<()> {
    while app::jobs::relay_messages(platform, platform.now()).await?.done > 0 {}
    Ok(())
}

fn account(platform: &Platform, user: UserId, now: Timestamp) -> FanAccount {
    let session = SessionId::new(platform.chance.id(now));
    let caller = Caller { user, session, role: Role::User };
    FanAccount { access_token: platform.sessions.issue(caller, platform.chance.id(now), now) }
}

#[test]
fn an_arena_of_any_size_has_a_price_for_each_of_its_grades() {
    for n_seats in [1, 99, 100, 101, 350, 1_200, 60_000] {
        let plan = arena(n_seats).plan().unwrap();
        assert_eq!(plan.seats.len(), n_seats as usize);
        domain::catalog::price_seats(&plan, &prices(n_seats)).unwrap();
    }
}
