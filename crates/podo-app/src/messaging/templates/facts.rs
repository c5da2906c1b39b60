//! What a notification says, worded for its language.

use crate::messaging::port::announcements::{Moved, ShowFacts};
use crate::messaging::templates::words;
use crate::messaging::templates::words::Zone;
use podo_domain::messaging::announcements::{SecurityChange, ShowPlace};
use podo_domain::messaging::messages::Language;
use podo_domain::{AnnouncementId, Money, ReservationId, Timestamp, UserId};
use serde::{Deserialize, Serialize};

/// Stands for the link in stored facts and texts: the link itself is put in when the e-mail is sent.
pub const LINK: &str = "{link}";

/// Everything is optional, because what a message is about may have been erased meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Facts {
    pub show: Option<Show>,
    pub booking: Option<Booking>,
    /// Seats in the message, for a booking that can't be read any more.
    pub n_seats: usize,
    /// `154,000원` or `₩154,000`.
    pub amount: Option<String>,
    /// The code that proves an address.
    pub code: Option<String>,
    /// Until when an offer, a hold or a deposit lasts.
    pub until: Option<String>,
    /// The account that a deposit goes to.
    pub deposit: Option<DepositWords>,
    pub moved: Option<MovedWords>,
    pub security: Option<SecurityChange>,
    /// When the message was written.
    pub at: Option<String>,
    /// The seat of a transferred ticket.
    pub seat: Option<String>,
    /// The link of an e-mail, as a placeholder until it is sent.
    pub link: Option<String>,
    /// The sale phase that a fan may buy in.
    pub phase: Option<PhaseWords>,
    /// What a fan applied for in a draw.
    pub application: Option<ApplicationWords>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApplicationWords {
    /// Its line in the list that is published after the draw.
    pub index: u32,
    pub grade: String,
    pub count: u32,
    /// When the draw takes place.
    pub closes: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DepositWords {
    pub bank: String,
    pub number: String,
    pub holder: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PhaseWords {
    pub name: String,
    pub opens: String,
    pub closes: String,
    /// Seats per person.
    pub seats: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Show {
    pub event_id: String,
    pub schedule_id: String,
    pub title: String,
    pub artist: String,
    /// `2026년 11월 16일 월요일 오후 7시`.
    pub when: String,
    pub opens: String,
    pub venue: String,
    pub hall: String,
    pub address: String,
    pub map_url: String,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Booking {
    pub reservation_id: ReservationId,
    pub number: Option<String>,
    pub amount: String,
    pub seats: Vec<Seat>,
    /// Whether the recipient bought it; otherwise a ticket was transferred to them.
    pub is_buyer: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    pub number: String,
    pub grade: String,
}

/// A change of the date or the venue, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedWords {
    pub id: AnnouncementId,
    pub before_when: String,
    pub after_when: String,
    pub before_venue: String,
    pub after_venue: String,
    pub is_new_date: bool,
    pub is_new_venue: bool,
}

impl Facts {
    /// Adds the show and the booking as the recipient sees them; `seat` must be set before.
    pub fn set_show(
        &mut self,
        found: &ShowFacts,
        recipient: UserId,
        home_zone: &str,
        language: Language,
    ) {
        let zone = Zone { name: &found.time_zone, home: home_zone };
        self.show = Some(Show {
            event_id: found.event.to_string(),
            schedule_id: found.schedule.to_string(),
            title: found.title.clone(),
            artist: found.artist.clone(),
            when: words::moment(found.starts_at, zone, language),
            opens: words::moment(found.sale_starts_at, zone, language),
            venue: found.venue.clone(),
            hall: found.hall.clone(),
            address: words::address(&found.city, &found.address, language),
            map_url: words::map_url(&found.venue, &found.address, language),
            starts_at: found.starts_at,
            ends_at: found.ends_at,
        });
        self.booking = found.booking.as_ref().map(|booking| {
            let is_buyer = booking.user == recipient;
            // The owner of a transferred ticket sees no other seat of the booking.
            let is_theirs =
                |(number, _): &&(String, String)| is_buyer || self.seat.as_ref() == Some(number);
            Booking {
                reservation_id: booking.reservation,
                number: booking.number.clone(),
                amount: words::money(Money::new(booking.amount, found.currency), language),
                seats: booking.seats.iter().filter(is_theirs).map(seat).collect(),
                is_buyer,
            }
        });
    }

    pub fn set_moved(
        &mut self,
        id: AnnouncementId,
        moved: &Moved,
        zone: Zone<'_>,
        language: Language,
    ) {
        let when = |place: &ShowPlace| words::moment(place.starts_at, zone, language);
        let place = |place: &ShowPlace| format!("{} ({})", place.venue_name, place.address);
        let Moved { before, after } = moved;
        self.moved = Some(MovedWords {
            id,
            before_when: when(before),
            after_when: when(after),
            before_venue: place(before),
            after_venue: place(after),
            is_new_date: before.starts_at != after.starts_at,
            is_new_venue: before.venue_name != after.venue_name || before.address != after.address,
        });
    }

    pub fn set_amount(&mut self, amount: Option<Money>, language: Language) {
        self.amount = amount.map(|amount| words::money(amount, language));
    }
}

fn seat((number, grade): &(String, String)) -> Seat {
    Seat { number: number.clone(), grade: grade.clone() }
}
