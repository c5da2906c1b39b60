//! The banks of Korea that refunds go to.

use crate::messaging::messages::Language;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Bank {
    Kdb,
    Ibk,
    Kookmin,
    Suhyup,
    Nonghyup,
    LocalNonghyup,
    Woori,
    StandardChartered,
    Citi,
    Daegu,
    Busan,
    Kwangju,
    Jeju,
    Jeonbuk,
    Kyongnam,
    Kfcc,
    Shinhyup,
    SavingsBank,
    Post,
    Hana,
    Shinhan,
    KBank,
    Kakao,
    Toss,
}

impl Bank {
    pub const ALL: [Bank; 24] = [
        Bank::Kdb,
        Bank::Ibk,
        Bank::Kookmin,
        Bank::Suhyup,
        Bank::Nonghyup,
        Bank::LocalNonghyup,
        Bank::Woori,
        Bank::StandardChartered,
        Bank::Citi,
        Bank::Daegu,
        Bank::Busan,
        Bank::Kwangju,
        Bank::Jeju,
        Bank::Jeonbuk,
        Bank::Kyongnam,
        Bank::Kfcc,
        Bank::Shinhyup,
        Bank::SavingsBank,
        Bank::Post,
        Bank::Hana,
        Bank::Shinhan,
        Bank::KBank,
        Bank::Kakao,
        Bank::Toss,
    ];

    pub const fn as_str(self) -> &'static str {
        self.facts()[0]
    }

    pub fn parse(text: &str) -> Option<Bank> {
        Bank::ALL.into_iter().find(|bank| bank.as_str() == text)
    }

    /// The bank with this code. Some companies write two digits, others three.
    pub fn of_code(code: &str) -> Option<Bank> {
        let digits = code.strip_prefix('0').filter(|rest| rest.len() == 2).unwrap_or(code);
        match digits {
            "04" => Some(Bank::Kookmin),
            _ => Bank::ALL.into_iter().find(|bank| bank.code() == digits),
        }
    }

    /// The code with two digits that payment companies use. It is that of the clearing house, with
    /// 06 for Kookmin.
    pub const fn code(self) -> &'static str {
        self.facts()[1]
    }

    pub const fn name(self, language: Language) -> &'static str {
        match language {
            Language::Ko => self.facts()[2],
            Language::En => self.facts()[3],
        }
    }

    /// The name on the wire, the code, and the names in Korean and English.
    const fn facts(self) -> [&'static str; 4] {
        match self {
            Bank::Kdb => ["KDB", "02", "산업은행", "KDB Bank"],
            Bank::Ibk => ["IBK", "03", "기업은행", "IBK"],
            Bank::Kookmin => ["KOOKMIN", "06", "국민은행", "KB Kookmin Bank"],
            Bank::Suhyup => ["SUHYUP", "07", "수협은행", "Suhyup Bank"],
            Bank::Nonghyup => ["NONGHYUP", "11", "농협은행", "NongHyup Bank"],
            Bank::LocalNonghyup => ["LOCAL_NONGHYUP", "12", "지역농축협", "Local NongHyup"],
            Bank::Woori => ["WOORI", "20", "우리은행", "Woori Bank"],
            Bank::StandardChartered => ["STANDARD_CHARTERED", "23", "SC제일은행", "SC First Bank"],
            Bank::Citi => ["CITI", "27", "씨티은행", "Citibank Korea"],
            Bank::Daegu => ["DAEGU", "31", "아이엠뱅크", "iM Bank"],
            Bank::Busan => ["BUSAN", "32", "부산은행", "Busan Bank"],
            Bank::Kwangju => ["KWANGJU", "34", "광주은행", "Kwangju Bank"],
            Bank::Jeju => ["JEJU", "35", "제주은행", "Jeju Bank"],
            Bank::Jeonbuk => ["JEONBUK", "37", "전북은행", "Jeonbuk Bank"],
            Bank::Kyongnam => ["KYONGNAM", "39", "경남은행", "Kyongnam Bank"],
            Bank::Kfcc => ["KFCC", "45", "새마을금고", "MG Community Credit"],
            Bank::Shinhyup => ["SHINHYUP", "48", "신협", "Shinhyup"],
            Bank::SavingsBank => ["SAVINGS_BANK", "50", "저축은행", "Savings Bank"],
            Bank::Post => ["POST", "71", "우체국", "Korea Post"],
            Bank::Hana => ["HANA", "81", "하나은행", "Hana Bank"],
            Bank::Shinhan => ["SHINHAN", "88", "신한은행", "Shinhan Bank"],
            Bank::KBank => ["K_BANK", "89", "케이뱅크", "K bank"],
            Bank::Kakao => ["KAKAO", "90", "카카오뱅크", "KakaoBank"],
            Bank::Toss => ["TOSS", "92", "토스뱅크", "Toss Bank"],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bank_is_read_back_from_its_name_and_its_codes() {
        for bank in Bank::ALL {
            assert_eq!(Bank::parse(bank.as_str()), Some(bank));
            assert_eq!(Bank::of_code(bank.code()), Some(bank), "{bank:?}");
            assert_eq!(Bank::of_code(&format!("0{}", bank.code())), Some(bank), "{bank:?}");
            let json = format!("\"{}\"", bank.as_str());
            assert_eq!(serde_json::to_string(&bank).unwrap(), json);
        }
        assert_eq!(Bank::of_code("004"), Some(Bank::Kookmin));
        assert_eq!((Bank::of_code("99"), Bank::parse("BANK")), (None, None));
    }
}
