//! A booking as a calendar file (RFC 5545).

use crate::messaging::port::announcements::ShowFacts;
use podo_domain::Timestamp;

/// Octets of a line; longer ones are folded.
const LINE_MAX: usize = 75;

/// The file of one show. Times are in UTC, so no definition of a time zone is needed, and programs
/// show them in the reader's zone.
pub fn calendar(show: &ShowFacts, home: &str, now: Timestamp) -> String {
    let booking = show.booking.as_ref();
    let uid = booking.map_or(show.schedule.uuid(), |booking| booking.reservation.uuid());
    let host = home.split("://").nth(1).unwrap_or("podo.local");
    let host = host.split(['/', ':']).next().unwrap_or("podo.local");
    let mut lines = vec![
        "BEGIN:VCALENDAR".to_owned(),
        "VERSION:2.0".to_owned(),
        "PRODID:-//podo//tickets//KO".to_owned(),
        "CALSCALE:GREGORIAN".to_owned(),
        "METHOD:PUBLISH".to_owned(),
        "BEGIN:VEVENT".to_owned(),
        format!("UID:{uid}@{host}"),
        format!("DTSTAMP:{}", utc(now)),
        format!("DTSTART:{}", utc(show.starts_at)),
        format!("DTEND:{}", utc(show.ends_at)),
        format!("SUMMARY:{}", escape(&show.title)),
        format!(
            "LOCATION:{}",
            escape(&format!("{} {}, {} {}", show.venue, show.hall, show.city, show.address))
        ),
    ];
    if let Some(booking) = booking {
        let seats: Vec<&str> = booking.seats.iter().map(|(number, _)| number.as_str()).collect();
        let number = booking.number.as_deref().unwrap_or_default();
        lines.push(format!("DESCRIPTION:{}", escape(&format!("{number}\n{}", seats.join(", ")))));
    }
    if !home.is_empty() {
        lines.push(format!("URL:{home}/#/tickets"));
    }
    lines.push(format!("STATUS:{}", if show.is_canceled { "CANCELLED" } else { "CONFIRMED" }));
    lines.extend(["END:VEVENT".to_owned(), "END:VCALENDAR".to_owned()]);
    lines.iter().map(|line| fold(line)).collect()
}

/// `20261116T103000Z`.
fn utc(at: Timestamp) -> String {
    let text = at.to_string();
    let seconds = text.split(['.', 'Z']).next().unwrap_or_default();
    let digits: String = seconds.chars().filter(|it| *it != '-' && *it != ':').collect();
    format!("{digits}Z")
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | ';' | ',' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            '\r' => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// Breaks a line after at most 75 octets, never inside a character, and ends it with CRLF.
fn fold(line: &str) -> String {
    let mut folded = String::with_capacity(line.len() + 8);
    let mut n_octets = 0;
    for letter in line.chars() {
        if n_octets + letter.len_utf8() > LINE_MAX {
            folded.push_str("\r\n ");
            n_octets = 1;
        }
        n_octets += letter.len_utf8();
        folded.push(letter);
    }
    folded.push_str("\r\n");
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_folded_between_characters() {
        let line = format!("SUMMARY:{}", "포도".repeat(40));
        let folded = fold(&line);
        assert!(folded.split("\r\n").all(|line| line.len() <= LINE_MAX), "{folded}");
        assert_eq!(folded.replace("\r\n ", "").trim_end(), line);
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("a;b,c\\d\ne\r"), "a\\;b\\,c\\\\d\\ne");
        assert_eq!(utc("2026-11-16T10:30:00Z".parse().unwrap()), "20261116T103000Z");
    }
}
