//! The virtual accounts of the companies, as their replies name them. They take one exact deposit, so
//! nothing else is received.

use crate::gateways::protocol::{State, text};
use podo_domain::payments::deposits::{Bank, VirtualAccount};
use serde_json::Value;

/// At Toss: banks come as codes. Accounts take the exact amount only, so nothing else is received.
pub(super) fn of_toss(account: &Value) -> State {
    let (code, number) = (text(account, "bankCode"), text(account, "accountNumber"));
    if number.is_empty() {
        return State::Open;
    }
    State::Awaiting(VirtualAccount {
        bank: Bank::of_code(code).map_or_else(|| code.to_owned(), |bank| bank.as_str().to_owned()),
        number: number.to_owned(),
        holder: text(account, "customerName").to_owned(),
        until: text(account, "dueDate").parse().ok(),
    })
}

/// At PortOne.
pub(super) fn of_portone(method: &Value) -> State {
    let number = text(method, "accountNumber");
    if number.is_empty() {
        return State::Open;
    }
    State::Awaiting(VirtualAccount {
        bank: text(method, "bank").to_owned(),
        number: number.to_owned(),
        holder: text(method, "remitteeName").to_owned(),
        until: text(method, "expiredAt").parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateways::portone::PortOne;
    use crate::gateways::protocol::{
        CaptureReply, Content, GatewayProtocol, Reply, Void, test_order,
    };
    use crate::gateways::settings::{PortOneSettings, TossSettings};
    use crate::gateways::toss::Toss;
    use podo_app::payments::port::gateway::Device;
    use podo_app::payments::port::payments::{DueRefund, GatewayQuery};
    use podo_domain::payments::PaymentMethod;
    use podo_domain::payments::deposits::RefundAccount;
    use podo_domain::payments::refunds::InBook;
    use podo_domain::{Currency, PaymentId, RefundId, Timestamp, Won};
    use serde_json::json;
    use uuid::Uuid;

    fn toss() -> Toss {
        let settings = TossSettings {
            url: "https://api.tosspayments.com".into(),
            client_key: "test_ck_x".into(),
            secret_key: "test_sk_x".into(),
        };
        Toss::new(settings, "https://podo.example")
    }

    fn portone() -> PortOne {
        let settings = PortOneSettings {
            url: "https://api.portone.io".into(),
            store_id: "store-1".into(),
            channel_key: "channel-key-1".into(),
            secret: "secret".into(),
            webhook_secrets: Vec::new(),
            is_test: true,
        };
        PortOne::new(settings, "https://podo.example")
    }

    fn ask(gateway: &str) -> GatewayQuery {
        GatewayQuery {
            payment: PaymentId::new(Uuid::from_u128(0xA)),
            gateway: gateway.into(),
            method: PaymentMethod::VirtualAccount,
            payment_key: Some("tgen_20261116abc".into()),
            amount: Won::new(150_000).unwrap(),
            currency: Currency::Krw,
        }
    }

    fn reply(status: u16, text: &str) -> Reply {
        Reply { status, text: text.to_owned() }
    }

    const DONE: &str = r#"{"mId":"tosspayments","version":"2022-11-16","paymentKey":"tgen_1",
        "orderId":"0000000000000000000000000000000a","orderName":"x","currency":"KRW",
        "method":"카드","status":"DONE","approvedAt":"2026-11-16T10:00:00+09:00",
        "card":{"issuerCode":"61","number":"433012******1234","approveNo":"00000000"},
        "totalAmount":150000,"balanceAmount":150000,"cancels":null}"#;

    const PAID: &str = r#"{"status":"PAID","id":"0000000000000000000000000000000b",
        "transactionId":"tx-1","merchantId":"m","storeId":"store-1","version":"V2",
        "channel":{"type":"TEST","pgProvider":"KCP_V2","name":"x"},
        "method":{"type":"PaymentMethodCard","card":{"number":"536510******1111"}},
        "amount":{"total":90000,"taxFree":0,"discount":0,"paid":90000,"cancelled":0,
        "cancelledTaxFree":0},"currency":"KRW","paidAt":"2026-11-16T01:00:00Z"}"#;

    #[test]
    fn an_account_is_opened_until_its_deadline_and_read_from_the_reply() {
        let order = test_order(PaymentMethod::VirtualAccount, Device::Desktop);
        let opened = toss().checkout(&order, &Value::Null).unwrap().data.unwrap();
        assert_eq!(opened["method"], "VIRTUAL_ACCOUNT");
        assert_eq!(opened["virtualAccount"]["dueDate"], "2026-12-02T23:59:59");
        let issued =
            DONE.replace("DONE", "WAITING_FOR_DEPOSIT").replace("카드", "가상계좌").replace(
                r#""card":{"#,
                r#""virtualAccount":{"accountNumber":"56211234567890","bankCode":"88",
               "customerName":"김포도","dueDate":"2026-12-02T23:59:59+09:00"},"card":{"#,
            );
        let CaptureReply::Charged(book) = toss().read_capture(&ask("toss"), &reply(200, &issued))
        else {
            panic!()
        };
        let State::Awaiting(account) = book.state else { panic!("{:?}", book.state) };
        assert_eq!((&*account.bank, &*account.number), ("SHINHAN", "56211234567890"));
        assert_eq!(account.until, Some("2026-12-02T14:59:59Z".parse().unwrap()));
        assert_eq!((book.captured, book.refunded), (Won::ZERO, Won::ZERO));
        assert_eq!(book.paid_with, Some(PaymentMethod::VirtualAccount));
        assert!(!book.kept.unwrap().contains("56211234567890"));
        let ended =
            toss().read_book(&reply(200, &issued.replace("WAITING_FOR_DEPOSIT", "EXPIRED")));
        assert_eq!(ended.state, State::Closed("EXPIRED".into()));
    }

    #[test]
    fn a_deposit_goes_back_to_the_account_of_the_fan() {
        let mut refund = DueRefund {
            refund: RefundId::new(Uuid::from_u128(3)),
            payment: ask("toss").payment,
            gateway: "toss".into(),
            method: PaymentMethod::VirtualAccount,
            payment_key: ask("toss").payment_key,
            amount: Won::new(30_000).unwrap(),
            currency: Currency::Krw,
            reason: "못 가요".into(),
            number: 1,
            captured: Won::new(150_000).unwrap(),
            in_book: InBook {
                amount: Won::new(30_000).unwrap(),
                refunded_before: Won::ZERO,
                book_before: None,
            },
            account: None,
            attempts: 1,
        };
        let now = Timestamp::from_ms(0);
        assert!(toss().refund(&refund, None, now).is_err(), "nothing is sent without an account");
        let account = RefundAccount {
            bank: Bank::Kookmin,
            number: "110-123-456789".to_owned().try_into().unwrap(),
            holder: "김포도".to_owned().try_into().unwrap(),
        };
        let body =
            |refund: &DueRefund| match toss().refund(refund, Some(&account), now).unwrap().body {
                Content::Json(body) => body,
                Content::None | Content::Form(_) => panic!(),
            };
        let sent = json!({ "bank": "06", "accountNumber": "110123456789", "holderName": "김포도" });
        assert_eq!(body(&refund)["refundReceiveAccount"], sent);
        refund.method = PaymentMethod::Card;
        assert_eq!(body(&refund)["refundReceiveAccount"], Value::Null);
    }

    #[test]
    fn an_account_is_read_closed_and_refunded_to_the_account_of_the_fan() {
        let order = test_order(PaymentMethod::VirtualAccount, Device::Desktop);
        let opened = portone().checkout(&order, &Value::Null).unwrap().data.unwrap();
        assert_eq!(opened["payMethod"], "VIRTUAL_ACCOUNT");
        let due = &opened["virtualAccount"]["accountExpiry"]["dueDate"];
        assert_eq!(due, "2026-12-02T14:59:59.000Z");
        let issued = PAID.replace(r#""PAID""#, r#""VIRTUAL_ACCOUNT_ISSUED""#).replace(
            r#"{"type":"PaymentMethodCard","card":{"number":"536510******1111"}}"#,
            r#"{"type":"PaymentMethodVirtualAccount","bank":"SHINHAN","remitteeName":"포도",
                "accountNumber":"56211234567890","expiredAt":"2026-12-02T14:59:59Z"}"#,
        );
        let book = portone().read_book(&reply(200, &issued));
        let State::Awaiting(account) = &book.state else { panic!("{:?}", book.state) };
        assert_eq!((&*account.bank, &*account.number), ("SHINHAN", "56211234567890"));
        assert!(!book.kept.as_ref().unwrap().contains("56211234567890"));
        let close = portone().void(&ask("portone"), Some(&book), Timestamp::from_ms(0)).unwrap();
        assert!(close.url.ends_with("/virtual-account/close?storeId=store-1"), "{}", close.url);
        let closed = portone().read_void(&reply(200, r#"{"closedAt":"2026-12-03T00:00:00Z"}"#));
        assert_eq!(closed, Void::Done("VOIDED"));
        let paid_first = reply(409, r#"{"type":"PAYMENT_NOT_WAITING_FOR_DEPOSIT"}"#);
        assert_eq!(portone().read_void(&paid_first), Void::Look);
        let ended = issued.replace("VIRTUAL_ACCOUNT_ISSUED", "CANCELLED");
        let ended = portone().read_book(&reply(200, &ended));
        assert_eq!(ended.state, State::Closed("CANCELLED".into()));
        assert_eq!((ended.captured, ended.refunded), (Won::ZERO, Won::ZERO));
    }
}
