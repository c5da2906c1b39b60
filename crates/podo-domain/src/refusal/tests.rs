//! Codes are part of the API.

use crate::Refusal;

#[test]
fn a_code_is_written_in_capitals() {
    let refusals = [
        Refusal::NotFound,
        Refusal::CurrencyFixed,
        Refusal::WalletCurrency { field: "paymentMethods" },
        Refusal::CurrencyUnavailable { field: "currency" },
    ];
    for code in refusals.map(|refusal| refusal.code()) {
        assert!(code.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{code}");
    }
    assert_eq!(Refusal::seat_taken(Vec::new()).code(), "SEAT_TAKEN");
}
