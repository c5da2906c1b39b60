//! Tickets for the wallets of phones.

mod apple;
mod google;
mod signature;

pub use apple::{ApplePassSettings, ApplePasses};
pub use google::{GooglePassSettings, GooglePasses};

use podo_app::tickets::passes::TicketPass;
use podo_domain::messaging::messages::Language;

/// The text in the pass's language.
fn say<'t>(pass: &TicketPass, ko: &'t str, en: &'t str) -> &'t str {
    match pass.language {
        Language::Ko => ko,
        Language::En => en,
    }
}

#[cfg(test)]
fn sample() -> TicketPass {
    use podo_domain::{ReservationId, ScheduleId, TicketId, Timestamp};
    use uuid::Uuid;
    let id = Uuid::from_u128(0x0190_a000_0000_7000_8000_0000_0000_0000);
    let text = |it: &str| it.to_owned();
    TicketPass {
        ticket: TicketId::new(id),
        reservation: ReservationId::new(id),
        schedule: ScheduleId::new(id),
        language: Language::Ko,
        organiser: text("포도"),
        color: text("#4a16ba"),
        home: text("https://podo.example"),
        title: text("세레인 월드투어 〈밤의 정원〉 앙코르 콘서트 인 서울"),
        artist: text("세레인"),
        starts_at: Timestamp::from_ms(1_800_090_000_000),
        ends_at: Timestamp::from_ms(1_800_100_800_000),
        starts_local: text("2027-01-16T18:00:00+09:00"),
        ends_local: text("2027-01-16T21:00:00+09:00"),
        when: text("2027년 1월 16일 토요일 오후 6시"),
        venue: text("포도 아레나 대극장"),
        address: text("서울 송파구 올림픽로 424"),
        section: Some(text("A구역")),
        seat: text("A-15"),
        grade: text("VIP"),
        gates: text("북문, 동문"),
        holder: text("김포도"),
        booking_number: text("B-20261116-K26TWV"),
        code: text("PODO1.AZ5kV2hpY2ggY29kZSBpcyB0aGlzPyBhIHRlc3Qgb2YgbGVuZ3RoIG9mIGl0"),
    }
}
