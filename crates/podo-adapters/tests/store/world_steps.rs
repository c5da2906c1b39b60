//! Steps of fans: hold, choose a payment method, confirm.

use crate::world::{Fan, World, at, fresh, won};
use podo_app::Result;
use podo_app::booking::port::reservations::{Held, HoldSeats, Reservations};
use podo_app::operations::port::idempotency::IdempotencyKey;
use podo_app::payments::port::payments::{
    Capture, Checkout, ConfirmPayment, PaymentReady, Payments, RequestPayment, Sold,
};
use podo_app::payments::port::wallets::{ChargeWallet, Wallets};
use podo_domain::booking::seats::{HOLD_LENGTH, SeatPick};
use podo_domain::id::SeatIndex;
use podo_domain::payments::{Payee, PaymentMethod};
use podo_domain::{LedgerId, PaymentId, ReservationId, Timestamp};

impl World {
    pub(crate) fn key(&self, fan: &Fan, endpoint: &'static str) -> IdempotencyKey {
        let key = format!("key-{}", self.number());
        IdempotencyKey { user: fan.id, endpoint, key, fingerprint: [7; 32] }
    }

    pub(crate) fn hold_command(&self, fan: &Fan, seats: &[SeatIndex], now: Timestamp) -> HoldSeats {
        let seats: Vec<_> = seats.iter().map(|index| self.schedule.seat(*index)).collect();
        HoldSeats {
            key: self.key(fan, "reservation/hold"),
            reservation: ReservationId::new(self.id()),
            user: fan.id,
            pick: SeatPick::new(self.schedule, &seats).unwrap(),
            entry: fan.entry,
            room: self.schedule,
            until: now.plus(HOLD_LENGTH),
            limits_churn: false,
            now,
        }
    }

    pub(crate) async fn hold(
        &self,
        fan: &Fan,
        seats: &[SeatIndex],
        now: Timestamp,
    ) -> Result<Held> {
        let command = self.hold_command(fan, seats, now);
        self.store.hold_seats(command).await.map(fresh)
    }

    pub(crate) async fn charge(&self, fan: &Fan, amount: i64) {
        let key = self.key(fan, "wallet/charge");
        let ledger = LedgerId::new(self.id());
        let command = ChargeWallet {
            key,
            user: fan.id,
            ledger,
            amount: won(amount),
            currency: podo_domain::Currency::Krw,
            now: at(0),
        };
        self.store.charge_wallet(command).await.unwrap();
    }

    pub(crate) fn request_command(
        &self,
        fan: &Fan,
        reservation: ReservationId,
        method: PaymentMethod,
        now: Timestamp,
    ) -> RequestPayment {
        let gateway = match method.payee() {
            Payee::Wallet | Payee::BoxOffice => None,
            Payee::Gateway => Some("sandbox"),
        };
        RequestPayment {
            key: self.key(fan, "payment/request"),
            payment: PaymentId::new(self.id()),
            reservation,
            user: fan.id,
            method,
            gateway,
            deposit_due: None,
            checkout: Checkout { gateway: gateway.map(str::to_owned), url: None, data: None },
            now,
        }
    }

    pub(crate) async fn request(
        &self,
        fan: &Fan,
        reservation: ReservationId,
        method: PaymentMethod,
        now: Timestamp,
    ) -> Result<PaymentReady> {
        let command = self.request_command(fan, reservation, method, now);
        self.store.request_payment(command).await.map(|requested| fresh(requested).ready)
    }

    pub(crate) fn confirm_command(
        &self,
        fan: &Fan,
        ready: &PaymentReady,
        now: Timestamp,
    ) -> ConfirmPayment {
        ConfirmPayment {
            key: self.key(fan, "payment/confirm"),
            payment: ready.payment_id,
            user: fan.id,
            amount: ready.amount,
            payment_key: Some("approval".into()),
            now,
        }
    }

    pub(crate) async fn confirm(
        &self,
        fan: &Fan,
        ready: &PaymentReady,
        now: Timestamp,
    ) -> Result<Capture> {
        let command = self.confirm_command(fan, ready, now);
        self.store.confirm_payment(command).await.map(fresh)
    }

    /// Holds the seats and pays for them from a full wallet.
    pub(crate) async fn buy(&self, fan: &Fan, seats: &[SeatIndex], now: Timestamp) -> Sold {
        self.charge(fan, 1_000_000).await;
        let held = self.hold(fan, seats, now).await.unwrap();
        let wallet = PaymentMethod::Wallet;
        let ready = self.request(fan, held.reservation_id, wallet, now).await.unwrap();
        match self.confirm(fan, &ready, now).await.unwrap() {
            Capture::Sold(sold) => *sold,
            Capture::Ask(ask) => panic!("a wallet asks no gateway: {ask:?}"),
        }
    }

    /// Holds the seats and starts to pay for them by card: `PAYING`.
    pub(crate) async fn start_paying(
        &self,
        fan: &Fan,
        seats: &[SeatIndex],
        now: Timestamp,
    ) -> (ReservationId, PaymentReady) {
        let held = self.hold(fan, seats, now).await.unwrap();
        let card = PaymentMethod::Card;
        let ready = self.request(fan, held.reservation_id, card, now).await.unwrap();
        match self.confirm(fan, &ready, now).await.unwrap() {
            Capture::Ask(_) => (held.reservation_id, ready),
            Capture::Sold(sold) => panic!("sold before the gateway was asked: {sold:?}"),
        }
    }
}
