//! The built-in gateway: it moves no money, but behaves like a real company. Its payment page lets
//! a person choose the outcome: approve, decline, time out, answer twice, answer late.

use crate::gateways::protocol::{cut, text};
use async_trait::async_trait;
use podo_app::Result;
use podo_app::payments::port::gateway::{
    Answered, Booked, Delivery, Gateway, Hint, Order, RefundOutcome,
};
use podo_app::payments::port::payments::{Checkout, DueRefund, GatewayQuery};
use podo_domain::payments::deposits::{Awaited, Bank, RefundAccount, VirtualAccount};
use podo_domain::payments::{Outcome, PaymentMethod};
use podo_domain::{Currency, PaymentId, Refusal, Timestamp, Won};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

/// The button pressed on the payment page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Choice {
    Approve,
    Decline,
    /// The answer never comes; nothing is charged.
    Timeout,
    /// Charges, answers, and gets a second capture request: still one charge.
    Duplicate,
    /// Charges, but the answer is lost: only a query reveals it.
    Late,
}

impl Choice {
    pub const ALL: [Choice; 5] =
        [Choice::Approve, Choice::Decline, Choice::Timeout, Choice::Duplicate, Choice::Late];

    pub const fn as_str(self) -> &'static str {
        match self {
            Choice::Approve => "APPROVE",
            Choice::Decline => "DECLINE",
            Choice::Timeout => "TIMEOUT",
            Choice::Duplicate => "DUPLICATE",
            Choice::Late => "LATE",
        }
    }

    pub fn parse(text: &str) -> Option<Choice> {
        Choice::ALL.into_iter().find(|choice| choice.as_str() == text)
    }
}

/// One order in the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub payment_key: String,
    pub choice: Choice,
    pub amount: Won,
    pub captured: Won,
    pub refunded: Won,
    pub voided: bool,
    /// The number of capture requests.
    pub asked: u32,
    /// Whether a virtual account is issued; `captured` is what came to it.
    pub awaits: bool,
}

/// The gateway's own ledger.
#[async_trait]
pub trait SandboxBook: Send + Sync {
    async fn write_page(&self, payment: PaymentId, page: Page, now: Timestamp) -> Result<()>;

    async fn page(&self, payment: PaymentId) -> Result<Option<Page>>;
}

pub struct Sandbox {
    book: Arc<dyn SandboxBook>,
}

pub const NAME: &str = "sandbox";

impl Sandbox {
    pub fn new(book: Arc<dyn SandboxBook>) -> Sandbox {
        Sandbox { book }
    }

    /// Records a person's choice on the payment page; the key represents their approval.
    pub async fn choose(
        &self,
        payment: PaymentId,
        choice: Choice,
        now: Timestamp,
    ) -> Result<String> {
        let payment_key = format!("sandbox_{}", payment.order_id());
        let known = self.book.page(payment).await?;
        // An order that was charged keeps its choice.
        if known.is_none_or(|page| page.captured.is_zero() && !page.voided) {
            let page = Page {
                payment_key: payment_key.clone(),
                choice,
                amount: Won::ZERO,
                captured: Won::ZERO,
                refunded: Won::ZERO,
                voided: false,
                asked: 0,
                awaits: false,
            };
            self.book.write_page(payment, page, now).await?;
        }
        Ok(payment_key)
    }

    async fn try_capture(&self, ask: &GatewayQuery, now: Timestamp) -> Result<Outcome> {
        let Some(page) = self.book.page(ask.payment).await? else {
            return Ok(declined("NOT_FOUND"));
        };
        if page.voided || ask.payment_key.as_ref() != Some(&page.payment_key) {
            return Ok(declined("INVALID_PAYMENT_KEY"));
        }
        let charges = match page.choice {
            Choice::Approve | Choice::Duplicate | Choice::Late => true,
            Choice::Decline | Choice::Timeout => false,
        };
        if ask.method == PaymentMethod::VirtualAccount {
            return self.issue(ask, page, charges, now).await;
        }
        // Two requests make one charge: our id is the key.
        let captured = match (charges, page.captured.is_zero()) {
            (true, true) => ask.amount,
            (true, false) | (false, _) => page.captured,
        };
        let asked = page.asked + 1;
        let next = Page { amount: ask.amount, captured, asked, ..page.clone() };
        self.book.write_page(ask.payment, next, now).await?;
        Ok(match page.choice {
            Choice::Approve | Choice::Duplicate => Outcome::Captured { amount: captured },
            Choice::Decline => declined("REJECT_CARD_COMPANY"),
            Choice::Timeout | Choice::Late => Outcome::Unknown,
        })
    }

    /// Approved and late orders get an account; two requests get the same one.
    async fn issue(
        &self,
        ask: &GatewayQuery,
        page: Page,
        issues: bool,
        now: Timestamp,
    ) -> Result<Outcome> {
        let next = Page { amount: ask.amount, asked: page.asked + 1, awaits: issues, ..page };
        self.book.write_page(ask.payment, next.clone(), now).await?;
        Ok(match next.choice {
            Choice::Approve | Choice::Duplicate => of_account(ask, &next),
            Choice::Decline => declined("REJECT_BANK"),
            Choice::Timeout | Choice::Late => Outcome::Unknown,
        })
    }

    /// Money comes to an account, as a bank reports it: any amount, also when it is closed. Returns
    /// false if no account was issued.
    pub async fn deposit(&self, payment: PaymentId, amount: Won, now: Timestamp) -> Result<bool> {
        let Some(page) = self.book.page(payment).await?.filter(|page| page.awaits) else {
            return Ok(false);
        };
        let captured = page.captured.checked_add(amount).unwrap_or(page.captured);
        self.book.write_page(payment, Page { captured, ..page }, now).await?;
        Ok(true)
    }

    async fn try_find(&self, ask: &GatewayQuery) -> Result<Outcome> {
        let page = self.book.page(ask.payment).await?;
        Ok(match page {
            None => declined("NOT_FOUND"),
            Some(page) if page.awaits => of_account(ask, &page),
            Some(page) if !page.captured.is_zero() => Outcome::Captured { amount: page.captured },
            Some(page) if page.voided => declined("VOIDED"),
            Some(page) => match page.choice {
                Choice::Decline => declined("REJECT_CARD_COMPANY"),
                Choice::Approve | Choice::Timeout | Choice::Duplicate | Choice::Late => {
                    Outcome::Unknown
                }
            },
        })
    }

    async fn try_void(&self, ask: &GatewayQuery, now: Timestamp) -> Result<Outcome> {
        match self.book.page(ask.payment).await? {
            Some(page) if page.awaits => {
                let next = Page { voided: true, ..page };
                self.book.write_page(ask.payment, next.clone(), now).await?;
                Ok(of_account(ask, &next))
            }
            Some(page) if !page.captured.is_zero() => {
                Ok(Outcome::Captured { amount: page.captured })
            }
            Some(page) => {
                self.book.write_page(ask.payment, Page { voided: true, ..page }, now).await?;
                Ok(declined("VOIDED"))
            }
            None => Ok(declined("NOT_FOUND")),
        }
    }

    async fn try_refund(&self, refund: &DueRefund, now: Timestamp) -> Result<()> {
        let page = self.book.page(refund.payment).await?;
        let page = page.ok_or_else(|| podo_app::Error::broken("unknown sandbox order"))?;
        // A repeated refund changes nothing, because refunds of one order come in sequence.
        let refunded = refund.given_before().checked_add(refund.amount).unwrap_or(page.captured);
        let refunded = refunded.max(page.refunded).min(page.captured);
        self.book.write_page(refund.payment, Page { refunded, ..page }, now).await
    }
}

/// What an account says: its money counts when the price has come, or when the account is closed.
fn of_account(ask: &GatewayQuery, page: &Page) -> Outcome {
    let is_over = page.voided || page.captured >= page.amount;
    match (is_over, page.captured.is_zero()) {
        (true, false) => Outcome::Captured { amount: page.captured },
        (true, true) => declined("VOIDED"),
        (false, _) => Outcome::AwaitingDeposit(Awaited {
            account: account_of(ask.payment),
            received: page.captured,
        }),
    }
}

/// An account of the invented bank: the same for every question.
fn account_of(payment: PaymentId) -> VirtualAccount {
    let number = payment.uuid().as_u128() % 100_000_000_000;
    VirtualAccount {
        bank: Bank::Shinhan.as_str().to_owned(),
        number: format!("562{number:011}"),
        holder: "포도 샌드박스".to_owned(),
        until: None,
    }
}

fn declined(reason: &str) -> Outcome {
    Outcome::NotCaptured { reason: reason.to_owned() }
}

/// If the store doesn't answer, the outcome is unknown.
fn answered(ask: &GatewayQuery, outcome: Result<Outcome>) -> Answered {
    let outcome = outcome.unwrap_or(Outcome::Unknown);
    let answer = match &outcome {
        Outcome::Captured { amount } => {
            Some(format!(r#"{{"status":"DONE","amount":{}}}"#, amount.get()))
        }
        Outcome::NotCaptured { reason } => {
            Some(format!(r#"{{"status":"ABORTED","code":"{reason}"}}"#))
        }
        Outcome::AwaitingDeposit(_) => Some(r#"{"status":"WAITING_FOR_DEPOSIT"}"#.to_owned()),
        Outcome::Unknown => None,
    };
    let is_charged = matches!(outcome, Outcome::Captured { .. });
    Answered { outcome, answer, reference: None, paid_with: is_charged.then_some(ask.method) }
}

#[async_trait]
impl Gateway for Sandbox {
    fn name(&self) -> &'static str {
        NAME
    }

    fn methods(&self) -> &'static [PaymentMethod] {
        &[
            PaymentMethod::Card,
            PaymentMethod::KakaoPay,
            PaymentMethod::NaverPay,
            PaymentMethod::TossPay,
            PaymentMethod::Payco,
            PaymentMethod::SamsungPay,
            PaymentMethod::Transfer,
            PaymentMethod::VirtualAccount,
        ]
    }

    fn currencies(&self) -> &'static [Currency] {
        &Currency::ALL
    }

    async fn checkout(&self, order: &Order<'_>, _now: Timestamp) -> Result<Checkout> {
        let (order_id, amount) = (order.payment.order_id(), order.amount.get());
        let method = order.method.as_str();
        let currency = order.currency.as_str();
        let url = format!(
            "/pay/sandbox?orderId={order_id}&amount={amount}&currency={currency}&method={method}"
        );
        Ok(Checkout { gateway: Some(NAME.into()), url: Some(url), data: None })
    }

    async fn capture(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        answered(ask, self.try_capture(ask, now).await)
    }

    async fn find(&self, ask: &GatewayQuery, _now: Timestamp) -> Answered {
        answered(ask, self.try_find(ask).await)
    }

    async fn void(&self, ask: &GatewayQuery, now: Timestamp) -> Answered {
        answered(ask, self.try_void(ask, now).await)
    }

    async fn refund(
        &self,
        refund: &DueRefund,
        account: Option<&RefundAccount>,
        now: Timestamp,
    ) -> RefundOutcome {
        if refund.method == PaymentMethod::VirtualAccount && account.is_none() {
            return RefundOutcome::Later { why: "no account to refund to".to_owned() };
        }
        match self.try_refund(refund, now).await {
            Ok(()) => RefundOutcome::Refunded,
            Err(error) => RefundOutcome::Later { why: error.to_string() },
        }
    }

    /// `{"id": …, "orderId": …}`. Unsigned: a webhook only makes us query the ledger.
    fn read_webhook(&self, delivery: &Delivery<'_>) -> std::result::Result<Hint, Refusal> {
        let value: Value =
            serde_json::from_slice(delivery.body).map_err(|_error| Refusal::WebhookInvalid)?;
        Ok(Hint {
            id: cut(text(&value, "id"), 200).to_owned(),
            kind: "CHANGED".to_owned(),
            payment: PaymentId::from_order_id(text(&value, "orderId")),
        })
    }

    async fn booked(&self, ask: &GatewayQuery, _now: Timestamp) -> Option<Booked> {
        let page = self.book.page(ask.payment).await.ok()?;
        let nothing = Booked { captured: Won::ZERO, refunded: Won::ZERO };
        Some(
            page.map_or(nothing, |page| Booked {
                captured: page.captured,
                refunded: page.refunded,
            }),
        )
    }
}
