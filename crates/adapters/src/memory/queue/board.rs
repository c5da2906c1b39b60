//! The numbers given in this run, on a board that anybody may read at any time: who of them still
//! waits, and how many are ahead.
//!
//! One bit per number, 512 bits to a block, and in each segment a Fenwick tree over the blocks'
//! counts. Whoever changes it holds the room's lock. Readers take no lock: they look at the count of
//! changes before and after, and look again when somebody wrote meanwhile.

use domain::queue::{PlaceNumber, Standing};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

const BITS_PER_WORD: usize = 64;
const WORDS_PER_BLOCK: usize = 8;
/// Blocks of a segment, a power of two: half a million numbers.
const BLOCKS_USUAL: usize = 1_024;
const SEGMENTS_MAX: usize = 128;

/// Whoever is disturbed this often asks the room instead.
const LOOKS_MAX: u32 = 16;

/// A number in memory that two threads may see. The tests put one in its place that tries every
/// order of steps.
pub(super) trait Cell: Default {
    fn get(&self) -> u64;
    fn set(&self, value: u64);
}

/// A reader who sees a new value has to see that a change had begun: each write is released after
/// the count of changes, each read is acquired before the count is looked at again.
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

pub(super) struct Board<C = AtomicU64, const BLOCKS: usize = BLOCKS_USUAL> {
    /// The first number of this run.
    base: PlaceNumber,
    /// How often it was changed; odd while somebody changes it.
    changes: C,
    n_waiting: C,
    /// Fans who wait with a number that is not on the board: then only the room can count.
    n_elsewhere: C,
    segments: [OnceLock<Segment<C, BLOCKS>>; SEGMENTS_MAX],
}

impl<C: Cell, const BLOCKS: usize> Board<C, BLOCKS> {
    const BITS_PER_SEGMENT: usize = BLOCKS * WORDS_PER_BLOCK * BITS_PER_WORD;

    /// Numbers further from the first than this have no place on the board: 67 million.
    const OFFSET_MAX: usize = SEGMENTS_MAX * Self::BITS_PER_SEGMENT;

    pub(super) fn starting_at(base: PlaceNumber) -> Self {
        let segments = std::array::from_fn(|_| OnceLock::new());
        Board {
            base,
            changes: C::default(),
            n_waiting: C::default(),
            n_elsewhere: C::default(),
            segments,
        }
    }

    /// Another board with the same on it. For the holder of the room's lock.
    pub(super) fn copy(&self) -> Self {
        let copy: Board<C, BLOCKS> = Board::starting_at(self.base);
        copy.n_waiting.set(self.n_waiting.get());
        copy.n_elsewhere.set(self.n_elsewhere.get());
        for (own, fresh) in self.segments.iter().zip(&copy.segments) {
            if let Some(segment) = own.get() {
                fresh.get_or_init(|| segment.copy());
            }
        }
        copy
    }

    pub(super) fn base(&self) -> PlaceNumber {
        self.base
    }

    /// Where a number of this run is on the board.
    pub(super) fn offset(&self, number: PlaceNumber) -> Option<usize> {
        let offset = usize::try_from(number.checked_sub(self.base)?).ok()?;
        (offset < Self::OFFSET_MAX).then_some(offset)
    }

    /// Where the fan with this number stands, read without a lock. Nothing when the number does not
    /// wait, or when the room has to be asked.
    pub(super) fn standing(&self, number: PlaceNumber) -> Option<Standing> {
        let offset = self.offset(number)?;
        for _ in 0..LOOKS_MAX {
            let before = self.changes.get();
            let seen = before.is_multiple_of(2).then(|| self.look(offset, number));
            if let Some(standing) = seen.filter(|_| self.changes.get() == before) {
                return standing;
            }
            std::hint::spin_loop();
        }
        None
    }

    fn look(&self, offset: usize, number: PlaceNumber) -> Option<Standing> {
        if self.n_elsewhere.get() > 0 || !self.contains(offset) {
            return None;
        }
        let ahead = self.count_below(offset);
        // Torn reads can make nonsense; they are thrown away by the caller.
        let behind = self.n_waiting.get().saturating_sub(ahead + 1);
        Some(Standing::Waiting { number, ahead, behind })
    }

    pub(super) fn len(&self) -> u64 {
        self.n_waiting.get()
    }

    pub(super) fn contains(&self, offset: usize) -> bool {
        let (segment, bit) = (offset / Self::BITS_PER_SEGMENT, offset % Self::BITS_PER_SEGMENT);
        let segment = self.segments.get(segment).and_then(OnceLock::get);
        segment.is_some_and(|segment| {
            segment.words[bit / BITS_PER_WORD].get() >> (bit % BITS_PER_WORD) & 1 == 1
        })
    }

    /// How many are smaller than this one.
    pub(super) fn count_below(&self, offset: usize) -> u64 {
        let (at, bit) = (offset / Self::BITS_PER_SEGMENT, offset % Self::BITS_PER_SEGMENT);
        let made = self.segments.iter().map_while(OnceLock::get).take(at + 1).enumerate();
        made.map(|(index, it)| if index < at { it.len() } else { it.count_below(bit) }).sum()
    }

    pub(super) fn first(&self) -> Option<usize> {
        let made = self.segments.iter().map_while(OnceLock::get).enumerate();
        let (at, segment) = made.into_iter().find(|(_, segment)| segment.len() > 0)?;
        segment.first().map(|bit| at * Self::BITS_PER_SEGMENT + bit)
    }

    /// For the holder of the room's lock. False when it was there before.
    pub(super) fn insert(&self, offset: usize) -> bool {
        self.flip(offset, true)
    }

    /// For the holder of the room's lock. False when it was not there.
    pub(super) fn remove(&self, offset: usize) -> bool {
        self.flip(offset, false)
    }

    /// For the holder of the room's lock.
    pub(super) fn set_elsewhere(&self, n_fans: u64) {
        self.change(|| self.n_elsewhere.set(n_fans));
    }

    fn flip(&self, offset: usize, is_there: bool) -> bool {
        if self.contains(offset) == is_there {
            return false;
        }
        let (at, bit) = (offset / Self::BITS_PER_SEGMENT, offset % Self::BITS_PER_SEGMENT);
        // Segments before this one are made too: readers stop at the first that is missing.
        for segment in &self.segments[..=at] {
            segment.get_or_init(Segment::empty);
        }
        let segment = self.segments[at].get().expect("it was made above");
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
mod tests;
