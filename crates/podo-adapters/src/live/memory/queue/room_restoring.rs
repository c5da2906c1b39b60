//! Opens a room that is new, was lost, or lost its last writes.

use crate::live::memory::queue::room::{Epoch, Opening, QueuePlace, Room};
use podo_app::waiting_room::port::queue::{Admission, FanPlace, Remembered, Survivors};
use podo_domain::waiting_room::{Blocks, Draw, PlaceNumber, QueueRules};
use podo_domain::{Timestamp, UserId};

impl Room {
    pub(crate) fn survivors(&mut self, now: Timestamp) -> Survivors {
        self.sweep(now);
        let front = self.line.front();
        Survivors { oldest_inside: self.entries.oldest().unwrap_or(front), front }
    }

    /// Opens the room in this epoch.
    pub(crate) fn restore(
        &mut self,
        rules: &QueueRules,
        blocks: &Blocks,
        remembered: &Remembered,
        epoch: Epoch,
        now: Timestamp,
    ) {
        let is_open = self.is_open_in(epoch);
        if !is_open {
            self.invalidate_blocks(blocks, now);
        }
        self.sweep(now);
        for FanPlace { fan, number } in &remembered.over {
            if self.believes_in(*fan, *number, blocks.draw) {
                self.leave(*fan, now);
            }
        }
        // Fans admitted before the room was lost keep their entries, however many they are. But if
        // the room is already open, their slots may have gone to others.
        let n_max = is_open.then_some(rules.settings.max_active as usize);
        for admission in &remembered.inside {
            self.restore_entry(admission, n_max, now);
        }
        if let Some(draw) = blocks.draw {
            self.take_draw(draw, &rules.draw_seed);
        }
        (self.opened_in, self.is_stale) = (Some(epoch), false);
        self.sweep(now);
    }

    /// Handles possibly missing writes: the rest of the blocks may have been assigned, and other
    /// fans may be on their way back.
    fn invalidate_blocks(&mut self, blocks: &Blocks, now: Timestamp) {
        if let Opening::Ahead(lobby) = &mut self.opening {
            lobby.drop_block(blocks.indexes_to);
        }
        if self.opened_in.is_some() {
            self.line.drop_block();
            self.opened_at = now;
            self.has_returned = true;
        }
    }

    /// Whether the room still has the fan at this place, which the store knows to be over.
    fn believes_in(&self, fan: UserId, number: PlaceNumber, draw: Option<Draw>) -> bool {
        match self.places.get(&fan).map(|place| place.place()) {
            Some(QueuePlace::Line(known)) => known == number,
            // The fan was admitted with a drawn number that the room doesn't know.
            Some(QueuePlace::Lobby(_)) => draw.is_some_and(|draw| draw.contains(number)),
            None => self.entries.number_of(fan) == Some(number),
        }
    }

    fn restore_entry(
        &mut self,
        Admission { fan, entry }: &Admission,
        n_max: Option<usize>,
        now: Timestamp,
    ) {
        let (fan, number) = (*fan, entry.number);
        if !entry.is_live(now) {
            return;
        }
        if let Some(known) = self.entries.get(fan) {
            // The lost writes may include the claim and an extension.
            let is_longer = known.expires_at < entry.expires_at;
            if known.number == number && (is_longer || n_max.is_none()) {
                self.entries.set(fan, if is_longer { *entry } else { known });
            }
            if known.number == number || known.is_live(now) {
                return;
            }
            self.entries.remove(fan);
        }
        // A fan who waits at the number was admitted since, and so was the fan of a drawn number
        // that the room reserves. Any other number that is assigned or spent and not in line
        // belongs to a fan who was restored before.
        let is_waiting = matches!(self.places.get(&fan).map(|place| place.place()),
            Some(QueuePlace::Line(known)) if known == number);
        let is_unclaimed =
            matches!(&self.opening, Opening::Drawn(drawn) if drawn.unclaimed.contains(&number));
        let is_lost = is_waiting || is_unclaimed || self.line.is_free(number);
        if !is_lost || n_max.is_some_and(|n_max| n_max <= self.entries.len()) {
            return;
        }
        // A fan who came back before their entry was restored waits in line for the slot that they
        // have.
        if self.places.contains_key(&fan) {
            self.leave(fan, now);
        }
        if let Opening::Drawn(drawn) = &mut self.opening {
            drawn.unclaimed.remove(&number);
        }
        if !self.line.was_given(number) {
            self.line.mark_spent(number);
        }
        // The claim may be lost, and expelling a fan who is choosing seats is worse than an idle
        // slot.
        self.entries.add(fan, *entry, true);
    }
}
