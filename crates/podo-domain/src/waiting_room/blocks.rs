//! Place numbers and lobby indexes come from blocks that the store reserves, each for one epoch of
//! one engine. An engine that lost its last writes no longer knows which numbers it issued; all of
//! them are below what is reserved, so its next block contains none of them.

use crate::Timestamp;
use crate::waiting_room::PlaceNumber;
use std::ops::Range;

/// A thousand numbers per millisecond: a schedule's numbers start above all that were issued while
/// engines numbered by the clock alone.
const NUMBERS_PER_MS: u64 = 1_000;

/// How many numbers or indexes are reserved at once: as many as are already reserved, so that a
/// crowd costs few calls, within these limits.
const BLOCK_MIN: u64 = 1_000;
const BLOCK_MAX: u64 = 64_000;

/// The decided order of the lobby: index `i` has the number `first + ranks[i]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// How many indexes it covered. Some of them may be unused.
    pub n_drawn: u32,
    pub first: PlaceNumber,
}

impl Draw {
    /// Whether the draw issued this number.
    pub fn contains(&self, number: PlaceNumber) -> bool {
        (self.first..self.first + u64::from(self.n_drawn)).contains(&number)
    }
}

/// What an engine needs to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The engine knows that numbers below `above` were issued, perhaps by an earlier version that
    /// numbered by the clock.
    Numbers {
        above: PlaceNumber,
    },
    Indexes,
    /// It's time to draw: the engine knows `n_gathered` indexes, from a block that starts at
    /// `block`.
    Draw {
        n_gathered: u32,
        block: u32,
        above: PlaceNumber,
    },
}

/// What is reserved for the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    pub numbers: Option<Range<PlaceNumber>>,
    pub indexes: Option<Range<u32>>,
    /// The draw, once it's decided, whatever was requested.
    pub draw: Option<Draw>,
}

/// The reservations of one schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    pub numbers_from: PlaceNumber,
    /// Every number that any engine issued is smaller.
    pub numbers_to: PlaceNumber,
    /// The start of the last block of indexes.
    pub indexes_from: u32,
    /// Every index that any engine issued is smaller.
    pub indexes_to: u32,
    pub draw: Option<Draw>,
}

impl Blocks {
    /// Nothing is reserved yet.
    pub fn starting(now: Timestamp) -> Blocks {
        let first = u64::try_from(now.ms()).unwrap_or(0) * NUMBERS_PER_MS;
        let (numbers_from, numbers_to) = (first, first);
        Blocks { numbers_from, numbers_to, indexes_from: 0, indexes_to: 0, draw: None }
    }

    /// Reserves what is needed. The draw is decided once, whichever engine asks and however often.
    pub fn grant(&mut self, need: Need) -> Grant {
        let mut grant = Grant::default();
        match need {
            Need::Numbers { above } => grant.numbers = Some(self.next_numbers(above)),
            // An engine that still gathers after the draw has lost it.
            Need::Indexes if self.draw.is_some() => (),
            Need::Indexes => grant.indexes = Some(self.next_indexes()),
            Need::Draw { .. } if self.draw.is_some() => (),
            Need::Draw { n_gathered, block, above } => {
                let n_drawn = self.n_to_draw(n_gathered, block);
                let first = self.numbers_to.max(above);
                self.draw = Some(Draw { n_drawn, first });
                self.numbers_to = first + u64::from(n_drawn);
            }
        }
        grant.draw = self.draw;
        grant
    }

    /// Only the engine that issues indexes from the last block knows the last one. Otherwise the
    /// draw covers all that may have been issued.
    fn n_to_draw(&self, n_gathered: u32, block: u32) -> u32 {
        let is_last = block == self.indexes_from && n_gathered <= self.indexes_to;
        if is_last { n_gathered } else { self.indexes_to.max(n_gathered) }
    }

    fn next_numbers(&mut self, above: PlaceNumber) -> Range<PlaceNumber> {
        let length = length_after(self.numbers_to - self.numbers_from);
        let from = self.numbers_to.max(above);
        self.numbers_to = from + length;
        from..self.numbers_to
    }

    fn next_indexes(&mut self) -> Range<u32> {
        self.indexes_from = self.indexes_to;
        let length = u32::try_from(length_after(self.indexes_to.into())).unwrap_or(u32::MAX);
        self.indexes_to = self.indexes_to.saturating_add(length);
        self.indexes_from..self.indexes_to
    }
}

fn length_after(n_reserved: u64) -> u64 {
    n_reserved.clamp(BLOCK_MIN, BLOCK_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const START: Timestamp = Timestamp::from_ms(1_900_000_000_000);

    #[test]
    fn a_million_fans_cost_a_few_blocks() {
        let mut blocks = Blocks::starting(START);
        let n_blocks = (1..).find(|_| {
            blocks.grant(Need::Numbers { above: 0 });
            blocks.numbers_to - blocks.numbers_from >= 1_000_000
        });
        assert_eq!(n_blocks, Some(22));
    }

    #[test]
    fn the_draw_is_decided_once_and_over_everybody_who_may_have_gathered() {
        let mut blocks = Blocks::starting(START);
        let first = blocks.grant(Need::Indexes).indexes.unwrap();
        let draw = |n_gathered, block| Need::Draw { n_gathered, block, above: 0 };
        let mut exact = blocks;
        let drawn = exact.grant(draw(60, first.start)).draw.unwrap();
        assert_eq!(drawn.n_drawn, 60, "no other engine issued indexes");
        assert_eq!(
            exact.grant(draw(70, 0)).draw,
            Some(drawn),
            "a second engine gets the same draw"
        );
        assert_eq!(exact.grant(Need::Indexes).indexes, None, "the lobby is closed for good");
        let later = exact.grant(Need::Numbers { above: 0 }).numbers.unwrap();
        assert_eq!(later.start, drawn.first + 60, "later arrivals are behind");

        let second = blocks.grant(Need::Indexes).indexes.unwrap();
        let drawn = blocks.grant(draw(60, first.start)).draw.unwrap();
        assert_eq!(drawn.n_drawn, second.end, "another engine issues indexes too");
    }

    /// Before, within and after what is reserved.
    fn any_above() -> impl Strategy<Value = PlaceNumber> {
        let first = Blocks::starting(START).numbers_from;
        first - 2_000..first + 60_000
    }

    fn any_need() -> impl Strategy<Value = Need> {
        prop_oneof![
            any_above().prop_map(|above| Need::Numbers { above }),
            Just(Need::Indexes),
            (0_u32..3_000, 0_u32..3_000, any_above())
                .prop_map(|(n_gathered, block, above)| Need::Draw { n_gathered, block, above }),
        ]
    }

    proptest! {
        #[test]
        fn nothing_is_reserved_twice(needs in prop::collection::vec(any_need(), 1..60)) {
            let mut blocks = Blocks::starting(START);
            let (mut numbers_to, mut indexes_to) = (blocks.numbers_to, 0);
            let mut draw = None;
            for need in needs {
                let grant = blocks.grant(need);
                if draw.is_none() && let Some(drawn) = grant.draw {
                    prop_assert!(numbers_to <= drawn.first);

                    numbers_to = drawn.first + u64::from(drawn.n_drawn);
                }
                draw = draw.or(grant.draw);
                prop_assert_eq!(grant.draw, draw);
                if let Some(numbers) = grant.numbers {
                    prop_assert!(numbers_to <= numbers.start && numbers.start < numbers.end);
                    let Need::Numbers { above } = need else { panic!("not asked for") };
                    prop_assert!(above <= numbers.start);
                    numbers_to = numbers.end;
                }
                if let Some(indexes) = grant.indexes {
                    prop_assert!(indexes_to <= indexes.start && indexes.start < indexes.end);
                    indexes_to = indexes.end;
                }
            }
        }
    }
}
