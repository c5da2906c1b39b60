//! The waiting numbers of a room's current run, with fast counts.
//!
//! One bit per number, 512 bits per block, and a Fenwick tree over the blocks' counts: with a
//! million fans waiting, a position is twelve additions and eight words, not a scan.

const BITS_PER_WORD: usize = 64;
const WORDS_PER_BLOCK: usize = 8;
const BITS_PER_BLOCK: usize = BITS_PER_WORD * WORDS_PER_BLOCK;

/// A set of offsets, dense from 0 on.
#[derive(Default)]
pub(crate) struct ReplicaIndex {
    blocks: Vec<[u64; WORDS_PER_BLOCK]>,
    /// Node `i`, from 1 on, counts the blocks `i - lowbit(i)` to `i - 1`; node 0 is unused.
    tree: Vec<u32>,
    n_waiting: u64,
}

impl ReplicaIndex {
    pub(crate) fn len(&self) -> u64 {
        self.n_waiting
    }

    pub(crate) fn contains(&self, offset: usize) -> bool {
        let (block, word, bit) = place(offset);
        self.blocks.get(block).is_some_and(|words| words[word] & bit != 0)
    }

    /// False if it was present.
    pub(crate) fn insert(&mut self, offset: usize) -> bool {
        self.grow_to_hold(offset);
        let (block, word, bit) = place(offset);
        let word = &mut self.blocks[block][word];
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.n_waiting += 1;
        let mut node = block + 1;
        while node < self.tree.len() {
            self.tree[node] += 1;
            node += lowbit(node);
        }
        true
    }

    /// False if it was absent.
    pub(crate) fn remove(&mut self, offset: usize) -> bool {
        let (block, word, bit) = place(offset);
        let Some(words) = self.blocks.get_mut(block) else { return false };
        if words[word] & bit == 0 {
            return false;
        }
        words[word] &= !bit;
        self.n_waiting -= 1;
        let mut node = block + 1;
        while node < self.tree.len() {
            self.tree[node] -= 1;
            node += lowbit(node);
        }
        true
    }

    /// How many offsets are smaller.
    pub(crate) fn count_below(&self, offset: usize) -> u64 {
        let (block, word, bit) = place(offset);
        let Some(words) = self.blocks.get(block) else { return self.n_waiting };
        let mut count = u64::from((words[word] & (bit - 1)).count_ones());
        count += words[..word].iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let mut node = block;
        while node > 0 {
            count += u64::from(self.tree[node]);
            node -= lowbit(node);
        }
        count
    }

    pub(crate) fn first(&self) -> Option<usize> {
        if self.n_waiting == 0 {
            return None;
        }
        let block = self.first_block();
        let words = &self.blocks[block];
        let word = words.iter().position(|word| *word != 0).expect("its count is not zero");
        let bit = words[word].trailing_zeros() as usize;
        Some(block * BITS_PER_BLOCK + word * BITS_PER_WORD + bit)
    }

    /// Descends the tree past all empty blocks.
    fn first_block(&self) -> usize {
        let mut passed = 0;
        let mut step = self.blocks.len().next_power_of_two();
        while step > 0 {
            let node = passed + step;
            if node < self.tree.len() && self.tree[node] == 0 {
                passed = node;
            }
            step /= 2;
        }
        passed
    }

    fn grow_to_hold(&mut self, offset: usize) {
        if self.tree.is_empty() {
            self.tree.push(0);
        }
        while self.blocks.len() <= offset / BITS_PER_BLOCK {
            self.blocks.push([0; WORDS_PER_BLOCK]);
            // The new node counts an empty block and the nodes below it.
            let node = self.tree.len();
            let lowest = node - lowbit(node);
            let mut count = 0;
            let mut under = node - 1;
            while under > lowest {
                count += self.tree[under];
                under -= lowbit(under);
            }
            self.tree.push(count);
        }
    }
}

fn place(offset: usize) -> (usize, usize, u64) {
    let word = offset / BITS_PER_WORD;
    (word / WORDS_PER_BLOCK, word % WORDS_PER_BLOCK, 1 << (offset % BITS_PER_WORD))
}

fn lowbit(node: usize) -> usize {
    node & node.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_million_fans_are_counted_exactly() {
        let mut replica_index = ReplicaIndex::default();
        for offset in 0..1_000_000 {
            assert!(replica_index.insert(offset));
        }
        for offset in (0..1_000_000).step_by(3) {
            assert!(replica_index.remove(offset));
        }
        assert_eq!(replica_index.first(), Some(1));
        assert_eq!(replica_index.count_below(999_999), 666_666);
        assert_eq!(replica_index.count_below(300), 200);
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers(steps in prop::collection::vec((any::<bool>(), 0_usize..3_000), 0..400)) {
            let (mut replica_index, mut model) = (ReplicaIndex::default(), BTreeSet::new());
            for (insert, offset) in steps {
                let (changed, expected) = match insert {
                    true => (replica_index.insert(offset), model.insert(offset)),
                    false => (replica_index.remove(offset), model.remove(&offset)),
                };
                prop_assert_eq!(changed, expected);
                prop_assert_eq!(replica_index.contains(offset), insert);
                prop_assert_eq!(replica_index.first(), model.first().copied());
                prop_assert_eq!(replica_index.count_below(offset), model.range(..offset).count() as u64);
                prop_assert_eq!(replica_index.count_below(9_999), model.len() as u64);
                prop_assert_eq!(replica_index.len(), model.len() as u64);
            }
        }
    }
}
