//! Stand-in payment companies on loopback: each speaks its real wire format, keeps a ledger, and
//! injects the faults that a test requests.

mod inicis;
mod kcp;
mod portone;
pub(crate) mod protocol;
mod stripe;
mod toss;

use protocol::{Reply, StandInRequest};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Result;
use std::net::{SocketAddr, TcpListener};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Faults of a charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    None,
    /// Charges, but answers after the caller's timeout.
    AnswersLate,
    /// Charges, then the connection breaks.
    Drops,
    /// Charges, then answers 500.
    Fails,
    /// The first request gets "in progress".
    Busy,
    Declines,
    /// Charges one won less.
    WrongAmount,
    /// Charges, then answers garbage.
    Garbage,
    /// Neither charges nor answers.
    Silent,
}

impl Fault {
    pub const ALL: [Fault; 9] = [
        Fault::None,
        Fault::AnswersLate,
        Fault::Drops,
        Fault::Fails,
        Fault::Busy,
        Fault::Declines,
        Fault::WrongAmount,
        Fault::Garbage,
        Fault::Silent,
    ];
}

/// Faults of a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefundFault {
    None,
    /// Fails this many times without an effect.
    FailsTimes(u32),
    /// Refunds, then breaks the connection; the first time only.
    Drops,
    /// Breaks the connection this many times without an effect.
    VanishesTimes(u32),
}

/// An order in the ledger.
#[derive(Clone, Debug)]
pub struct Order {
    pub fault: Fault,
    pub refund_fault: RefundFault,
    pub captured: i64,
    pub refunded: i64,
    /// How often money was taken: at most once, under any fault.
    pub n_captures: u32,
    /// How often we requested a refund.
    pub n_refunds: u32,
    pub is_voided: bool,
    /// The amount that a virtual account waits for; 0 if none was issued.
    pub issued: i64,
    /// The bank account that a refund of a deposit named.
    pub refund_account: Option<String>,
    /// How the fan pays in the window, in Podo's words.
    pub method: &'static str,
    pub(crate) n_asked: u32,
}

impl Order {
    /// How many capture requests arrived.
    pub fn n_asked(&self) -> u32 {
        self.n_asked
    }

    pub(crate) fn is_account(&self) -> bool {
        self.method == "VIRTUAL_ACCOUNT"
    }

    /// Whether an account waits for its deposit.
    pub(crate) fn is_awaiting(&self) -> bool {
        self.issued > 0 && self.captured == 0 && !self.is_voided
    }

    /// Remembers where a refund goes. A deposit isn't refunded without an account.
    pub(crate) fn may_refund_to(&mut self, number: &Value) -> bool {
        if let Some(number) = number.as_str() {
            self.refund_account = Some(number.to_owned());
        }
        !self.is_account() || number.is_string()
    }

    fn new(fault: Fault, refund_fault: RefundFault) -> Order {
        Order {
            fault,
            refund_fault,
            captured: 0,
            refunded: 0,
            n_captures: 0,
            n_refunds: 0,
            is_voided: false,
            issued: 0,
            refund_account: None,
            method: "CARD",
            n_asked: 0,
        }
    }
}

#[derive(Default)]
pub(crate) struct Book {
    pub(crate) orders: BTreeMap<String, Order>,
    /// Stripe's intents by order: what they are about, in which currency.
    pub(crate) intents: BTreeMap<String, (i64, String)>,
    /// Identity verifications: CI and DI of each person who passed.
    pub(crate) persons: BTreeMap<String, (Option<String>, Option<String>)>,
    /// Answers by idempotency key.
    pub(crate) answers: BTreeMap<String, Reply>,
}

/// The ledgers of all five companies, and the answer of each.
#[derive(Clone, Default)]
pub struct Companies(Arc<Mutex<Book>>);

/// A company's reply to a request.
#[derive(Clone, Debug)]
pub struct CompanyReply {
    pub status: u16,
    pub text: String,
    /// The request takes effect, but no answer comes.
    pub is_dropped: bool,
}

impl Companies {
    /// Answers a request to one of them, without a network.
    pub fn answer(&self, path: &str, key: Option<&str>, body: &str) -> CompanyReply {
        let asked = StandInRequest {
            path: path.to_owned(),
            key: key.map(str::to_owned),
            body: body.to_owned(),
        };
        let reply = answer(&mut self.lock(), &asked);
        let Reply { status, text, is_dropped, .. } =
            reply.unwrap_or_else(|| Reply::json(404, &serde_json::Value::Null));
        CompanyReply { status, text, is_dropped }
    }

    /// The fan approves the order on the company's page, with these faults to come.
    pub fn approve(&self, order: &str, fault: Fault, refund_fault: RefundFault) {
        let mut book = self.lock();
        book.orders.insert(order.to_owned(), Order::new(fault, refund_fault));
    }

    /// The fan pays with this method there.
    pub fn pay_with(&self, order: &str, method: &'static str) {
        if let Some(order) = self.lock().orders.get_mut(order) {
            order.method = method;
        }
    }

    /// The fan pays to the virtual account.
    pub fn deposit(&self, order: &str, amount: i64) {
        if let Some(order) = self.lock().orders.get_mut(order) {
            order.captured += amount;
            order.n_captures += 1;
        }
    }

    /// The company captures money without a request, or after a void.
    pub fn capture_unasked(&self, order: &str, amount: i64) {
        let mut book = self.lock();
        if let Some(order) = book.orders.get_mut(order) {
            order.is_voided = false;
            order.captured = amount;
            order.n_captures += 1;
        }
    }

    /// The merchant refunds money on the company's own page, without a notification.
    pub fn refund_on_page(&self, order: &str, amount: i64) {
        if let Some(order) = self.lock().orders.get_mut(order) {
            order.refunded += amount;
        }
    }

    /// Sets the fault of this order's refunds from now on.
    pub fn fail_refunds(&self, order: &str, fault: RefundFault) {
        if let Some(order) = self.lock().orders.get_mut(order) {
            order.refund_fault = fault;
        }
    }

    /// A person passes the verification with this id in PortOne's window.
    pub fn pass_identity(&self, id: &str, ci: Option<&str>, di: Option<&str>) {
        let person = (ci.map(str::to_owned), di.map(str::to_owned));
        self.lock().persons.insert(id.to_owned(), person);
    }

    pub fn order(&self, order: &str) -> Option<Order> {
        self.lock().orders.get(order).cloned()
    }

    /// Every order that was approved.
    pub fn orders(&self) -> Vec<(String, Order)> {
        self.lock().orders.iter().map(|(id, order)| (id.clone(), order.clone())).collect()
    }

    /// Every charged order.
    pub fn charged(&self) -> Vec<(String, Order)> {
        self.orders().into_iter().filter(|(_, order)| order.n_captures > 0).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One server for all of them. It ends with the test's process.
pub struct Gateways {
    address: SocketAddr,
    companies: Companies,
}

/// Longer than any timeout that tests set.
const LATE: Duration = Duration::from_millis(2_500);

impl Gateways {
    pub fn start() -> Result<Gateways> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let companies = Companies::default();
        let shared = companies.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let companies = shared.clone();
                thread::spawn(move || protocol::serve(stream, &companies.0));
            }
        });
        Ok(Gateways { address, companies })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Deref for Gateways {
    type Target = Companies;

    fn deref(&self) -> &Companies {
        &self.companies
    }
}

/// The result of a charge: the ledger after it, and how the answer goes out.
pub(crate) enum Charge {
    Done(i64),
    Declined,
    Busy,
    Unknown,
}

impl Book {
    /// Charges an order once, with its fault.
    pub(crate) fn charge(&mut self, id: &str, amount: i64) -> (Charge, Fault) {
        let Some(order) = self.orders.get_mut(id) else { return (Charge::Unknown, Fault::None) };
        order.n_asked += 1;
        let fault = order.fault;
        if order.is_voided {
            return (Charge::Declined, Fault::None);
        }
        match fault {
            Fault::Declines => return (Charge::Declined, Fault::None),
            Fault::Silent => return (Charge::Unknown, Fault::Silent),
            Fault::Busy if order.n_asked == 1 => return (Charge::Busy, Fault::None),
            Fault::None
            | Fault::AnswersLate
            | Fault::Drops
            | Fault::Fails
            | Fault::Busy
            | Fault::WrongAmount
            | Fault::Garbage => {}
        }
        if order.is_account() {
            order.issued = amount;
            return (Charge::Done(0), fault);
        }
        if order.captured == 0 {
            order.captured = if fault == Fault::WrongAmount { amount - 1 } else { amount };
            order.n_captures += 1;
        }
        (Charge::Done(order.captured), fault)
    }

    /// Cancels a part, or all that is left. Podo's reason for a void distinguishes it from a
    /// refund: a late charge that was voided as a whole counts as none.
    pub(crate) fn cancel(&mut self, id: &str, part: Option<i64>, reason: &Value) -> Refunded {
        let left = self.orders.get(id).map_or(0, |order| order.captured - order.refunded);
        let refunded = self.refund(id, part.unwrap_or(left));
        if matches!(refunded, Refunded::Made | Refunded::Dropped)
            && reason == "VOID"
            && let Some(order) = self.orders.get_mut(id)
        {
            order.is_voided = true;
        }
        refunded
    }

    /// Refunds at most what is left; `None` if the ledger refuses.
    pub(crate) fn refund(&mut self, id: &str, amount: i64) -> Refunded {
        let Some(order) = self.orders.get_mut(id) else { return Refunded::Refused };
        match order.refund_fault {
            RefundFault::FailsTimes(n) if n > 0 => {
                order.refund_fault = RefundFault::FailsTimes(n - 1);
                return Refunded::Failed;
            }
            RefundFault::VanishesTimes(n) if n > 0 => {
                order.refund_fault = RefundFault::VanishesTimes(n - 1);
                return Refunded::Vanished;
            }
            RefundFault::None
            | RefundFault::FailsTimes(_)
            | RefundFault::VanishesTimes(_)
            | RefundFault::Drops => {}
        }
        if amount <= 0 || order.captured - order.refunded < amount {
            return Refunded::Refused;
        }
        order.refunded += amount;
        order.n_refunds += 1;
        if order.refund_fault == RefundFault::Drops {
            order.refund_fault = RefundFault::None;
            return Refunded::Dropped;
        }
        Refunded::Made
    }
}

pub(crate) enum Refunded {
    Made,
    Dropped,
    Vanished,
    Failed,
    Refused,
}

/// The company that a request is for; `None` if it matches none.
pub(crate) fn answer(book: &mut Book, asked: &StandInRequest) -> Option<Reply> {
    toss::answer(book, asked)
        .or_else(|| portone::answer(book, asked))
        .or_else(|| inicis::answer(book, asked))
        .or_else(|| kcp::answer(book, asked))
        .or_else(|| stripe::answer(book, asked))
}

/// Applies a fault to a charge's answer.
pub(crate) fn with_fault(reply: Reply, fault: Fault) -> Reply {
    match fault {
        Fault::AnswersLate => Reply { pause: LATE, ..reply },
        Fault::Silent => Reply { pause: LATE, is_dropped: true, ..reply },
        Fault::Drops => Reply { is_dropped: true, ..reply },
        Fault::Fails => Reply { status: 500, text: r#"{"code":"COMMON_ERROR"}"#.into(), ..reply },
        Fault::Garbage => Reply { text: "<html>busy</html>".into(), ..reply },
        Fault::None | Fault::Busy | Fault::Declines | Fault::WrongAmount => reply,
    }
}
