//! Numbers that fans restored from an earlier run of the process.
//!
//! They come in any order and from any range, so they are kept sorted in chunks: a change moves one
//! chunk's numbers, and a position sums the chunks' lengths.

use podo_domain::waiting_room::PlaceNumber;

/// A chunk that reaches this length is split in half.
const CHUNK_LENGTH_MAX: usize = 1_024;

#[derive(Clone, Default)]
pub(crate) struct Returned {
    /// Sorted within and across chunks; none is empty.
    chunks: Vec<Vec<PlaceNumber>>,
    n_waiting: u64,
}

impl Returned {
    pub(crate) fn len(&self) -> u64 {
        self.n_waiting
    }

    #[cfg(test)]
    fn contains(&self, number: PlaceNumber) -> bool {
        let chunk = self.chunks.get(self.chunk_of(number));
        chunk.is_some_and(|chunk| chunk.binary_search(&number).is_ok())
    }

    /// False if it was present.
    pub(crate) fn insert(&mut self, number: PlaceNumber) -> bool {
        if self.chunks.is_empty() {
            self.chunks.push(Vec::new());
        }
        let at = self.chunk_of(number);
        let chunk = &mut self.chunks[at];
        let Err(place) = chunk.binary_search(&number) else { return false };
        chunk.insert(place, number);
        self.n_waiting += 1;
        if chunk.len() >= CHUNK_LENGTH_MAX {
            let upper = chunk.split_off(CHUNK_LENGTH_MAX / 2);
            self.chunks.insert(at + 1, upper);
        }
        true
    }

    /// False if it was absent.
    pub(crate) fn remove(&mut self, number: PlaceNumber) -> bool {
        let at = self.chunk_of(number);
        let Some(chunk) = self.chunks.get_mut(at) else { return false };
        let Ok(place) = chunk.binary_search(&number) else { return false };
        chunk.remove(place);
        self.n_waiting -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
        true
    }

    /// How many numbers are smaller.
    pub(crate) fn count_below(&self, number: PlaceNumber) -> u64 {
        let at = self.chunk_of(number);
        let Some(chunk) = self.chunks.get(at) else { return 0 };
        let before: usize = self.chunks[..at].iter().map(Vec::len).sum();
        (before + chunk.partition_point(|other| *other < number)) as u64
    }

    pub(crate) fn first(&self) -> Option<PlaceNumber> {
        self.chunks.first().and_then(|chunk| chunk.first()).copied()
    }

    /// The last chunk that begins at or before the number, or the first chunk.
    fn chunk_of(&self, number: PlaceNumber) -> usize {
        self.chunks
            .partition_point(|chunk| chunk.first().is_some_and(|first| *first <= number))
            .saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn many_numbers_in_any_order_are_counted_exactly() {
        let mut returned = Returned::default();
        for step in 0..20_000_u64 {
            assert!(returned.insert(step * 7_919 % 20_011));
        }
        assert_eq!(returned.len(), 20_000);
        assert!(returned.chunks.len() > 20);
        let missing = (0..20_011_u64).filter(|number| returned.insert(*number)).count();
        assert_eq!(missing, 11);
        assert!((0..20_011).all(|number| returned.count_below(number) == number));
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers(steps in prop::collection::vec((any::<bool>(), 0_u64..60), 0..300)) {
            let (mut returned, mut model) = (Returned::default(), BTreeSet::new());
            for (insert, number) in steps {
                let (changed, expected) = match insert {
                    true => (returned.insert(number), model.insert(number)),
                    false => (returned.remove(number), model.remove(&number)),
                };
                prop_assert_eq!(changed, expected);
                prop_assert_eq!(returned.contains(number), insert);
                prop_assert_eq!(returned.first(), model.first().copied());
                prop_assert_eq!(returned.count_below(number), model.range(..number).count() as u64);
                prop_assert_eq!(returned.len(), model.len() as u64);
            }
        }
    }
}
