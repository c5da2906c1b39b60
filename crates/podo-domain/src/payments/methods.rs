//! The ways of paying, and which of them an event offers.

use crate::Refusal;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentMethod {
    Card,
    KakaoPay,
    NaverPay,
    TossPay,
    Payco,
    SamsungPay,
    /// From a bank account, at once.
    Transfer,
    /// To a bank account that is issued for this order, until a deadline.
    VirtualAccount,
    Wallet,
    /// Paid at the desk of the organiser; no fan can choose it.
    BoxOffice,
}

/// Who takes the money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payee {
    Gateway,
    Wallet,
    BoxOffice,
}

impl PaymentMethod {
    pub const ALL: [PaymentMethod; 10] = [
        PaymentMethod::Card,
        PaymentMethod::KakaoPay,
        PaymentMethod::NaverPay,
        PaymentMethod::TossPay,
        PaymentMethod::Payco,
        PaymentMethod::SamsungPay,
        PaymentMethod::Transfer,
        PaymentMethod::VirtualAccount,
        PaymentMethod::Wallet,
        PaymentMethod::BoxOffice,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            PaymentMethod::Card => "CARD",
            PaymentMethod::KakaoPay => "KAKAO_PAY",
            PaymentMethod::NaverPay => "NAVER_PAY",
            PaymentMethod::TossPay => "TOSS_PAY",
            PaymentMethod::Payco => "PAYCO",
            PaymentMethod::SamsungPay => "SAMSUNG_PAY",
            PaymentMethod::Transfer => "TRANSFER",
            PaymentMethod::VirtualAccount => "VIRTUAL_ACCOUNT",
            PaymentMethod::Wallet => "WALLET",
            PaymentMethod::BoxOffice => "BOX_OFFICE",
        }
    }

    pub fn parse(text: &str) -> Option<PaymentMethod> {
        PaymentMethod::ALL.into_iter().find(|method| method.as_str() == text)
    }

    pub const fn payee(self) -> Payee {
        match self {
            PaymentMethod::Card
            | PaymentMethod::KakaoPay
            | PaymentMethod::NaverPay
            | PaymentMethod::TossPay
            | PaymentMethod::Payco
            | PaymentMethod::SamsungPay
            | PaymentMethod::Transfer
            | PaymentMethod::VirtualAccount => Payee::Gateway,
            PaymentMethod::Wallet => Payee::Wallet,
            PaymentMethod::BoxOffice => Payee::BoxOffice,
        }
    }
}

/// The methods that an event offers, without repetition and in the order of `PaymentMethod`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(try_from = "Vec<PaymentMethod>", into = "Vec<PaymentMethod>")]
pub struct OfferedMethods(Vec<PaymentMethod>);

impl OfferedMethods {
    pub fn methods(&self) -> &[PaymentMethod] {
        &self.0
    }

    pub fn only(method: PaymentMethod) -> OfferedMethods {
        OfferedMethods(vec![method])
    }

    pub fn refuse_others(&self, method: PaymentMethod) -> Result<(), Refusal> {
        if self.0.contains(&method) { Ok(()) } else { Err(Refusal::MethodNotOffered) }
    }

    /// As one text for the store.
    pub fn to_text(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|method| method.as_str()).collect();
        names.join(",")
    }

    pub fn parse(text: &str) -> Option<OfferedMethods> {
        let methods: Option<Vec<_>> = text.split(',').map(PaymentMethod::parse).collect();
        OfferedMethods::try_from(methods?).ok()
    }
}

impl Default for OfferedMethods {
    fn default() -> OfferedMethods {
        OfferedMethods(vec![PaymentMethod::Card, PaymentMethod::Wallet])
    }
}

impl TryFrom<Vec<PaymentMethod>> for OfferedMethods {
    type Error = String;

    fn try_from(mut methods: Vec<PaymentMethod>) -> Result<OfferedMethods, String> {
        methods.sort_unstable();
        methods.dedup();
        if methods.iter().any(|method| method.payee() == Payee::BoxOffice) {
            return Err("not_for_fans".to_owned());
        }
        match methods.is_empty() {
            true => Err(format!("out_of_range:1..{}", PaymentMethod::ALL.len() - 1)),
            false => Ok(OfferedMethods(methods)),
        }
    }
}

impl From<OfferedMethods> for Vec<PaymentMethod> {
    fn from(offered: OfferedMethods) -> Vec<PaymentMethod> {
        offered.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use PaymentMethod::{BoxOffice, Card, KakaoPay, Transfer, Wallet};

    #[test]
    fn every_method_is_read_back_from_its_name() {
        for method in PaymentMethod::ALL {
            assert_eq!(PaymentMethod::parse(method.as_str()), Some(method));
            let json = format!("\"{}\"", method.as_str());
            assert_eq!(serde_json::to_string(&method).unwrap(), json);
        }
        assert_eq!(PaymentMethod::parse("CASH"), None);
    }

    #[test]
    fn an_event_offers_each_method_once_and_refuses_the_others() {
        let offered = OfferedMethods::try_from(vec![Transfer, KakaoPay, Transfer]).unwrap();
        assert_eq!(offered.methods(), [KakaoPay, Transfer]);
        assert_eq!(offered.refuse_others(KakaoPay), Ok(()));
        assert_eq!(offered.refuse_others(Card), Err(Refusal::MethodNotOffered));
        assert_eq!(OfferedMethods::parse(&offered.to_text()), Some(offered));
    }

    #[test]
    fn an_event_offers_something_and_nothing_that_only_the_desk_takes() {
        assert_eq!(OfferedMethods::try_from(vec![]), Err("out_of_range:1..9".to_owned()));
        let desk = OfferedMethods::try_from(vec![Card, BoxOffice]);
        assert_eq!(desk, Err("not_for_fans".to_owned()));
        assert_eq!(OfferedMethods::default().methods(), [Card, Wallet]);
        assert_eq!(OfferedMethods::parse(""), None);
    }
}
