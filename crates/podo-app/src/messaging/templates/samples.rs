//! Invented facts, for the preview and the test mail.

use crate::messaging::port::announcements::{BookingFacts, Moved, ShowFacts};
use crate::messaging::templates::facts::{ApplicationWords, DepositWords, Facts, PhaseWords};
use crate::messaging::templates::words::Zone;
use crate::messaging::templates::{Template, words};
use podo_domain::booking::issued::Channel;
use podo_domain::messaging::announcements::{SecurityChange, ShowPlace};
use podo_domain::messaging::messages::Language;
use podo_domain::payments::deposits::Bank;
use podo_domain::{
    AnnouncementId, Currency, EventId, Money, ReservationId, ScheduleId, Timestamp, UserId, Won,
};
use std::time::Duration;
use uuid::Uuid;

const ZONE: &str = "Asia/Seoul";

const HERE: Zone<'static> = Zone { name: ZONE, home: ZONE };

/// 16 January 2027, 18:00 in Seoul.
const STARTS_AT: Timestamp = Timestamp::from_ms(1_800_090_000_000);

const HOUR: Duration = Duration::from_secs(3_600);

pub fn facts(template: Template, language: Language) -> Facts {
    let user = UserId::new(Uuid::nil());
    let amount = Won::new(308_000).unwrap_or(Won::ZERO);
    let mut facts = Facts {
        n_seats: 2,
        code: Some("493 027".to_owned()),
        until: Some(words::moment(STARTS_AT.minus(HOUR * 240), HERE, language)),
        at: Some(words::moment(STARTS_AT.minus(HOUR * 300), HERE, language)),
        seat: Some("A-15".to_owned()),
        link: Some(link(template).to_owned()),
        security: Some(SecurityChange::PasswordChanged),
        ..Facts::default()
    };
    facts.set_amount(Some(Money::new(amount, Currency::Krw)), language);
    if is_about_account(template) {
        return facts;
    }
    let recipient = if is_for_another(template) { UserId::new(Uuid::max()) } else { user };
    facts.set_show(&show(user, amount, language), recipient, ZONE, language);
    if matches!(
        template,
        Template::SaleReminder
            | Template::PhaseVerified
            | Template::DrawApplied
            | Template::DrawLost
    ) {
        facts.booking = None;
    }
    if matches!(template, Template::DepositAwaited | Template::DepositReminder) {
        facts.deposit = Some(DepositWords {
            bank: Bank::Shinhan.name(language).to_owned(),
            number: "56211234567890".to_owned(),
            holder: name("포도", "Podo", language),
        });
    }
    if template == Template::DrawApplied {
        facts.application = Some(ApplicationWords {
            index: 4_091,
            grade: "VIP".to_owned(),
            count: 2,
            closes: words::moment(STARTS_AT.minus(HOUR * 1_300), HERE, language),
        });
    }
    if matches!(
        template,
        Template::PhaseVerified | Template::DrawApplied | Template::DrawWon | Template::DrawLost
    ) {
        facts.phase = Some(PhaseWords {
            name: name("팬클럽 선예매", "Fan club presale", language),
            opens: words::moment(STARTS_AT.minus(HOUR * 1_300), HERE, language),
            closes: words::moment(STARTS_AT.minus(HOUR * 1_290), HERE, language),
            seats: 2,
        });
    }
    if template == Template::Moved {
        let place = |starts_at| ShowPlace {
            starts_at,
            venue_name: name("포도 아레나", "Podo Arena", language),
            address: name("올림픽로 424", "424 Olympic-ro", language),
        };
        let moved = Moved { before: place(STARTS_AT.minus(HOUR * 168)), after: place(STARTS_AT) };
        facts.set_moved(AnnouncementId::new(Uuid::nil()), &moved, HERE, language);
    }
    facts
}

/// An account has no show, which the subject of a mail would name.
const fn is_about_account(template: Template) -> bool {
    matches!(
        template,
        Template::Welcome
            | Template::SignUpCode
            | Template::AlreadySignedUp
            | Template::SessionCopied
            | Template::Security
            | Template::Invitation
            | Template::PasswordReset
            | Template::NoAccount
            | Template::NewEmailCode
            | Template::EmailTaken
            | Template::EmailChanged
    )
}

/// The recipient of a ticket sees its seat, and neither the other seats nor the price.
const fn is_for_another(template: Template) -> bool {
    matches!(template, Template::OfferReceived | Template::TicketClaim | Template::TransferredHere)
}

fn link(template: Template) -> &'static str {
    if template == Template::Invitation {
        return "https://podo.example/admin#/invitation/AAAA";
    }
    if template == Template::PasswordReset {
        return "https://podo.example/#/reset/AAAA";
    }
    "https://podo.example/#/claim/AAAA"
}

fn show(user: UserId, amount: Won, language: Language) -> ShowFacts {
    let seat = |number: &str| (number.to_owned(), "VIP".to_owned());
    ShowFacts {
        schedule: ScheduleId::new(Uuid::nil()),
        event: EventId::new(Uuid::nil()),
        title: name("세레인 월드투어 〈밤의 정원〉", "SEREIN World Tour: Night Garden", language),
        artist: name("세레인", "SEREIN", language),
        starts_at: STARTS_AT,
        ends_at: STARTS_AT.plus(HOUR * 3),
        sale_starts_at: STARTS_AT.minus(HOUR * 1_300),
        is_canceled: false,
        venue: name("포도 아레나", "Podo Arena", language),
        hall: name("대극장", "Main Hall", language),
        address: name("올림픽로 424", "424 Olympic-ro", language),
        city: name("서울", "Seoul", language),
        time_zone: ZONE.to_owned(),
        currency: Currency::Krw,
        booking: Some(BookingFacts {
            reservation: ReservationId::new(Uuid::nil()),
            user,
            channel: Channel::Fan,
            number: Some("B-20261116-K26TWV".to_owned()),
            amount,
            seats: vec![seat("A-15"), seat("A-16")],
        }),
    }
}

fn name(ko: &str, en: &str, language: Language) -> String {
    match language {
        Language::Ko => ko.to_owned(),
        Language::En => en.to_owned(),
    }
}
