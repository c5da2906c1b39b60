//! Orders that an organiser issues: sales of the box office, and complimentary tickets.

use serde::{Deserialize, Serialize};

/// Who made an order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Channel {
    #[default]
    Fan,
    BoxOffice,
    /// Without money.
    Complimentary,
}

impl Channel {
    pub const fn as_str(self) -> &'static str {
        match self {
            Channel::Fan => "FAN",
            Channel::BoxOffice => "BOX_OFFICE",
            Channel::Complimentary => "COMPLIMENTARY",
        }
    }

    pub fn is_fan(&self) -> bool {
        *self == Channel::Fan
    }

    /// Whether its orders may have seats of an allocation. Fans' orders never do: holds, offers and
    /// resales take free seats only, moves as well, and keeping refuses a seat that is sold (I29).
    pub const fn may_have_kept_seats(self) -> bool {
        match self {
            Channel::Fan => false,
            Channel::BoxOffice | Channel::Complimentary => true,
        }
    }

    pub fn parse(text: &str) -> Option<Channel> {
        [Channel::Fan, Channel::BoxOffice, Channel::Complimentary]
            .into_iter()
            .find(|channel| channel.as_str() == text)
    }
}

/// How a customer paid at the desk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Tender {
    Cash,
    /// The card terminal of the desk.
    Terminal,
    /// A bank transfer that an organiser noted.
    Transfer,
}

impl Tender {
    pub const ALL: [Tender; 3] = [Tender::Cash, Tender::Terminal, Tender::Transfer];

    pub const fn as_str(self) -> &'static str {
        match self {
            Tender::Cash => "CASH",
            Tender::Terminal => "TERMINAL",
            Tender::Transfer => "TRANSFER",
        }
    }

    pub fn parse(text: &str) -> Option<Tender> {
        Tender::ALL.into_iter().find(|tender| tender.as_str() == text)
    }
}

/// What an organiser issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issue {
    Sale(Tender),
    Complimentary,
}

impl Issue {
    pub const fn channel(self) -> Channel {
        match self {
            Issue::Sale(_) => Channel::BoxOffice,
            Issue::Complimentary => Channel::Complimentary,
        }
    }

    pub const fn tender(self) -> Option<Tender> {
        match self {
            Issue::Sale(tender) => Some(tender),
            Issue::Complimentary => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_and_tenders_are_read_as_they_are_written() {
        for channel in [Channel::Fan, Channel::BoxOffice, Channel::Complimentary] {
            assert_eq!(Channel::parse(channel.as_str()), Some(channel));
            let json = serde_json::to_string(&channel).unwrap();
            assert_eq!(json, format!("\"{}\"", channel.as_str()));
            assert_eq!(channel.may_have_kept_seats(), !channel.is_fan());
        }
        for tender in Tender::ALL {
            assert_eq!(Tender::parse(tender.as_str()), Some(tender));
            assert_eq!(Issue::Sale(tender).tender(), Some(tender));
        }
        assert_eq!(Issue::Complimentary.channel(), Channel::Complimentary);
    }
}
