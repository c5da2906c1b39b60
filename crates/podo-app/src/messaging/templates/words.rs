//! Dates, money and places in words.

use jiff::tz::TimeZone;
use podo_domain::messaging::messages::Language;
use podo_domain::{Currency, Money, Timestamp};
use std::fmt::Write;

const DAYS_KO: [&str; 7] = ["월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"];

/// The venue's zone beside the one of the settings, in which readers are assumed to be.
#[derive(Clone, Copy, Debug)]
pub struct Zone<'z> {
    pub name: &'z str,
    pub home: &'z str,
}

/// The venue's zone. Podo stores only names that it knows; UTC stands in for one that a later
/// version stored.
pub fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap_or(TimeZone::UTC)
}

/// `2026년 11월 16일 월요일 오후 7시 30분` or `Monday, 16 November 2026, 19:30`. A zone other than
/// that of the settings is named, because the reader is probably elsewhere.
pub fn moment(at: Timestamp, in_zone: Zone<'_>, language: Language) -> String {
    let Ok(instant) = jiff::Timestamp::from_millisecond(at.ms()) else { return at.to_string() };
    let local = instant.to_zoned(zone(in_zone.name));
    let mut text = match language {
        Language::Ko => {
            let day = DAYS_KO[usize::from(local.weekday().to_monday_zero_offset().unsigned_abs())];
            let hour = local.hour();
            let half = if hour < 12 { "오전" } else { "오후" };
            let hour = if hour % 12 == 0 { 12 } else { hour % 12 };
            let minute = match local.minute() {
                0 => String::new(),
                minute => format!(" {minute}분"),
            };
            let date = local.strftime("%Y년 %-m월 %-d일");
            format!("{date} {day} {half} {hour}시{minute}")
        }
        Language::En => local.strftime("%A, %-d %B %Y, %H:%M").to_string(),
    };
    if in_zone.name != in_zone.home {
        write!(text, " ({})", local.strftime("%Z")).expect("writing to a string does not fail");
    }
    text
}

/// `2026-11-16 19:30 KST`: short, with the zone.
pub fn stamp(at: Timestamp, zone_name: &str) -> String {
    let Ok(instant) = jiff::Timestamp::from_millisecond(at.ms()) else { return at.to_string() };
    instant.to_zoned(zone(zone_name)).strftime("%Y-%m-%d %H:%M %Z").to_string()
}

/// `2026-11-16T19:30:00+09:00`, for programs that show the venue's time.
pub fn local(at: Timestamp, zone_name: &str) -> String {
    let Ok(instant) = jiff::Timestamp::from_millisecond(at.ms()) else { return at.to_string() };
    instant.to_zoned(zone(zone_name)).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// `154,000원` or `₩154,000`, `€45.50`: as browsers write it in this language.
pub fn money(money: Money, language: Language) -> String {
    let number = money.number();
    match (money.currency, language) {
        (Currency::Krw, Language::Ko) => format!("{number}원"),
        // Yuan and other dollars have the same sign.
        (Currency::Jpy, _) => format!("JP¥{number}"),
        (Currency::Usd, _) => format!("US${number}"),
        (Currency::Krw | Currency::Eur | Currency::Gbp, _) => {
            format!("{}{number}", money.currency.symbol())
        }
    }
}

/// The city first in Korean, last in English; once if the address names it already.
pub fn address(city: &str, address: &str, language: Language) -> String {
    if address.contains(city) {
        return address.to_owned();
    }
    match language {
        Language::Ko => format!("{city} {address}"),
        Language::En => format!("{address}, {city}"),
    }
}

/// A search on the map that people of this language use.
pub fn map_url(venue: &str, address: &str, language: Language) -> String {
    let place = encode(&format!("{venue} {address}"));
    match language {
        Language::Ko => format!("https://map.kakao.com/?q={place}"),
        Language::En => format!("https://www.google.com/maps/search/?api=1&query={place}"),
    }
}

/// Percent-encodes everything but unreserved characters.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            other => {
                write!(encoded, "%{other:02X}").expect("writing to a string does not fail");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_domain::Won;

    #[test]
    fn dates_are_words_in_the_venue_s_time() {
        let at: Timestamp = "2026-11-16T10:30:00Z".parse().unwrap();
        let seoul = Zone { name: "Asia/Seoul", home: "Asia/Seoul" };
        let ko = |name| moment(at, Zone { name, ..seoul }, Language::Ko);
        assert_eq!(ko("Asia/Seoul"), "2026년 11월 16일 월요일 오후 7시 30분");
        assert_eq!(ko("Europe/London"), "2026년 11월 16일 월요일 오전 10시 30분 (GMT)");
        let en = moment(at, seoul, Language::En);
        assert_eq!(en, "Monday, 16 November 2026, 19:30");
        assert_eq!(local(at, "Asia/Seoul"), "2026-11-16T19:30:00+09:00");
        let berlin = Zone { name: "Europe/Berlin", home: "Asia/Seoul" };
        assert_eq!(moment(at, berlin, Language::En), "Monday, 16 November 2026, 11:30 (CET)");
        let summer: Timestamp = "2026-07-16T18:00:00Z".parse().unwrap();
        assert_eq!(moment(summer, berlin, Language::En), "Thursday, 16 July 2026, 20:00 (CEST)");
        let noon: Timestamp = "2026-11-16T03:00:00Z".parse().unwrap();
        assert_eq!(moment(noon, seoul, Language::Ko), "2026년 11월 16일 월요일 오후 12시");
    }

    #[test]
    fn money_is_written_as_the_language_does() {
        let say = |amount, currency, language| {
            money(Money::new(Won::new(amount).unwrap(), currency), language)
        };
        for (amount, currency, ko, en) in [
            (0, Currency::Krw, "0원", "₩0"),
            (150_000, Currency::Krw, "150,000원", "₩150,000"),
            (4_550, Currency::Eur, "€45.50", "€45.50"),
            (1_200, Currency::Jpy, "JP¥1,200", "JP¥1,200"),
            (123_456, Currency::Usd, "US$1,234.56", "US$1,234.56"),
            (5, Currency::Gbp, "£0.05", "£0.05"),
        ] {
            assert_eq!(say(amount, currency, Language::Ko), ko);
            assert_eq!(say(amount, currency, Language::En), en);
        }
    }

    #[test]
    fn a_place_becomes_a_search_on_a_map() {
        let url = map_url("포도 아레나", "올림픽로 1", Language::Ko);
        assert!(url.starts_with("https://map.kakao.com/?q=%ED%8F%AC%EB%8F%84%20"), "{url}");
        assert_eq!(address("서울", "서울 올림픽로 1", Language::Ko), "서울 올림픽로 1");
        assert_eq!(address("Seoul", "1 Olympic-ro", Language::En), "1 Olympic-ro, Seoul");
    }
}
