//! The load plan: how many fans, when they arrive, which seats they want, how they pay.

use crate::rng::Rng;
use podo_domain::booking::seats::SEATS_PER_ORDER;
use podo_domain::catalog::phases::SeatRanges;
use podo_domain::{PhaseId, ScheduleId};
use std::collections::BTreeSet;
use std::time::Duration;

/// When the fans arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// All at the opening.
    AtOnce,
    /// At random moments over this time. The moments are fixed in advance and don't depend on the
    /// server, and a late start counts as latency, so a slow server can't hide behind requests that
    /// it kept from being sent (coordinated omission).
    Over(Duration),
    /// Also over this time, but most of them early: half arrive in its first eighth.
    Rush(Duration),
}

/// Which seats the fans want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Favour {
    /// Anywhere on the map.
    Anywhere,
    /// The first free seats, the same ones for every fan: maximum contention.
    Front,
}

/// How fans prove that they belong to the audience of a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FanProof {
    /// A code that serves all of them.
    Code(String),
    /// The membership of [`member_of`].
    Member,
}

/// The membership number and the name of a fan.
pub fn member_of(fan: u32) -> (String, String) {
    (format!("M-{fan}"), format!("Fan {fan}"))
}

/// A phase of the sale, and the fans who wait for it.
#[derive(Clone, Debug)]
pub struct PhasePart {
    pub phase: PhaseId,
    pub fans: u32,
    /// What they prove before it opens.
    pub proof: Option<FanProof>,
    /// The seats that it sells; `None` for all.
    pub seats: Option<SeatRanges>,
}

/// A ticket type that fans may choose.
#[derive(Clone, Debug)]
pub struct TypeChoice {
    pub id: u32,
    /// The grades that have it; `None` for all.
    pub grades: Option<BTreeSet<String>>,
}

/// What fans choose at checkout.
#[derive(Clone, Debug, Default)]
pub struct CheckoutPlan {
    pub types: Vec<TypeChoice>,
    /// The share of orders in which one ticket has a type.
    pub typed_share: f64,
    pub codes: Vec<String>,
    /// The share of orders with one of the codes.
    pub code_share: f64,
}

/// One on-sale. Start from [`LoadPlan::for_schedule`] and override fields.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    pub fans: u32,
    pub schedule: ScheduleId,
    /// Each fan wants one to this many seats; clamped to one to four.
    pub seats_per_fan_max: u32,
    pub favour: Favour,
    /// How often a fan tries other seats after losing a race.
    pub picks_max: u32,
    /// The share (0 to 1) of fans who release their seats instead of paying.
    pub abandon_share: f64,
    /// The share of fans who pay by card at the sandbox gateway; the others use their wallets.
    pub card_share: f64,
    /// The share of fans whose card is declined. They pay by card regardless of `card_share`.
    pub decline_share: f64,
    /// The share of cards that are charged, but whose answer is lost.
    pub late_share: f64,
    /// How many webhooks the gateway sends per order, before and after its confirmation.
    pub webhooks: u32,
    pub arrival: Arrival,
    /// The share of bots: they have no think time, and want the front.
    pub bot_share: f64,
    /// A pause before every step that a person would think about.
    pub think_time: Duration,
    /// An upper bound on the server's `pollAfterMs`, for quick runs.
    pub poll_cap: Option<Duration>,
    /// A fan who isn't admitted for this long gives up.
    pub patience: Duration,
    /// Whether a waiting fan leaves on learning that every seat is sold.
    pub leaves_when_sold_out: bool,
    /// How often a call is retried, with the same key, after a 5xx or no answer.
    pub trouble_retries: u32,
    /// The phases in order; none for a sale that has none. Fans without a part wait for the last.
    pub phases: Vec<PhasePart>,
    pub checkout: CheckoutPlan,
    pub seed: u64,
}

impl LoadPlan {
    /// A hundred fans at once, without think time, paying from their wallets.
    pub fn for_schedule(schedule: ScheduleId) -> LoadPlan {
        LoadPlan {
            fans: 100,
            schedule,
            seats_per_fan_max: 2,
            favour: Favour::Anywhere,
            picks_max: 10,
            abandon_share: 0.0,
            card_share: 0.0,
            decline_share: 0.0,
            late_share: 0.0,
            webhooks: 0,
            arrival: Arrival::AtOnce,
            bot_share: 0.0,
            think_time: Duration::ZERO,
            poll_cap: None,
            patience: Duration::from_secs(600),
            leaves_when_sold_out: false,
            trouble_retries: 2,
            phases: Vec::new(),
            checkout: CheckoutPlan::default(),
            seed: 0,
        }
    }

    /// The phase that a fan waits for, and its place in the list.
    pub(crate) fn part_of(&self, fan: u32) -> Option<(usize, &PhasePart)> {
        let mut first = 0;
        let mine = |part: &PhasePart| {
            first += part.fans;
            fan < first
        };
        let index = self.phases.iter().position(mine).or(self.phases.len().checked_sub(1))?;
        Some((index, &self.phases[index]))
    }

    /// Each fan's arrival after the opening; sorted.
    pub(crate) fn arrivals(&self) -> Vec<Duration> {
        let length = match self.arrival {
            Arrival::AtOnce => Duration::ZERO,
            Arrival::Over(length) | Arrival::Rush(length) => length,
        };
        let is_rush = matches!(self.arrival, Arrival::Rush(_));
        let length_us = u64::try_from(length.as_micros()).unwrap_or(u64::MAX);
        let mut rng = Rng::new(self.seed);
        let mut arrivals: Vec<Duration> =
            (0..self.fans).map(|_| Duration::from_micros(rng.below(length_us))).collect();
        if is_rush {
            // The cube of a uniform value: half of the fans in the first eighth of the time.
            let early = |moment: Duration| {
                let share = moment.as_secs_f64() / length.as_secs_f64().max(f64::MIN_POSITIVE);
                length.mul_f64(share.powi(3))
            };
            arrivals.iter_mut().for_each(|moment| *moment = early(*moment));
        }
        arrivals.sort_unstable();
        arrivals
    }

    pub(crate) fn wish_of(&self, fan: u32) -> FanPlan {
        let mut rng = Rng::of_fan(self.seed, fan);
        let seats_max = u64::from(self.seats_per_fan_max).clamp(1, SEATS_PER_ORDER as u64);
        let n_seats = rng.within(1..=seats_max) as usize;
        let abandons = rng.happens(self.abandon_share);
        let is_declined = rng.happens(self.decline_share);
        let has_card = rng.happens(self.card_share);
        let payment = match (is_declined, has_card) {
            (true, _) => Means::BadCard,
            (false, true) => Means::Card,
            (false, false) => Means::Wallet,
        };
        // Plans without bots keep their earlier random sequence.
        let is_bot = self.bot_share > 0.0 && rng.happens(self.bot_share);
        let is_late = self.late_share > 0.0 && rng.happens(self.late_share);
        let payment = match payment {
            Means::Card if is_late => Means::LateCard,
            Means::Wallet | Means::Card | Means::LateCard | Means::BadCard => payment,
        };
        let CheckoutPlan { typed_share, code_share, .. } = self.checkout;
        let has_type = typed_share > 0.0 && rng.happens(typed_share);
        let has_code = code_share > 0.0 && rng.happens(code_share);
        FanPlan { n_seats, abandons, payment, is_bot, has_type, has_code, rng }
    }
}

/// One fan's plan, decided by the seed before anything happens.
#[derive(Clone, Debug)]
pub(crate) struct FanPlan {
    pub(crate) n_seats: usize,
    pub(crate) abandons: bool,
    pub(crate) payment: Means,
    pub(crate) is_bot: bool,
    /// Chooses a ticket type.
    pub(crate) has_type: bool,
    /// Enters a code.
    pub(crate) has_code: bool,
    /// The rest of the fan's random stream, for the choice of seats.
    pub(crate) rng: Rng,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Means {
    Wallet,
    Card,
    LateCard,
    BadCard,
}

/// Picks up to `n_seats` free seats of the packed map; none if nothing is free.
pub(crate) fn pick_seats(packed: &[u8], favour: Favour, n_seats: usize, rng: &mut Rng) -> Vec<u32> {
    match favour {
        Favour::Front => free_seats(packed).take(n_seats).collect(),
        Favour::Anywhere => {
            let mut free: Vec<u32> = free_seats(packed).collect();
            let n_seats = n_seats.min(free.len());
            // The first steps of a shuffle: a uniform sample of as many as needed.
            for place in 0..n_seats {
                let other = place + rng.below((free.len() - place) as u64) as usize;
                free.swap(place, other);
            }
            free.truncate(n_seats);
            free
        }
    }
}

/// Two bits a seat, of which `00` is a free one.
fn free_seats(packed: &[u8]) -> impl Iterator<Item = u32> + '_ {
    (0..).zip(packed).flat_map(|(at, four)| {
        (0..4).filter(move |seat| (four >> (2 * seat)) & 0b11 == 0).map(move |seat| at * 4 + seat)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn plan() -> LoadPlan {
        LoadPlan::for_schedule(ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 64)))
    }

    #[test]
    fn fans_come_when_the_seed_says_and_within_the_time() {
        let length = Duration::from_secs(10);
        let plan = LoadPlan { arrival: Arrival::Over(length), ..plan() };
        let arrivals = plan.arrivals();
        assert_eq!(arrivals, plan.arrivals());
        assert!(arrivals.is_sorted() && arrivals.iter().all(|moment| *moment < length));
        assert!(arrivals[99] > length / 2, "spread over the time, not crowded at its start");
    }

    #[test]
    fn in_a_rush_half_of_the_fans_come_in_the_first_eighth() {
        let length = Duration::from_secs(80);
        let plan = LoadPlan { fans: 1_000, arrival: Arrival::Rush(length), ..plan() };
        let arrivals = plan.arrivals();
        let early = arrivals.iter().filter(|moment| **moment < length / 8).count();
        assert!(arrivals.is_sorted() && (450..550).contains(&early), "{early}");
    }

    #[test]
    fn as_many_fans_are_programs_as_the_plan_says() {
        let plan = LoadPlan { bot_share: 0.3, ..plan() };
        let bots = (0..1_000).filter(|fan| plan.wish_of(*fan).is_bot).count();
        assert!((250..350).contains(&bots), "{bots}");
    }

    #[test]
    fn fans_wait_for_the_phases_in_order_and_the_rest_for_the_last() {
        let part = |number| PhasePart {
            phase: PhaseId::new(Uuid::from_u128(number)),
            fans: 2,
            proof: None,
            seats: None,
        };
        let phased = LoadPlan { phases: vec![part(1), part(2)], ..plan() };
        let parts: Vec<usize> = (0..6).map(|fan| phased.part_of(fan).unwrap().0).collect();
        assert_eq!(parts, [0, 0, 1, 1, 1, 1]);
        assert!(plan().part_of(0).is_none());
    }

    #[test]
    fn a_fan_wants_one_to_four_seats_whatever_the_plan_says() {
        let plan = LoadPlan { seats_per_fan_max: 9, ..plan() };
        let wants: Vec<usize> = (0..200).map(|fan| plan.wish_of(fan).n_seats).collect();
        assert!((1..=4).all(|n_seats| wants.contains(&n_seats)) && !wants.contains(&5));
    }

    /// One byte of the map: up to four seats, then no seat.
    fn packed(four: &str) -> Vec<u8> {
        let bits = |seat: usize| match four.as_bytes().get(seat) {
            Some(b'A') => 0,
            Some(b'H') => 1,
            Some(_) => 2,
            None => 3,
        };
        vec![(0..4).fold(0, |byte, seat| byte | (bits(seat) << (2 * seat)))]
    }

    #[test]
    fn the_front_is_the_same_for_everybody() {
        let map = [packed("SHAA"), packed("SASS")].concat();
        let pick = |seed| pick_seats(&map, Favour::Front, 2, &mut Rng::new(seed));
        assert_eq!(pick(1), vec![2, 3]);
        assert_eq!(pick(2), vec![2, 3]);
    }

    #[test]
    fn seats_anywhere_are_free_ones_and_none_twice() {
        let map = [packed("SAHA"), packed("AAS")].concat();
        for seed in 0..50 {
            let mut seats = pick_seats(&map, Favour::Anywhere, 3, &mut Rng::new(seed));
            seats.sort_unstable();
            seats.dedup();
            assert!(seats.len() == 3 && seats.iter().all(|seat| [1, 3, 4, 5].contains(seat)));
        }
    }

    #[test]
    fn a_fan_takes_what_is_left_and_nothing_of_a_full_hall() {
        let pick = |map: &[u8]| pick_seats(map, Favour::Anywhere, 4, &mut Rng::new(1));
        assert_eq!(pick(&packed("SSAS")), vec![2]);
        assert!(pick(&packed("SSHS")).is_empty() && pick(&[]).is_empty());
    }
}
