//! The other concerts of the demo, in the states that a sale goes through, so that the home page and
//! the control room show what they are for.

use crate::cli::stage::specials::{Before, Poster, begin_with, hang, sell, set_fees, set_terms};
use crate::cli::stage::{DAY, HOUR, evening, line, organiser};
use anyhow::Result;
use podo_app::AppContext;
use podo_app::catalog::port::{EventFilter, EventVerb};
use podo_app::catalog::{
    NewSchedule, NewVenue, change_event, create_event, create_hall, create_schedule, create_venue,
    list_all_events,
};
use podo_app::store::PageRequest;
use podo_domain::booking::seats::SEATS_PER_ORDER;
use podo_domain::catalog::text::Prose;
use podo_domain::catalog::{
    Genre, GridTemplate, MinimumAge, NewEvent, ResaleDelay, ScheduleTimes, SeatTemplate,
};
use podo_domain::waiting_room::QueueSettings;
use podo_domain::{EventId, HallId, Timestamp, UserId, Won};
use std::collections::BTreeMap;
use std::time::Duration;

struct Concert {
    title: &'static str,
    artist: &'static str,
    about: &'static str,
    poster: Poster,
    genre: Genre,
    minimum_age: u8,
    venue: [&'static str; 3],
    /// Rows of 20 seats by grade, the most expensive first, with the price of a seat.
    grades: &'static [(&'static str, u32, i64)],
    sale: Sale,
    /// Days from the opening, or from today if it has passed, to the first show.
    days_ahead: u32,
    n_dates: u32,
    special: Option<Special>,
}

enum Special {
    /// This percentage of the seats is sold; with all of them fans can join the standby list.
    Sold(u32),
    /// Each date begins with this phase.
    Begins(Before),
}

enum Sale {
    /// Opens at eight in the evening, after this many days.
    In(u32),
    Open,
    Over,
    /// Only organisers see it.
    Draft,
}

const CONCERTS: [Concert; 7] = [
    Concert {
        title: "한빛 필하모닉 말러 교향곡 2번 〈부활〉",
        artist: "한빛 필하모닉 오케스트라",
        about: "지휘 서유진, 소프라노 한가을. 150명의 합창단이 함께해요.",
        poster: (
            include_bytes!("posters/mahler.jpg"),
            "악단의 불빛이 반원으로 빛나는 말러 교향곡 2번 포스터",
        ),
        genre: Genre::Classical,
        minimum_age: 8,
        venue: ["예술의숲 콘서트홀", "서울특별시 서초구 숲길 20", "서울"],
        grades: &[("R", 8, 150_000), ("S", 10, 100_000), ("A", 12, 60_000)],
        sale: Sale::In(3),
        days_ahead: 90,
        n_dates: 1,
        special: Some(Special::Begins(Before::Presale)),
    },
    Concert {
        title: "오월의 숲 페스티벌 2027",
        artist: "오월의 숲",
        about: "이틀 동안 다섯 무대에서 서른 팀이 공연해요.",
        poster: (include_bytes!("posters/mayforest.jpg"), "해가 뜬 숲과 무대, 오월의 숲 포스터"),
        genre: Genre::Festival,
        minimum_age: 0,
        venue: ["난지 한강숲", "서울특별시 마포구 한강로 7", "서울"],
        grades: &[("1일권", 40, 88_000)],
        sale: Sale::In(1),
        days_ahead: 180,
        n_dates: 2,
        special: Some(Special::Begins(Before::Draw)),
    },
    Concert {
        title: "뮤지컬 〈달의 서점〉",
        artist: "극단 서림",
        about: "보름달이 뜨는 밤에만 문을 여는 서점 이야기예요.",
        poster: (
            include_bytes!("posters/moonbook.jpg"),
            "보름달 앞에 펼쳐진 책과 새들, 달의 서점 포스터",
        ),
        genre: Genre::Musical,
        minimum_age: 8,
        venue: ["대학로 서림극장", "서울특별시 종로구 대학로 12", "서울"],
        grades: &[("VIP", 4, 110_000), ("R", 6, 88_000), ("S", 8, 57_000)],
        sale: Sale::Open,
        days_ahead: 14,
        n_dates: 3,
        special: Some(Special::Sold(31)),
    },
    Concert {
        title: "한강 재즈 나이트 〈Blue Hour〉",
        artist: "윤서진 퀸텟",
        about: "해가 지는 시간에 듣는 재즈예요.",
        poster: (
            include_bytes!("posters/bluehour.jpg"),
            "파란 건반이 떨어지는 트럼펫, Blue Hour 포스터",
        ),
        genre: Genre::Jazz,
        minimum_age: 0,
        venue: ["노들섬 라이브홀", "서울특별시 용산구 노들로 3", "서울"],
        grades: &[("R", 4, 77_000), ("S", 6, 55_000)],
        sale: Sale::Open,
        days_ahead: 17,
        n_dates: 1,
        special: Some(Special::Sold(12)),
    },
    Concert {
        title: "새벽네시 단독공연 〈첫차〉",
        artist: "새벽네시",
        about: "첫차가 다니기 전까지 부르는 노래들이에요.",
        poster: (
            include_bytes!("posters/firsttrain.jpg"),
            "창밖으로 해가 뜨는 첫차, 새벽네시 포스터",
        ),
        genre: Genre::Indie,
        minimum_age: 0,
        venue: ["망원 소극장 물결", "서울특별시 마포구 망원로 4", "서울"],
        grades: &[("전석", 3, 55_000)],
        sale: Sale::Open,
        days_ahead: 24,
        n_dates: 1,
        special: Some(Special::Sold(100)),
    },
    Concert {
        title: "오민재 스탠드업 〈퇴근 후 한마디〉",
        artist: "오민재",
        about: "일하는 사람들을 위한 한 시간 반이에요.",
        poster: (include_bytes!("posters/afterwork.jpg"), "마이크와 말풍선, 퇴근 후 한마디 포스터"),
        genre: Genre::Other,
        minimum_age: 15,
        venue: ["홍대 지하 1층", "서울특별시 마포구 홍대길 1", "서울"],
        grades: &[("전석", 5, 35_000)],
        sale: Sale::Over,
        days_ahead: 1,
        n_dates: 1,
        special: None,
    },
    Concert {
        title: "정하윤 연말 콘서트 〈겨울 산책〉",
        artist: "정하윤",
        about: "한 해를 마무리하는 발라드 공연이에요.",
        poster: (
            include_bytes!("posters/winter.jpg"),
            "눈 덮인 들판의 나무와 사람, 겨울 콘서트 포스터",
        ),
        genre: Genre::Ballad,
        minimum_age: 0,
        venue: ["바다아트홀", "부산광역시 해운대구 바닷길 9", "부산"],
        grades: &[("R", 6, 121_000), ("S", 10, 99_000)],
        sale: Sale::Draft,
        days_ahead: 36,
        n_dates: 2,
        special: None,
    },
];

/// Creates the concerts in an empty data folder; a second demo keeps those of the first.
pub(crate) async fn put_on(context: &AppContext) -> Result<()> {
    let one = PageRequest { limit: 1, after: None };
    if !list_all_events(context, EventFilter::default(), one).await?.items.is_empty() {
        return Ok(());
    }
    let organiser = organiser(context).await?;
    for concert in &CONCERTS {
        let event = create(context, organiser, concert).await?;
        hang(context, event, concert.poster).await?;
        set_terms(context, organiser, event).await?;
        let mut dates = Vec::new();
        for date in 0..concert.n_dates {
            let schedule = schedule(concert, date, context.now());
            let (date, n_seats) = create_schedule(context, organiser, event, schedule).await?;
            set_fees(context, organiser, date).await?;
            dates.push((date, n_seats));
        }
        if !matches!(concert.sale, Sale::Draft) {
            change_event(context, organiser, event, EventVerb::Open).await?;
        }
        for (date, n_seats) in dates {
            match concert.special {
                Some(Special::Sold(percent)) => {
                    sell(context, organiser, date, n_seats * percent / 100).await?;
                }
                Some(Special::Begins(before)) => {
                    begin_with(context, organiser, date, before).await?;
                }
                None => {}
            }
        }
    }
    Ok(())
}

async fn create(context: &AppContext, organiser: UserId, concert: &Concert) -> Result<EventId> {
    let [name, address, city] = concert.venue;
    let venue =
        NewVenue { name: line(name)?, address: line(address)?, city: line(city)?, time_zone: None };
    let venue = create_venue(context, organiser, venue).await?;
    let template = hall_of(concert);
    let (hall, _): (HallId, u32) =
        create_hall(context, organiser, venue, line("본관")?, template).await?;
    let event = NewEvent {
        description: Prose::try_from(concert.about.to_owned())?,
        genre: concert.genre,
        minimum_age: MinimumAge::try_from(concert.minimum_age).unwrap_or_default(),
        ..NewEvent::new(line(concert.title)?, line(concert.artist)?, venue, hall)
    };
    Ok(create_event(context, organiser, event).await?)
}

fn hall_of(concert: &Concert) -> SeatTemplate {
    let grades = concert.grades.iter();
    let rows = grades.flat_map(|(grade, n_rows, _)| (0..*n_rows).map(move |_| *grade));
    let mapping: BTreeMap<String, String> =
        (1..).zip(rows).map(|(row, grade)| (format!("{row:02}"), grade.to_owned())).collect();
    SeatTemplate::Grid(GridTemplate {
        rows: mapping.keys().cloned().collect(),
        seats_per_row: 20,
        grade_mapping: mapping,
    })
}

fn schedule(concert: &Concert, date: u32, now: Timestamp) -> NewSchedule {
    let (opens_at, closes_at) = match concert.sale {
        Sale::In(days) => (evening(now.plus(DAY * days)).plus(HOUR), None),
        Sale::Open | Sale::Draft => (now.minus(DAY * 2), None),
        Sale::Over => (now.minus(DAY * 20), Some(now.minus(HOUR))),
    };
    let from = if now < opens_at { opens_at } else { now };
    let starts_at = evening(from.plus(DAY * (concert.days_ahead + date)));
    let last_moment = starts_at.minus(HOUR * 2);
    let price = |(grade, _, price): &(&str, u32, i64)| Some(((*grade).into(), Won::new(*price)?));
    NewSchedule {
        times: ScheduleTimes {
            starts_at,
            ends_at: starts_at.plus(Duration::from_secs(2 * 3_600 + 30 * 60)),
            sale_starts_at: opens_at,
            sale_ends_at: closes_at.unwrap_or(last_moment),
        },
        prices: concert.grades.iter().filter_map(price).collect(),
        seats_per_person: 4,
        seats_per_order: SEATS_PER_ORDER,
        resale_delay: ResaleDelay::default(),
        queue: QueueSettings::default(),
    }
}

#[test]
fn every_concert_can_be_put_on_at_any_time_of_day() {
    for hour in 0..24 {
        let now = Timestamp::from_ms(1_794_929_160_000).plus(HOUR * hour);
        for concert in &CONCERTS {
            for date in 0..concert.n_dates {
                let made = schedule(concert, date, now);
                made.times.check().unwrap();
                let plan = hall_of(concert).plan().unwrap();
                podo_domain::catalog::price_seats(&plan, &made.prices, Default::default()).unwrap();
            }
            assert!(MinimumAge::try_from(concert.minimum_age).is_ok(), "{}", concert.title);
        }
    }
}
