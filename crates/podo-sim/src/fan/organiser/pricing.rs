//! Prices that change while the date is on sale.

use crate::check::coverage::Coverage;
use crate::faults::clocks::JUMP_MAX_MS;
use crate::world::{ORGANISER, World};
use futures::FutureExt;
use podo_app::catalog::port::Catalog;
use podo_app::catalog::pricing::change_prices;
use podo_app::catalog::pricing_port::PriceVerb;
use podo_app::operations::port::clock::Clock;
use podo_domain::booking::order::price_changes::PriceChange;
use podo_domain::{Timestamp, Won};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a command takes at most from its clock to its commit, with faults.
const DELAY_MAX: Duration = Duration::from_secs(20);

impl World {
    /// How long after a change it is in doubt which price a seat has: the node that dated the change
    /// may have been suspended.
    fn in_doubt(&self) -> Duration {
        match self.swarm.clocks_are_wrong {
            true => DELAY_MAX + Duration::from_millis(JUMP_MAX_MS),
            false => DELAY_MAX,
        }
    }

    pub(super) async fn change_prices(self: &Arc<World>) {
        let planned = self.planned_change().await.filter(|_| self.rng.happens(40));
        let later = self.time.now().plus(self.rng.ms(10_000, 60_000));
        let verb = match planned {
            Some(from) => PriceVerb::Withdraw { from },
            None => {
                let from = self.rng.happens(60).then_some(later);
                PriceVerb::Add { from, prices: self.other_prices() }
            }
        };
        let (schedule, asked) = (self.schedule, verb.clone());
        let answer = self.insist(ORGANISER, "other prices", move |context| {
            let verb = asked.clone();
            async move { change_prices(&context, ORGANISER, schedule, verb).await.map(drop) }
                .boxed()
        });
        match (answer.await, verb) {
            (Some(Ok(())), PriceVerb::Add { .. }) => self.saw(Coverage::PricesChanged),
            (Some(Ok(())), PriceVerb::Withdraw { .. }) => self.saw(Coverage::PriceChangeWithdrawn),
            (Some(Err(_)) | None, _) => {}
        }
    }

    fn other_prices(&self) -> BTreeMap<String, Won> {
        let steps = self.rng.one_of(&[1, 2, 3]);
        let half = |amount: Won| Won::new(amount.get() / 2 * steps).expect("a price in range");
        self.prices().into_iter().map(|(grade, price)| (grade, half(price))).collect()
    }

    /// A change that begins late enough to be withdrawn before it does.
    async fn planned_change(&self) -> Option<Timestamp> {
        let soon = self.time.now().plus(self.in_doubt());
        let changes = self.changes().await;
        changes.iter().map(|change| change.from).find(|from| soon < *from)
    }

    async fn changes(&self) -> Vec<PriceChange> {
        let date = self.store.schedule(self.schedule).await.ok().flatten();
        date.map(|date| date.price_changes.all().to_vec()).unwrap_or_default()
    }

    /// P1: an order costs what its grades cost when its seats were held.
    pub(crate) async fn check_prices(&self) {
        let changes = self.changes().await;
        let sql = "select c.grade, coalesce(c.list_price, c.price), r.created_at, r.id
                     from reservation_seats c join reservations r on r.id = c.reservation_id
                    where not exists (select 1 from reseats m where m.reservation_id = r.id)
                      and not exists (select 1 from resales z where z.sold_as = r.id)";
        for row in self.store.look(sql, None) {
            let number = |text: &String| text.parse::<i64>().expect("it is a number");
            let held_at = Timestamp::from_ms(number(&row[2]));
            let costs = self.costs_around(&changes, &row[0], held_at);
            let is_right = costs.contains(&number(&row[1]));
            self.ensure(is_right, "P1", || format!("{row:?}, it cost {costs:?}"));
            if changes.first().is_some_and(|first| first.from.plus(self.in_doubt()) < held_at) {
                self.saw(Coverage::SoldAtNewPrice);
            }
        }
    }

    /// What the grade cost at that moment; before or after it if a change began just then.
    fn costs_around(&self, changes: &[PriceChange], grade: &str, at: Timestamp) -> Vec<i64> {
        let begun: Vec<&PriceChange> = changes.iter().filter(|it| it.from <= at).collect();
        let is_in_doubt = |it: &&&PriceChange| at < it.from.plus(self.in_doubt());
        let n_in_doubt = begun.iter().filter(is_in_doubt).count();
        let costs = begun.iter().rev().take(n_in_doubt + 1).map(|it| it.prices[grade].get());
        let first = (begun.len() == n_in_doubt).then(|| self.prices()[grade].get());
        costs.chain(first).collect()
    }
}
