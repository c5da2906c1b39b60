//! The receipt of an order: what was bought from whom, the tax in it, how it was paid, and what went
//! back.

use crate::booking::reservations::my_reservation;
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::messaging::port::announcements::ShowFacts;
use crate::messaging::templates::words;
use crate::messaging::templates::words::Zone;
use crate::payments::port::payments::{PaymentView, ReceiptFacts, RefundView};
use crate::tickets::documents::{ReceiptPage, cut, holder, language_of, show_of};
use podo_domain::booking::order::{LineKind, OrderLine};
use podo_domain::messaging::messages::Language;
use podo_domain::payments::receipts::{IncludedTax, included_tax};
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{Currency, Money, Refusal, ReservationId, Timestamp, UserId, Won};
use serde::Serialize;
use utoipa::ToSchema;

/// The receipt of a paid order.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    pub reservation_id: ReservationId,
    pub booking_number: String,
    pub seller: Seller,
    /// The name of the fan.
    pub buyer: String,
    pub title: String,
    pub starts_at: Timestamp,
    pub time_zone: String,
    pub venue: String,
    /// All seats that were bought, also those canceled since.
    pub seats: Vec<String>,
    /// What was bought, as it was paid for.
    pub lines: Vec<OrderLine>,
    pub amount: Won,
    pub currency: Currency,
    /// Korean value-added tax; absent in another currency than won.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tax: Option<IncludedTax>,
    pub paid_at: Timestamp,
    /// With its refunds.
    pub payment: PaymentView,
    /// The gateway's name of the charge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Who sells, from the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Seller {
    pub name: String,
    /// The business registration number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
}

/// Refusals: `NotFound` (also for another fan's order), `NotPaid`.
pub async fn receipt(
    context: &AppContext,
    fan: UserId,
    reservation: ReservationId,
) -> Result<Receipt> {
    let Some(facts) = context.store.receipt_facts(reservation, fan).await? else {
        my_reservation(context, fan, reservation).await?;
        return Err(Refusal::NotPaid.into());
    };
    let show = show_of(context, reservation).await?;
    let event = context.store.event(show.event).await?.ok_or(Refusal::NotFound)?;
    let ReceiptFacts { payment, reference, booking_number, seats, lines, amount } = facts;
    let paid = payment.history.iter().find(|step| step.status == PaymentStatus::Captured);
    let ShowFacts { title, starts_at, time_zone, venue, hall, .. } = show;
    Ok(Receipt {
        reservation_id: reservation,
        booking_number,
        seller: seller(context),
        buyer: holder(context, fan).await?,
        title,
        starts_at,
        time_zone,
        venue: format!("{venue} {hall}"),
        seats,
        tax: included_tax(&lines, event.vat_exempt, payment.currency),
        currency: payment.currency,
        lines,
        amount,
        paid_at: paid.map_or(payment.created_at, |step| step.at),
        payment,
        reference: reference.map(|text| charge_name(&text).to_owned()),
    })
}

fn seller(context: &AppContext) -> Seller {
    let brand = &context.rules.brand;
    let name = [&brand.business_name, &brand.name].into_iter().find(|name| !name.is_empty());
    let number = Some(brand.business_number.clone()).filter(|number| !number.is_empty());
    Seller { name: name.map_or("Podo", String::as_str).to_owned(), number }
}

/// Adapters keep what kind of name it is in front of it.
fn charge_name(reference: &str) -> &str {
    ["tid:", "tno:"].iter().find_map(|kind| reference.strip_prefix(kind)).unwrap_or(reference)
}

/// The receipt as a PDF. Refusals as `receipt`.
pub async fn receipt_pdf(
    context: &AppContext,
    fan: UserId,
    reservation: ReservationId,
) -> Result<Vec<u8>> {
    let receipt = receipt(context, fan, reservation).await?;
    let language = language_of(context, fan).await?;
    let press = context.tickets.press.as_ref();
    let press = press.ok_or_else(|| Error::broken("this program has no printer"))?;
    press.print_receipt(page_of(&receipt, &context.rules.time_zone, language)).await
}

fn page_of(receipt: &Receipt, home_zone: &str, language: Language) -> ReceiptPage {
    let zone = Zone { name: &receipt.time_zone, home: home_zone };
    let say = |ko: &str, en: &str| match language {
        Language::Ko => ko.to_owned(),
        Language::En => en.to_owned(),
    };
    let shown = |amount| words::money(Money::new(amount, receipt.currency), language);
    let won = |amount: i64| match Won::new(amount.abs()) {
        Some(value) if amount < 0 => format!("−{}", shown(value)),
        Some(value) => shown(value),
        None => String::new(),
    };
    let when = |at| words::moment(at, zone, language);
    let payment = &receipt.payment;
    let method = method_words(payment.paid_with.unwrap_or(payment.method), language);
    let mut head = vec![(say("판매자", "Seller"), receipt.seller.name.clone())];
    let number = receipt.seller.number.clone();
    head.extend(number.map(|number| (say("사업자등록번호", "Business no."), number)));
    head.extend([
        (say("구매자", "Buyer"), receipt.buyer.clone()),
        (say("예매번호", "Booking"), receipt.booking_number.clone()),
        (say("일시", "Date"), when(receipt.starts_at)),
        (say("장소", "Venue"), receipt.venue.clone()),
        (say("좌석", "Seats"), receipt.seats.join(", ")),
    ]);
    let line = |line: &OrderLine| (line_words(line, language), won(line.amount));
    let mut sums: Vec<(String, String)> = receipt.lines.iter().map(line).collect();
    if let Some(tax) = receipt.tax {
        let parts = [
            (say("공급가액", "Net amount"), tax.supply),
            (say("부가세", "VAT (10 %)"), tax.vat),
            (say("면세", "VAT-exempt"), tax.exempt),
        ];
        sums.extend(parts.into_iter().filter(|(_, it)| *it != 0).map(|(name, it)| (name, won(it))));
    }
    sums.push((say("합계", "Total"), won(receipt.amount.get())));
    let mut paid = vec![
        (say("결제 수단", "Paid with"), method),
        (say("결제 일시", "Paid at"), when(receipt.paid_at)),
    ];
    let reference = receipt.reference.clone();
    paid.extend(reference.map(|reference| (say("거래 번호", "Reference"), reference)));
    let refund = |refund: &RefundView| {
        let text = format!("{} · {}", won(-refund.amount.get()), when(refund.created_at));
        (say("환불", "Refund"), text)
    };
    paid.extend(payment.refunds.iter().map(refund));
    let whole = |rows: Vec<(String, String)>| {
        rows.into_iter().map(|(label, text)| (cut(&label), cut(&printable(&text)))).collect()
    };
    ReceiptPage {
        organiser: cut(&receipt.seller.name),
        title: say("영수증", "Receipt"),
        subject: cut(&receipt.title),
        parts: [head, sums, paid].map(whole).into(),
    }
}

/// The font of documents has neither a euro sign nor a minus.
fn printable(text: &str) -> String {
    text.replace('€', "EUR ").replace('−', "-")
}

fn line_words(line: &OrderLine, language: Language) -> String {
    let name = match language {
        Language::Ko => line.name.as_deref(),
        Language::En => line.name_en.as_deref().or(line.name.as_deref()),
    };
    let name = name.unwrap_or_default();
    let words = match (line.kind, language) {
        (LineKind::Ticket, _) => name.to_owned(),
        (LineKind::TypeDiscount, Language::Ko) => format!("{name} 할인"),
        (LineKind::TypeDiscount, Language::En) => format!("{name} discount"),
        (LineKind::CodeDiscount, Language::Ko) => format!("할인 코드 {name}"),
        (LineKind::CodeDiscount, Language::En) => format!("Code {name}"),
        (LineKind::BookingFee, Language::Ko) => "예매 수수료".to_owned(),
        (LineKind::BookingFee, Language::En) => "Booking fee".to_owned(),
        (LineKind::OrderFee, Language::Ko) => "주문 수수료".to_owned(),
        (LineKind::OrderFee, Language::En) => "Order fee".to_owned(),
    };
    match line.seats {
        Some(n_seats) => format!("{words} × {n_seats}"),
        None => words,
    }
}

fn method_words(method: PaymentMethod, language: Language) -> String {
    let (korean, english) = match method {
        PaymentMethod::Card => ("카드", "Card"),
        PaymentMethod::KakaoPay => ("카카오페이", "Kakao Pay"),
        PaymentMethod::NaverPay => ("네이버페이", "Naver Pay"),
        PaymentMethod::TossPay => ("토스페이", "Toss Pay"),
        PaymentMethod::Payco => ("페이코", "Payco"),
        PaymentMethod::SamsungPay => ("삼성페이", "Samsung Pay"),
        PaymentMethod::Transfer => ("계좌이체", "Bank transfer"),
        PaymentMethod::VirtualAccount => ("무통장입금", "Virtual account"),
        PaymentMethod::Wallet => ("지갑", "Wallet"),
        PaymentMethod::BoxOffice => ("현장 판매", "Box office"),
    };
    match language {
        Language::Ko => korean.to_owned(),
        Language::En => english.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_on_paper_has_no_sign_that_its_font_lacks() {
        assert_eq!(printable("−€45.50 · 2027-07-10"), "-EUR 45.50 · 2027-07-10");
        assert_eq!(printable("150,000원"), "150,000원");
    }
}
