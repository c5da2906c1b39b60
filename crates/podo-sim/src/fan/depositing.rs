//! A fan with a virtual account: pays in time, around the deadline or never, or gives the order up.

use crate::fan::Fan;
use futures::FutureExt;
use podo_app::payments::deposits::{cancel_deposit, set_refund_account};
use podo_domain::payments::deposits::{Bank, RefundAccount};
use podo_domain::{PaymentId, Won};

/// The deadline of the event, in milliseconds: an hour.
const DUE_MS: u64 = 3_600_000;

impl Fan {
    pub(super) async fn deposit(&self, payment: PaymentId, amount: Won) {
        self.name_account(payment).await;
        let world = &self.world;
        match world.rng.below(5) {
            0 => return,
            1 | 2 => world.time.sleep(world.rng.ms(1_000, DUE_MS / 2)).await,
            3 => world.time.sleep(world.rng.ms(DUE_MS - 60_000, DUE_MS + 3 * 600_000)).await,
            _ => {
                world.time.sleep(world.rng.ms(1_000, 20_000)).await;
                self.give_up(payment).await;
                if world.rng.happens(50) {
                    return;
                }
            }
        }
        world.deposit(payment, amount.get());
    }

    /// Refunds of deposits wait for it.
    async fn name_account(&self, payment: PaymentId) {
        let fan = self.user;
        let asked = self.insist("refund account", move |context| {
            async move {
                let account = RefundAccount {
                    bank: Bank::Kakao,
                    number: "3333011234567".to_owned().try_into().expect("it has digits"),
                    holder: "Podo".to_owned().try_into().expect("it is a line"),
                };
                set_refund_account(&context, fan, payment, &account).await
            }
            .boxed()
        });
        asked.await;
    }

    async fn give_up(&self, payment: PaymentId) {
        let fan = self.user;
        let asked = self.insist("give the order up", move |context| {
            async move { cancel_deposit(&context, fan, payment).await.map(drop) }.boxed()
        });
        asked.await;
    }
}
