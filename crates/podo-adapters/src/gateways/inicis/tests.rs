//! What the window, the mobile page and the API send and mean.

use super::*;
use crate::gateways::protocol::test_order;
use uuid::Uuid;

fn inicis() -> Inicis {
    let settings = InicisSettings {
        url: "https://stginiapi.inicis.com".into(),
        pay_url: None,
        mid: "INIpayTest".into(),
        sign_key: "sign".into(),
        api_key: "api".into(),
    };
    Inicis::new(settings, "https://podo.example")
}

fn ask(key: &str) -> GatewayQuery {
    GatewayQuery {
        payment: PaymentId::new(Uuid::from_u128(0xC)),
        gateway: "inicis".into(),
        method: PaymentMethod::Card,
        payment_key: Some(key.into()),
        amount: Won::new(50_000).unwrap(),
        currency: podo_domain::Currency::Krw,
    }
}

fn reply(text: &str) -> Reply {
    Reply { status: 200, text: text.to_owned() }
}

#[test]
fn only_their_own_data_centres_are_called() {
    let now = Timestamp::from_ms(1_000);
    let call = inicis().capture(&ask("auth:ks:TOKEN"), now).unwrap();
    assert_eq!(call.url, "https://ksstdpay.inicis.com/api/payAuth");
    for odd in ["auth:evil.example/:T", "auth::T", "https://evil.example"] {
        assert!(inicis().capture(&ask(odd), now).is_err(), "{odd}");
    }
    let fields = |centre: &str| {
        [
            ("orderNumber", "0000000000000000000000000000000c"),
            ("resultCode", "0000"),
            ("authToken", "T"),
            ("idc_name", centre),
            ("authUrl", "https://evil.example"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let returned = inicis().returned(&fields("fc")).unwrap();
    assert_eq!(returned.approval, Ok("auth:fc:T".into()));
    assert!(inicis().returned(&fields("evil")).unwrap().approval.is_err());
}

#[test]
fn hashes_cover_what_the_manual_says() {
    let call = inicis().capture(&ask("auth:fc:T"), Timestamp::from_ms(7)).unwrap();
    let Content::Form(fields) = call.body else { panic!() };
    let of = |name| fields.iter().find(|(key, _)| *key == name).unwrap().1.clone();
    assert_eq!(of("signature"), hex_digest(&SHA256, "authToken=T&timestamp=7"));
    assert_eq!(of("verification"), hex_digest(&SHA256, "authToken=T&signKey=sign&timestamp=7"));
    let data = json!({ "tid": "x/y" });
    let call = inicis().api("refund", &data, Timestamp::from_ms(0), false);
    let Content::Json(body) = call.body else { panic!() };
    let hashed = r#"apiINIpayTestrefund19700101090000{"tid":"x/y"}"#;
    assert_eq!(body["hashData"], hex_digest(&SHA512, hashed), "slashes are not escaped");
}

#[test]
fn every_answer_to_a_net_cancel_has_its_end() {
    let read = |status, text: &str| inicis().read_void(&Reply { status, text: text.to_owned() });
    let said = |code: &str, words: &str| {
        read(200, &format!(r#"{{"resultCode":"{code}","resultMsg":"{words}"}}"#))
    };
    assert_eq!(said("0000", "정상처리"), Void::Done("VOIDED"));
    for words in ["이미 취소된 거래입니다", "기취소 거래", "취소된 거래 입니다."]
    {
        assert_eq!(said("1012", words), Void::Done("ALREADY_CANCELED"), "{words}");
    }
    for words in ["취소할 거래가 없습니다", "인증 정보가 존재하지 않습니다", "원거래 없음"]
    {
        assert_eq!(said("1011", words), Void::Done("NOTHING_TO_CANCEL"), "{words}");
    }
    // Errors of theirs and ours settle nothing: an organiser can.
    for (code, words) in [("9999", "시스템 오류"), ("V013", "signature 불일치"), ("0001", "")]
    {
        assert_eq!(said(code, words), Void::Again, "{code}");
    }
    assert_eq!((read(500, ""), read(200, "<html>")), (Void::Again, Void::Again));
    assert_eq!(read(502, r#"{"resultCode":"0000"}"#), Void::Again);
}

#[test]
fn every_answer_to_a_refund_has_its_end() {
    let said = |code: &str| {
        inicis().read_refund(&reply(&format!(r#"{{"resultCode":"{code}","resultMsg":"…"}}"#)))
    };
    assert_eq!(said("00"), Refund::Made);
    for code in ["01", "02", "03", "500626"] {
        assert_eq!(said(code), Refund::Look(code.into()), "{code}");
    }
    assert_eq!(inicis().read_refund(&reply("<html>")), Refund::Later("200 without a code".into()));
    let book = |status: &str, left: &str| {
        let text = format!(
            r#"{{"resultCode":"00","status":"{status}","price":"50000","remainPrice":"{left}"}}"#
        );
        let book = inicis().read_book(&reply(&text));
        (book.state, book.refunded.get())
    };
    assert_eq!(book("0", "50000"), (State::Captured, 0));
    assert_eq!(book("2", "20000"), (State::Captured, 30_000));
    assert_eq!(book("1", "0"), (State::Closed("CANCELED".into()), 50_000));
}

#[test]
fn a_charge_must_be_of_our_order() {
    let text = r#"{"resultCode":"0000","resultMsg":"정상완료","tid":"StdpayCARD1",
        "MOID":"0000000000000000000000000000000c","TotPrice":"50000","applNum":"1",
        "CARD_Num":"433012*********1","payMethod":"Card"}"#;
    let CaptureReply::Charged(book) = inicis().read_capture(&ask("x"), &reply(text)) else {
        panic!()
    };
    assert_eq!((book.captured.get(), book.reference), (50_000, Some("tid:StdpayCARD1".into())));
    assert!(!book.kept.unwrap().contains("433012"));
    let foreign = text.replace("000c", "000d");
    assert_eq!(inicis().read_capture(&ask("x"), &reply(&foreign)), CaptureReply::Unknown);
    let no = reply(r#"{"resultCode":"V016","resultMsg":"한도초과"}"#);
    assert_eq!(inicis().read_capture(&ask("x"), &no), CaptureReply::Refused("V016".into()));
    assert_eq!(inicis().read_capture(&ask("x"), &reply("<html>")), CaptureReply::Unknown);
}

#[test]
fn a_phone_gets_a_form_for_their_mobile_page() {
    let opened = |method, device| {
        inicis().checkout(&test_order(method, device), &Value::Null).unwrap().data.unwrap()
    };
    let page = opened(PaymentMethod::KakaoPay, Device::Phone);
    assert_eq!(page["action"], "https://stgmobile.inicis.com/smart/payment/");
    assert_eq!((&page["P_INI_PAYMENT"], &page["P_AMT"]), (&json!("CARD"), &json!("50000")));
    assert!(page["P_RESERVED"].as_str().unwrap().ends_with("&d_kakaopay=Y"), "{page}");
    let home = "https://podo.example/api/payment/return/inicis?order=";
    assert_eq!(page["P_NEXT_URL"], format!("{home}0000000000000000000000000000000c"));
    assert_eq!(opened(PaymentMethod::Transfer, Device::Phone)["P_INI_PAYMENT"], "BANK");
    let window = opened(PaymentMethod::Payco, Device::Desktop);
    assert_eq!(
        (&window["gopaymethod"], &window["acceptmethod"]),
        (&json!("onlypayco"), &json!("centerCd(Y):cardonly"))
    );
    assert_eq!(opened(PaymentMethod::Card, Device::Desktop)["gopaymethod"], "Card");
}

#[test]
fn what_the_mobile_page_brings_back_is_approved_and_voided_at_their_centre() {
    let back = |centre: (&str, &str), status: &str| {
        let fields = [
            ("order", "0000000000000000000000000000000c"),
            ("P_STATUS", status),
            ("P_TID", "T1"),
            centre,
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
        inicis().returned(&fields).unwrap().approval
    };
    let approval = back(("idc_name", "ks"), "00").unwrap();
    let by_url = back(("P_REQ_URL", "https://ksmobile.inicis.com/smart/payReq.ini"), "00");
    assert_eq!(by_url, Ok(approval.clone()));
    assert_eq!(back(("idc_name", "ks"), "01"), Err("01".into()));
    for odd in [("idc_name", "evil"), ("P_REQ_URL", "https://evil.example/smart/payReq.ini")] {
        assert_eq!(back(odd, "00"), Err("INVALID_APPROVAL".into()), "{odd:?}");
    }
    let (ask, now) = (ask(&approval), Timestamp::from_ms(7));
    let call = inicis().capture(&ask, now).unwrap();
    assert_eq!(call.url, "https://ksmobile.inicis.com/smart/payReq.ini");
    let Content::Form(fields) = call.body else { panic!() };
    assert_eq!(fields, [("P_MID", "INIpayTest".to_owned()), ("P_TID", "T1".to_owned())]);
    let call = inicis().void(&ask, None, now).unwrap();
    assert_eq!(call.url, "https://ksmobile.inicis.com/smart/payNetCancel.ini");
    let Content::Form(fields) = call.body else { panic!() };
    assert!(fields.contains(&("P_AMT", "50000".to_owned())), "{fields:?}");
    assert!(fields.contains(&("P_OID", ask.payment.order_id())), "{fields:?}");
}

#[test]
fn replies_of_the_mobile_page_are_forms() {
    let ask = ask("mobile:fc:T1");
    let read = |text: &str| inicis().read_capture(&ask, &reply(text));
    let charged = "P_STATUS=00&P_TID=INIMX_CARD1&P_OID=0000000000000000000000000000000c\
        &P_AMT=50000&P_TYPE=CARD&P_SRC_CODE=O&P_CARD_NUM=433012********1";
    let CaptureReply::Charged(book) = read(charged) else { panic!() };
    assert_eq!((book.captured.get(), book.reference), (50_000, Some("tid:INIMX_CARD1".into())));
    assert_eq!(book.paid_with, Some(PaymentMethod::KakaoPay));
    assert!(!book.kept.unwrap().contains("433012"));
    assert_eq!(read(&charged.replace("000c", "000d")), CaptureReply::Unknown);
    assert_eq!(read("P_STATUS=V016&P_RMESG1=x"), CaptureReply::Refused("V016".into()));
    assert_eq!((read(""), read("<html>")), (CaptureReply::Unknown, CaptureReply::Unknown));
    let void = |text: &str| inicis().read_void(&reply(text));
    assert_eq!(void("P_STATUS=00&P_RMESG1=ok"), Void::Done("VOIDED"));
    let nothing = "P_STATUS=01&P_RMESG1=%EC%B7%A8%EC%86%8C%ED%95%A0+%EA%B1%B0%EB%9E%98%EA%B0%80+%EC%97%86%EC%8A%B5%EB%8B%88%EB%8B%A4";
    assert_eq!(void(nothing), Void::Done("NOTHING_TO_CANCEL"));
    assert_eq!((void("P_STATUS=99"), void("<html>")), (Void::Again, Void::Again));
}

#[test]
fn a_reply_names_what_was_used() {
    for (kind, source, method) in [
        ("Card", "", Some(PaymentMethod::Card)),
        ("VCard", "O", Some(PaymentMethod::KakaoPay)),
        ("CARD", "I", Some(PaymentMethod::NaverPay)),
        ("Card", "H", Some(PaymentMethod::TossPay)),
        ("Card", "C", Some(PaymentMethod::Payco)),
        ("Card", "D", Some(PaymentMethod::SamsungPay)),
        ("DirectBank", "", Some(PaymentMethod::Transfer)),
        ("BANK", "", Some(PaymentMethod::Transfer)),
        ("Card", "L", None),
        ("HPP", "", None),
    ] {
        assert_eq!(paid_with(kind, source), method, "{kind} {source}");
    }
}
