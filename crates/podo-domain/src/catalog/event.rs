//! What an organiser says about an event, and its life: `PREPARING → OPEN → ENDED`, or
//! `CANCELLED`. One function per verb; repeating a verb changes nothing.

use crate::catalog::text::{Line, Prose};
use crate::payments::deposits::DepositDeadline;
use crate::payments::{OfferedMethods, PaymentMethod};
use crate::{Currency, HallId, Refusal, VenueId};
use serde::{Deserialize, Serialize};

/// A new event.
// All layers pass it on whole, so that a new field is declared only here and in `EventEdit`.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = EventBody))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewEvent {
    pub title: Line<300>,
    pub artist: Line<200>,
    #[serde(default)]
    pub description: Prose<5000>,
    pub venue_id: VenueId,
    pub hall_id: HallId,
    /// Whether tickets are transferable; true by default.
    #[serde(default)]
    pub transferable: Option<bool>,
    #[serde(default)]
    pub genre: Genre,
    #[serde(default)]
    pub minimum_age: MinimumAge,
    /// The currency of all its amounts; the server's own by default.
    #[serde(default)]
    pub currency: Option<Currency>,
    /// How fans may pay; by default by card, and from the wallet if that has the event's currency.
    #[serde(default)]
    pub payment_methods: Option<OfferedMethods>,
    /// How long fans may take to pay to a virtual account; until the end of the next day by default.
    #[serde(default)]
    pub deposit_deadline: DepositDeadline,
    /// Whether admission is free of value-added tax; fees never are.
    #[serde(default)]
    pub vat_exempt: bool,
}

impl NewEvent {
    /// An event of which only the necessary is known.
    pub fn new(
        title: Line<300>,
        artist: Line<200>,
        venue_id: VenueId,
        hall_id: HallId,
    ) -> NewEvent {
        NewEvent {
            title,
            artist,
            description: Prose::default(),
            venue_id,
            hall_id,
            transferable: None,
            genre: Genre::default(),
            minimum_age: MinimumAge::default(),
            currency: None,
            payment_methods: None,
            deposit_deadline: DepositDeadline::default(),
            vat_exempt: false,
        }
    }
}

/// What an event is sold for: its currency, and how fans pay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaleTerms {
    pub currency: Currency,
    pub methods: OfferedMethods,
}

impl SaleTerms {
    /// The terms of a new event on a server whose wallets have the currency `home`.
    pub fn of_new(
        currency: Option<Currency>,
        methods: Option<OfferedMethods>,
        home: Currency,
    ) -> Result<SaleTerms, Refusal> {
        let currency = currency.unwrap_or(home);
        let methods = methods.unwrap_or_else(|| match currency == home {
            true => OfferedMethods::default(),
            false => OfferedMethods::only(PaymentMethod::Card),
        });
        SaleTerms { currency, methods }.checked(home)
    }

    /// The terms after an organiser's change. Prices, fees and orders are amounts of the currency, so
    /// it stays once a date has been on sale.
    pub fn change(
        &self,
        edit: &EventEdit,
        was_on_sale: bool,
        home: Currency,
    ) -> Result<SaleTerms, Refusal> {
        let currency = edit.currency.unwrap_or(self.currency);
        if currency != self.currency && was_on_sale {
            return Err(Refusal::CurrencyFixed);
        }
        let methods = edit.payment_methods.clone().unwrap_or_else(|| self.methods.clone());
        SaleTerms { currency, methods }.checked(home)
    }

    fn checked(self, home: Currency) -> Result<SaleTerms, Refusal> {
        let offers_wallet = self.methods.methods().contains(&PaymentMethod::Wallet);
        match offers_wallet && self.currency != home {
            true => Err(Refusal::WalletCurrency { field: "paymentMethods" }),
            false => Ok(self),
        }
    }
}

/// A change of an event. Absent fields stay as they are.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = EventPatch))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventEdit {
    #[serde(default)]
    pub title: Option<Line<300>>,
    #[serde(default)]
    pub artist: Option<Line<200>>,
    #[serde(default)]
    pub description: Option<Prose<5000>>,
    /// Whether tickets are transferable.
    #[serde(default)]
    pub transferable: Option<bool>,
    #[serde(default)]
    pub genre: Option<Genre>,
    #[serde(default)]
    pub minimum_age: Option<MinimumAge>,
    /// Only until a date has been on sale.
    #[serde(default)]
    pub currency: Option<Currency>,
    #[serde(default)]
    pub payment_methods: Option<OfferedMethods>,
    #[serde(default)]
    pub deposit_deadline: Option<DepositDeadline>,
    #[serde(default)]
    pub vat_exempt: Option<bool>,
}

/// What kind of concert it is; fans browse by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Genre {
    Pop,
    Ballad,
    Rock,
    Indie,
    Hiphop,
    Jazz,
    Classical,
    Musical,
    Festival,
    #[default]
    Other,
}

impl Genre {
    pub const ALL: [Genre; 10] = [
        Genre::Pop,
        Genre::Ballad,
        Genre::Rock,
        Genre::Indie,
        Genre::Hiphop,
        Genre::Jazz,
        Genre::Classical,
        Genre::Musical,
        Genre::Festival,
        Genre::Other,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Genre::Pop => "POP",
            Genre::Ballad => "BALLAD",
            Genre::Rock => "ROCK",
            Genre::Indie => "INDIE",
            Genre::Hiphop => "HIPHOP",
            Genre::Jazz => "JAZZ",
            Genre::Classical => "CLASSICAL",
            Genre::Musical => "MUSICAL",
            Genre::Festival => "FESTIVAL",
            Genre::Other => "OTHER",
        }
    }

    pub fn parse(text: &str) -> Option<Genre> {
        Genre::ALL.into_iter().find(|genre| genre.as_str() == text)
    }
}

/// The age from which fans may attend, in completed years; 0 means any age.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(minimum = 0, maximum = 21))]
#[serde(try_from = "u8")]
pub struct MinimumAge(u8);

impl MinimumAge {
    pub const MAX: u8 = 21;

    pub const fn years(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for MinimumAge {
    type Error = String;

    fn try_from(years: u8) -> Result<MinimumAge, String> {
        match years <= MinimumAge::MAX {
            true => Ok(MinimumAge(years)),
            false => Err(format!("out_of_range:0..{}", MinimumAge::MAX)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum EventStatus {
    /// Only organisers see it.
    Preparing,
    Open,
    Ended,
    Cancelled,
}

impl EventStatus {
    pub const ALL: [EventStatus; 4] =
        [EventStatus::Preparing, EventStatus::Open, EventStatus::Ended, EventStatus::Cancelled];

    pub const fn as_str(self) -> &'static str {
        match self {
            EventStatus::Preparing => "PREPARING",
            EventStatus::Open => "OPEN",
            EventStatus::Ended => "ENDED",
            EventStatus::Cancelled => "CANCELLED",
        }
    }

    pub fn parse(text: &str) -> Option<EventStatus> {
        EventStatus::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Makes the event public.
    pub const fn open(self) -> Result<EventStatus, Refusal> {
        match self {
            EventStatus::Preparing | EventStatus::Open => Ok(EventStatus::Open),
            EventStatus::Ended | EventStatus::Cancelled => Err(Refusal::WrongEventState),
        }
    }

    pub const fn end(self) -> Result<EventStatus, Refusal> {
        match self {
            EventStatus::Open | EventStatus::Ended => Ok(EventStatus::Ended),
            EventStatus::Preparing | EventStatus::Cancelled => Err(Refusal::WrongEventState),
        }
    }

    /// An event that has taken place can't be canceled.
    pub const fn cancel(self) -> Result<EventStatus, Refusal> {
        match self {
            EventStatus::Preparing | EventStatus::Open | EventStatus::Cancelled => {
                Ok(EventStatus::Cancelled)
            }
            EventStatus::Ended => Err(Refusal::WrongEventState),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KRW: Currency = Currency::Krw;
    const EUR: Currency = Currency::Eur;

    fn methods(of: &[PaymentMethod]) -> Option<OfferedMethods> {
        OfferedMethods::try_from(of.to_vec()).ok()
    }

    #[test]
    fn an_event_offers_the_wallet_only_in_its_currency() {
        use PaymentMethod::{Card, Wallet};
        let new = |currency, methods| SaleTerms::of_new(currency, methods, KRW);
        let at_home = new(None, None).unwrap();
        assert_eq!((at_home.currency, at_home.methods.methods()), (KRW, &[Card, Wallet][..]));
        let abroad = new(Some(EUR), None).unwrap();
        assert_eq!((abroad.currency, abroad.methods.methods()), (EUR, &[Card][..]));
        let refused = Err(Refusal::WalletCurrency { field: "paymentMethods" });
        assert_eq!(new(Some(EUR), methods(&[Card, Wallet])), refused);
        assert!(SaleTerms::of_new(Some(EUR), methods(&[Wallet]), EUR).is_ok(), "euros at home");

        let to = |currency| EventEdit { currency: Some(currency), ..EventEdit::default() };
        assert_eq!(at_home.change(&to(EUR), false, KRW), refused, "it still offers the wallet");
        let both = EventEdit { payment_methods: methods(&[Card]), ..to(EUR) };
        assert_eq!(at_home.change(&both, false, KRW), Ok(abroad.clone()));
        assert_eq!(abroad.change(&EventEdit::default(), true, KRW), Ok(abroad));
    }

    #[test]
    fn the_currency_stays_once_a_date_has_been_on_sale() {
        let terms = SaleTerms::of_new(Some(EUR), None, KRW).unwrap();
        let to = |currency| EventEdit { currency: Some(currency), ..EventEdit::default() };
        assert!(terms.change(&to(Currency::Usd), false, KRW).is_ok());
        assert_eq!(terms.change(&to(Currency::Usd), true, KRW), Err(Refusal::CurrencyFixed));
        assert!(terms.change(&to(EUR), true, KRW).is_ok(), "it is in euros already");
    }
}
