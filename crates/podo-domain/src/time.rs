//! Moments and durations, in milliseconds.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// A moment: milliseconds since 1970 in UTC. The clock is read once per request or round and passed
/// on as a value; expiry is a comparison with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Later than any moment that we compare with; still a valid RFC 3339 date.
    pub const FAR_FUTURE: Timestamp = Timestamp(253_402_207_200_000);

    pub const fn from_ms(ms: i64) -> Timestamp {
        Timestamp(ms)
    }

    pub const fn ms(self) -> i64 {
        self.0
    }

    /// The moment `length` later; saturates at the far future.
    #[must_use]
    pub fn plus(self, length: Duration) -> Timestamp {
        let ms = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_add(ms).min(Timestamp::FAR_FUTURE.0))
    }

    #[must_use]
    pub fn minus(self, length: Duration) -> Timestamp {
        let ms = i64::try_from(length.as_millis()).unwrap_or(i64::MAX);
        Timestamp(self.0.saturating_sub(ms))
    }

    /// The duration since `earlier`; zero if it isn't earlier.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The calendar day in Seoul as `YYYYMMDD`, for booking numbers. Korea has used UTC+9 without
    /// daylight saving since 1988.
    pub fn seoul_day(self) -> String {
        let seoul = jiff::tz::Offset::constant(9);
        self.jiff().to_zoned(seoul.to_time_zone()).strftime("%Y%m%d").to_string()
    }

    /// The time in Seoul as `YYYYMMDDhhmmss`, the format of Korean payment gateways.
    pub fn seoul_stamp(self) -> String {
        let seoul = jiff::tz::Offset::constant(9);
        self.jiff().to_zoned(seoul.to_time_zone()).strftime("%Y%m%d%H%M%S").to_string()
    }

    /// The same as `2026-12-02T23:59:59`.
    pub fn seoul_time(self) -> String {
        let seoul = jiff::tz::Offset::constant(9);
        self.jiff().to_zoned(seoul.to_time_zone()).strftime("%Y-%m-%dT%H:%M:%S").to_string()
    }

    /// The number of the calendar day in Seoul, to compute the days between two moments.
    pub const fn seoul_day_number(self) -> i64 {
        (self.0 + 9 * HOUR_MS).div_euclid(DAY_MS)
    }

    /// Whether both moments are on one calendar day in this IANA time zone; in Seoul if there is no
    /// such zone.
    pub fn is_same_day(self, other: Timestamp, zone: &str) -> bool {
        self.day_number(zone) == other.day_number(zone)
    }

    /// The number of the calendar day in this zone, to compute the days between two moments.
    pub fn day_number(self, zone: &str) -> i64 {
        self.local_ms(zone).div_euclid(DAY_MS)
    }

    /// The hour of the day in this zone, from 0.
    pub fn hour(self, zone: &str) -> u32 {
        let hour = self.local_ms(zone).rem_euclid(DAY_MS) / HOUR_MS;
        u32::try_from(hour).expect("a day has 24 hours")
    }

    /// `2026-03-21`: the calendar day that is so many days before this one, in this zone.
    pub fn day_before(self, days: u32, zone: &str) -> String {
        let noon = (self.day_number(zone) - i64::from(days)) * DAY_MS + DAY_MS / 2;
        Timestamp(noon).jiff().strftime("%Y-%m-%d").to_string()
    }

    /// The first moment of a day `2026-03-21` in this zone; `None` if there is no such day.
    pub fn start_of_day(day: &str, zone: &str) -> Option<Timestamp> {
        let day: jiff::civil::Date = day.parse().ok()?;
        let zone = jiff::tz::TimeZone::get(zone).ok()?;
        let start = day.to_zoned(zone).ok()?.timestamp();
        Some(Timestamp(start.as_millisecond()))
    }

    /// The clock on the wall, as if it were UTC.
    fn local_ms(self, zone: &str) -> i64 {
        let offset = match jiff::tz::TimeZone::get(zone) {
            Ok(zone) => i64::from(zone.to_offset(self.jiff()).seconds()) * 1_000,
            Err(_) => 9 * HOUR_MS,
        };
        self.0 + offset
    }

    fn jiff(self) -> jiff::Timestamp {
        let last = Timestamp::FAR_FUTURE.0;
        jiff::Timestamp::from_millisecond(self.0.clamp(-last, last))
            .expect("the clamped range is within jiff's")
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.jiff())
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Timestamp, jiff::Error> {
        text.parse::<jiff::Timestamp>().map(|moment| Timestamp(moment.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_error: jiff::Error| {
            D::Error::custom(crate::catalog::text::FieldError::NotATime)
        })
    }
}

#[cfg(feature = "openapi")]
mod schema {
    use super::Timestamp;
    use utoipa::openapi::RefOr;
    use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

    impl utoipa::PartialSchema for Timestamp {
        fn schema() -> RefOr<Schema> {
            ObjectBuilder::new()
                .schema_type(Type::String)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
                .into()
        }
    }

    impl utoipa::ToSchema for Timestamp {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_at_midnight_where_the_venue_is() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let (evening, night) = (at("2026-03-01T14:59:59Z"), at("2026-03-01T15:00:00Z"));
        assert!(!evening.is_same_day(night, "Asia/Seoul"));
        assert!(evening.is_same_day(night, "Europe/Berlin"));
        assert!(!evening.is_same_day(night, "Moon/Crater"), "as in Seoul");
    }

    #[test]
    fn a_day_starts_at_midnight_where_the_venue_is() {
        let start =
            |day: &str, zone: &str| Timestamp::start_of_day(day, zone).map(|it| it.to_string());
        assert_eq!(start("2026-03-02", "Asia/Seoul").as_deref(), Some("2026-03-01T15:00:00.000Z"));
        assert_eq!(
            start("2026-07-01", "Europe/Berlin").as_deref(),
            Some("2026-06-30T22:00:00.000Z")
        );
        assert_eq!((start("2026-02-30", "Asia/Seoul"), start("today", "Asia/Seoul")), (None, None));
    }

    #[test]
    fn times_are_written_in_utc_and_read_with_any_offset() {
        let moment = Timestamp::from_ms(1_706_164_200_123);
        assert_eq!(moment.to_string(), "2024-01-25T06:30:00.123Z");
        assert_eq!("2024-01-25T15:30:00.123+09:00".parse::<Timestamp>().ok(), Some(moment));
        assert!(
            "2024-01-25T15:30:00".parse::<Timestamp>().is_err(),
            "a time without an offset is refused"
        );
    }

    #[test]
    fn a_booking_day_changes_at_midnight_in_seoul() {
        let day = |text: &str| text.parse::<Timestamp>().map(Timestamp::seoul_day).ok();
        assert_eq!(day("2024-01-25T14:59:59Z").as_deref(), Some("20240125"));
        assert_eq!(day("2024-01-25T15:00:00Z").as_deref(), Some("20240126"));
    }

    #[test]
    fn the_far_future_is_the_end() {
        let end = Timestamp::FAR_FUTURE;
        assert_eq!(end.plus(Duration::from_secs(1)), end);
        assert!(end.to_string().starts_with("9999-"));
    }
}
