//! An index of the numbers assigned in this run, readable without a lock: which of them still wait,
//! and how many are ahead. The engine in memory and the nodes' replicas of Redis rooms use it.
//!
//! One bit per number, 512 bits per block, and in each segment a Fenwick tree over the blocks'
//! counts. Writers hold the room's lock. Readers take no lock: they compare the change counter
//! before and after, and retry if a write happened meanwhile (a seqlock).

use podo_domain::waiting_room::{PlaceNumber, QueuePosition};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

const BITS_PER_WORD: usize = 64;
const WORDS_PER_BLOCK: usize = 8;
/// Blocks per segment, a power of two: half a million numbers.
const BLOCKS_USUAL: usize = 1_024;
const SEGMENTS_MAX: usize = 128;

/// A reader that is disturbed this often falls back to the room.
const LOOKS_MAX: u32 = 16;

/// A shared integer. The tests substitute one that explores every interleaving.
pub(crate) trait Cell: Default {
    fn get(&self) -> u64;
    fn set(&self, value: u64);
}

/// A reader that sees a new value must also see that a change had begun: each write is released
/// after the change counter, and each read is acquired before the counter is read again.
impl Cell for AtomicU64 {
    fn get(&self) -> u64 {
        self.load(Ordering::Acquire)
    }

    fn set(&self, value: u64) {
        self.store(value, Ordering::Release);
    }
}

struct Segment<C, const BLOCKS: usize> {
    words: Box<[C]>,
    /// Node `i`, from 1 on, counts the blocks `i - lowbit(i)` to `i - 1`; the last counts all.
    tree: Box<[C]>,
}

impl<C: Cell, const BLOCKS: usize> Segment<C, BLOCKS> {
    fn empty() -> Segment<C, BLOCKS> {
        let cells = |n_cells| (0..n_cells).map(|_| C::default()).collect();
        Segment { words: cells(BLOCKS * WORDS_PER_BLOCK), tree: cells(BLOCKS + 1) }
    }

    fn copy(&self) -> Segment<C, BLOCKS> {
        let copy = |cells: &[C]| {
            let fresh = |cell: &C| {
                let fresh = C::default();
                fresh.set(cell.get());
                fresh
            };
            cells.iter().map(fresh).collect()
        };
        Segment { words: copy(&self.words), tree: copy(&self.tree) }
    }

    fn len(&self) -> u64 {
        self.tree[BLOCKS].get()
    }

    fn add(&self, block: usize, change: u64) {
        let mut node = block + 1;
        while node <= BLOCKS {
            self.tree[node].set(self.tree[node].get().wrapping_add(change));
            node += lowbit(node);
        }
    }

    fn count_below(&self, bit: usize) -> u64 {
        let (word, mask) = (bit / BITS_PER_WORD, (1_u64 << (bit % BITS_PER_WORD)) - 1);
        let block = word / WORDS_PER_BLOCK;
        let mut count = u64::from((self.words[word].get() & mask).count_ones());
        for word in &self.words[block * WORDS_PER_BLOCK..word] {
            count += u64::from(word.get().count_ones());
        }
        let mut node = block;
        while node > 0 {
            count += self.tree[node].get();
            node -= lowbit(node);
        }
        count
    }

    fn first(&self) -> Option<usize> {
        let mut passed = 0;
        let mut step = BLOCKS;
        while step > 0 {
            if self.tree.get(passed + step).is_some_and(|node| node.get() == 0) {
                passed += step;
            }
            step /= 2;
        }
        let words = self.words.get(passed * WORDS_PER_BLOCK..)?.iter().enumerate();
        let (word, bits) = words.map(|(at, word)| (at, word.get())).find(|(_, bits)| *bits != 0)?;
        Some((passed * WORDS_PER_BLOCK + word) * BITS_PER_WORD + bits.trailing_zeros() as usize)
    }
}

fn lowbit(node: usize) -> usize {
    node & node.wrapping_neg()
}

pub(crate) struct WaitingIndex<C = AtomicU64, const BLOCKS: usize = BLOCKS_USUAL> {
    /// The first number of this run.
    base: PlaceNumber,
    /// The change counter; odd during a change.
    changes: C,
    n_waiting: C,
    /// Fans who wait with a number outside the index; then only the room can count.
    n_elsewhere: C,
    /// `SEGMENTS_MAX` of them, each created when its first number is assigned.
    segments: Box<[OnceLock<Segment<C, BLOCKS>>]>,
}

impl<C: Cell, const BLOCKS: usize> WaitingIndex<C, BLOCKS> {
    const BITS_PER_SEGMENT: usize = BLOCKS * WORDS_PER_BLOCK * BITS_PER_WORD;

    /// Numbers further from the first than this don't fit into the index: 67 million.
    pub(crate) const OFFSET_MAX: usize = SEGMENTS_MAX * Self::BITS_PER_SEGMENT;

    pub(crate) fn starting_at(base: PlaceNumber) -> Self {
        let segments = (0..SEGMENTS_MAX).map(|_| OnceLock::new()).collect();
        WaitingIndex {
            base,
            changes: C::default(),
            n_waiting: C::default(),
            n_elsewhere: C::default(),
            segments,
        }
    }

    /// A copy of the index. The caller holds the room's lock.
    pub(crate) fn copy(&self) -> Self {
        let copy: WaitingIndex<C, BLOCKS> = WaitingIndex::starting_at(self.base);
        copy.n_waiting.set(self.n_waiting.get());
        copy.n_elsewhere.set(self.n_elsewhere.get());
        for (own, fresh) in self.segments.iter().zip(&copy.segments) {
            if let Some(segment) = own.get() {
                fresh.get_or_init(|| segment.copy());
            }
        }
        copy
    }

    pub(crate) fn base(&self) -> PlaceNumber {
        self.base
    }

    /// The offset of a number of this run.
    pub(crate) fn offset(&self, number: PlaceNumber) -> Option<usize> {
        let offset = usize::try_from(number.checked_sub(self.base)?).ok()?;
        (offset < Self::OFFSET_MAX).then_some(offset)
    }

    /// The position of the fan with this number, read without a lock. None if the number doesn't
    /// wait, or if the room has to answer.
    pub(crate) fn position(&self, number: PlaceNumber) -> Option<QueuePosition> {
        let offset = self.offset(number)?;
        for _ in 0..LOOKS_MAX {
            let before = self.changes.get();
            let seen = before.is_multiple_of(2).then(|| self.look(offset, number));
            if let Some(position) = seen.filter(|_| self.changes.get() == before) {
                return position;
            }
            std::hint::spin_loop();
        }
        None
    }

    fn look(&self, offset: usize, number: PlaceNumber) -> Option<QueuePosition> {
        if self.n_elsewhere.get() > 0 || !self.contains(offset) {
            return None;
        }
        let ahead = self.count_below(offset);
        // Torn reads can yield nonsense, which the caller discards.
        let behind = self.n_waiting.get().saturating_sub(ahead + 1);
        Some(QueuePosition::Waiting { number, ahead, behind })
    }

    pub(crate) fn len(&self) -> u64 {
        self.n_waiting.get()
    }

    pub(crate) fn contains(&self, offset: usize) -> bool {
        let (segment, bit) = (offset / Self::BITS_PER_SEGMENT, offset % Self::BITS_PER_SEGMENT);
        let segment = self.segments.get(segment).and_then(OnceLock::get);
        segment.is_some_and(|segment| {
            segment.words[bit / BITS_PER_WORD].get() >> (bit % BITS_PER_WORD) & 1 == 1
        })
    }

    /// How many numbers are smaller.
    pub(crate) fn count_below(&self, offset: usize) -> u64 {
        let (at, bit) = (offset / Self::BITS_PER_SEGMENT, offset % Self::BITS_PER_SEGMENT);
        let made = self.segments.iter().map_while(OnceLock::get).take(at + 1).enumerate();
        made.map(|(index, it)| if index < at { it.len() } else { it.count_below(bit) }).sum()
    }

    pub(crate) fn first(&self) -> Option<usize> {
        let made = self.segments.iter().map_while(OnceLock::get).enumerate();
        let (at, segment) = made.into_iter().find(|(_, segment)| segment.len() > 0)?;
        segment.first().map(|bit| at * Self::BITS_PER_SEGMENT + bit)
    }

    /// The caller holds the room's lock. False if it was present.
    pub(crate) fn insert(&self, offset: usize) -> bool {
        self.flip(offset, true)
    }

    /// The caller holds the room's lock. False if it was absent.
    pub(crate) fn remove(&self, offset: usize) -> bool {
        self.flip(offset, false)
    }

    /// The caller holds the room's lock.
    pub(crate) fn set_elsewhere(&self, n_fans: u64) {
        self.change(|| self.n_elsewhere.set(n_fans));
    }

    fn flip(&self, offset: usize, is_there: bool) -> bool {
        if self.contains(offset) == is_there {
            return false;
        }
        let (at, bit) = (offset / Self::BITS_PER_SEGMENT, offset % Self::BITS_PER_SEGMENT);
        // Create the segments before this one too: readers stop at the first missing one.
        for segment in &self.segments[..=at] {
            segment.get_or_init(Segment::empty);
        }
        let segment = self.segments[at].get().expect("the segment was created above");
        let (word, mask) = (&segment.words[bit / BITS_PER_WORD], 1_u64 << (bit % BITS_PER_WORD));
        let change = if is_there { 1 } else { u64::MAX };
        self.change(|| {
            word.set(word.get() ^ mask);
            segment.add(bit / BITS_PER_WORD / WORDS_PER_BLOCK, change);
            self.n_waiting.set(self.n_waiting.get().wrapping_add(change));
        });
        true
    }

    fn change(&self, step: impl FnOnce()) {
        let before = self.changes.get();
        self.changes.set(before + 1);
        step();
        self.changes.set(before + 2);
    }
}

#[cfg(test)]
#[path = "waiting_index_tests.rs"]
mod tests;
