//! Dates, money and places in words.

use jiff::tz::TimeZone;
use podo_domain::messaging::messages::Language;
use podo_domain::{Timestamp, Won};
use std::fmt::Write;

const DAYS_KO: [&str; 7] = ["월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"];

/// The venue's zone. Podo stores only names that it knows; Seoul stands in for one that a later
/// version stored.
pub fn zone(name: &str) -> TimeZone {
    let seoul = || jiff::tz::Offset::constant(9).to_time_zone();
    TimeZone::get(name).unwrap_or_else(|_unknown| seoul())
}

/// `2026년 11월 16일 월요일 오후 7시 30분` or `Monday, 16 November 2026, 19:30`. A zone other than
/// Seoul is named, because the reader may be elsewhere.
pub fn moment(at: Timestamp, zone_name: &str, language: Language) -> String {
    let Ok(instant) = jiff::Timestamp::from_millisecond(at.ms()) else { return at.to_string() };
    let local = instant.to_zoned(zone(zone_name));
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
    if zone_name != "Asia/Seoul" {
        write!(text, " ({})", local.strftime("%Z")).expect("writing to a string does not fail");
    }
    text
}

/// `2026-11-16T19:30:00+09:00`, for programs that show the venue's time.
pub fn local(at: Timestamp, zone_name: &str) -> String {
    let Ok(instant) = jiff::Timestamp::from_millisecond(at.ms()) else { return at.to_string() };
    instant.to_zoned(zone(zone_name)).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

/// `154,000원` or `₩154,000`.
pub fn won(amount: Won, language: Language) -> String {
    let grouped = grouped(amount.get());
    match language {
        Language::Ko => format!("{grouped}원"),
        Language::En => format!("₩{grouped}"),
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

/// Formats 150000 as 150,000.
fn grouped(amount: i64) -> String {
    let digits = amount.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let n_left = digits.len() - index;
        if index > 0 && n_left.is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_words_in_the_venue_s_time() {
        let at: Timestamp = "2026-11-16T10:30:00Z".parse().unwrap();
        let ko = |zone| moment(at, zone, Language::Ko);
        assert_eq!(ko("Asia/Seoul"), "2026년 11월 16일 월요일 오후 7시 30분");
        assert_eq!(ko("Europe/London"), "2026년 11월 16일 월요일 오전 10시 30분 (GMT)");
        let en = moment(at, "Asia/Seoul", Language::En);
        assert_eq!(en, "Monday, 16 November 2026, 19:30");
        assert_eq!(local(at, "Asia/Seoul"), "2026-11-16T19:30:00+09:00");
        let noon: Timestamp = "2026-11-16T03:00:00Z".parse().unwrap();
        assert_eq!(moment(noon, "Asia/Seoul", Language::Ko), "2026년 11월 16일 월요일 오후 12시");
    }

    #[test]
    fn won_are_grouped_by_thousands() {
        for (amount, text) in
            [(0, "0"), (999, "999"), (150_000, "150,000"), (1_000_000, "1,000,000")]
        {
            assert_eq!(grouped(amount), text);
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
