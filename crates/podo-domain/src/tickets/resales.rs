//! Resale at face value: a buyer gives a ticket back at the price paid, as soon as a fan on the
//! standby list takes it.
//!
//! `LISTED → OFFERED → SOLD`; an offer that isn't taken in time leads back to `LISTED`. The buyer
//! withdraws a listing at any time before it is sold, and a listing ends when its ticket was used,
//! canceled or transferred, or the sale is over.

use crate::{Refusal, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ResaleState {
    /// The ticket waits for the next fan on the standby list.
    Listed,
    /// One fan may take it until a moment in time.
    Offered,
    /// Another fan has paid for the seat, and the buyer is refunded.
    Sold,
    /// The buyer keeps the ticket.
    Withdrawn,
    /// The ticket can't be sold any more.
    Ended,
}

impl ResaleState {
    pub const ALL: [ResaleState; 5] = [
        ResaleState::Listed,
        ResaleState::Offered,
        ResaleState::Sold,
        ResaleState::Withdrawn,
        ResaleState::Ended,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            ResaleState::Listed => "LISTED",
            ResaleState::Offered => "OFFERED",
            ResaleState::Sold => "SOLD",
            ResaleState::Withdrawn => "WITHDRAWN",
            ResaleState::Ended => "ENDED",
        }
    }

    pub fn parse(text: &str) -> Option<ResaleState> {
        ResaleState::ALL.into_iter().find(|state| state.as_str() == text)
    }

    pub const fn is_open(self) -> bool {
        match self {
            ResaleState::Listed | ResaleState::Offered => true,
            ResaleState::Sold | ResaleState::Withdrawn | ResaleState::Ended => false,
        }
    }

    /// The fan to whom it is offered takes it. An offer ends at `until`.
    pub fn take(self, until: Option<Timestamp>, now: Timestamp) -> Result<ResaleState, Refusal> {
        match (self, until) {
            (ResaleState::Offered, Some(until)) if now < until => Ok(ResaleState::Sold),
            _ => Err(Refusal::ResaleOver),
        }
    }

    /// What a round of the job does with an open listing. `is_sellable` tells whether the ticket is
    /// still valid, with its buyer, and on sale.
    pub fn next(self, is_sellable: bool, until: Option<Timestamp>, now: Timestamp) -> NextOffer {
        match self {
            ResaleState::Sold | ResaleState::Withdrawn | ResaleState::Ended => NextOffer::Nothing,
            ResaleState::Listed | ResaleState::Offered if !is_sellable => NextOffer::End,
            ResaleState::Offered if until.is_some_and(|until| now < until) => NextOffer::Nothing,
            ResaleState::Offered => NextOffer::Lapse,
            ResaleState::Listed => NextOffer::Offer,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextOffer {
    Nothing,
    /// Offer it to the next fan.
    Offer,
    /// The fan let the offer expire: their entry ends, and the next fan gets it.
    Lapse,
    End,
}

#[cfg(test)]
mod tests {
    use super::*;
    use ResaleState::{Ended, Listed, Offered, Sold, Withdrawn};

    const UNTIL: Option<Timestamp> = Some(Timestamp::from_ms(100));

    #[test]
    fn an_offer_is_taken_before_its_end_only() {
        let at = Timestamp::from_ms;
        assert_eq!(Offered.take(UNTIL, at(99)), Ok(Sold));
        assert_eq!(Offered.take(UNTIL, at(100)), Err(Refusal::ResaleOver));
        for state in [Listed, Sold, Withdrawn, Ended] {
            assert_eq!(state.take(UNTIL, at(0)), Err(Refusal::ResaleOver), "{state:?}");
        }
    }

    #[test]
    fn a_listing_goes_on_until_its_ticket_cannot_be_sold() {
        let next = |state: ResaleState, is_sellable, ms| {
            state.next(is_sellable, UNTIL, Timestamp::from_ms(ms))
        };
        assert_eq!(next(Listed, true, 0), NextOffer::Offer);
        assert_eq!(next(Offered, true, 99), NextOffer::Nothing);
        assert_eq!(next(Offered, true, 100), NextOffer::Lapse);
        assert_eq!(next(Offered, false, 0), NextOffer::End);
        assert_eq!(next(Listed, false, 0), NextOffer::End);
        for state in [Sold, Withdrawn, Ended] {
            assert_eq!(next(state, true, 0), NextOffer::Nothing);
        }
    }

    #[test]
    fn a_state_is_spelled_alike_in_json_and_in_the_store() {
        for state in ResaleState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
            assert_eq!(ResaleState::parse(state.as_str()), Some(state));
        }
    }
}
