//! A waiting room's steps as scripts, and what some of them need first: the draw, and number blocks
//! from the store.

use crate::live::redis::Connection;
use crate::live::redis::queue::answer::ScriptReply;
use crate::live::redis::queue::busy::BusyRooms;
use crate::live::redis::queue::replica::{Moment, Tag};
use crate::live::redis::queue::replicas::CHANGES_PER_CALL;
use podo_app::waiting_room::port::blocks::QueueBlocks;
use podo_app::waiting_room::port::queue::Busy;
use podo_app::{Error, Result};
use podo_domain::waiting_room::draw;
use podo_domain::waiting_room::{
    Blocks, CLAIM_WINDOW, EXTENSIONS_MAX, LAPSED_FOR, LAPSED_MAX, LOBBY_INDEX_MAX, Need,
    OUTFLOW_SECONDS, OVERTAKING, QueueRules, RETURN_WINDOW, fans_to_admit,
};
use podo_domain::{ScheduleId, Timestamp, UserId};
use redis::{Cmd, Script, ScriptInvocation};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// In the order of `room.lua`.
const KEYS: [&str; 12] = [
    "room",
    "waiting",
    "entries",
    "slots",
    "lapsed",
    "lobby",
    "gathered",
    "unclaimed",
    "spent",
    "outflow",
    "changes",
    "drawing",
];

/// Small enough that a slice of the draw blocks the server for only 15 ms (25 at most, measured
/// with 300,000 fans on a busy machine), and that a script can pass them on: Lua unpacks 8,000
/// values at most.
const DRAWN_PER_SLICE: usize = 2_000;

/// Attempts of a step while another node draws. Attempts times pause exceeds the draw's claim in
/// `room.lua`, so that another node takes over from one that died.
const TRIES_MAX: u32 = 60;
const PAUSE: Duration = Duration::from_millis(50);
const _: () = assert!(2_000 < TRIES_MAX as u128 * PAUSE.as_millis());

pub(crate) struct Steps {
    connection: Connection,
    blocks: Arc<dyn QueueBlocks>,
    /// Held by the caller that asks the store; the others then find what they need.
    granting: tokio::sync::Mutex<()>,
    n_granted: AtomicU64,
    busy: BusyRooms,
    pub(crate) enter: Script,
    pub(crate) position: Script,
    pub(crate) leave: Script,
    pub(crate) end_entry: Script,
    pub(crate) entry: Script,
    pub(crate) extend: Script,
    pub(crate) admit: Script,
    pub(crate) survivors: Script,
    pub(crate) restore: Script,
    grant: Script,
    pub(crate) counts: Script,
    sync: Script,
    copy: Script,
    draw: Script,
}

/// The rules' constants in Lua: the scripts and the engine in memory share one definition.
fn constants() -> String {
    format!(
        "local LAPSED_FOR_MS, LAPSED_MAX = {}, {LAPSED_MAX}\n\
         local RETURN_WINDOW_MS, OVERTAKING_MS = {}, {}\n\
         local OUTFLOW_SECONDS, LOBBY_INDEX_MAX = {OUTFLOW_SECONDS}, {LOBBY_INDEX_MAX}\n",
        LAPSED_FOR.as_millis(),
        RETURN_WINDOW.as_millis(),
        OVERTAKING.as_millis(),
    )
}

fn script(step: &str) -> Script {
    let (constants, room) = (constants(), include_str!("scripts/room.lua"));
    Script::new(&format!(
        "{constants}{room}\nlocal function step()\n{step}\nend\n\
         local answer = step()\nput_off_the_end()\nreturn answer"
    ))
}

impl Steps {
    pub(crate) fn new(connection: Connection, blocks: Arc<dyn QueueBlocks>) -> Steps {
        Steps {
            connection,
            blocks,
            granting: tokio::sync::Mutex::default(),
            n_granted: AtomicU64::default(),
            busy: BusyRooms::default(),
            enter: script(include_str!("scripts/fan/enter.lua")),
            position: script(include_str!("scripts/fan/standing.lua")),
            leave: script(include_str!("scripts/fan/leave.lua")),
            end_entry: script(include_str!("scripts/fan/end_entry.lua")),
            entry: script(include_str!("scripts/fan/entry.lua")),
            extend: script(include_str!("scripts/fan/extend.lua")),
            admit: script(include_str!("scripts/admit.lua")),
            survivors: script(include_str!("scripts/survivors.lua")),
            restore: script(include_str!("scripts/restore.lua")),
            grant: script(include_str!("scripts/grant.lua")),
            counts: script(include_str!("scripts/counts.lua")),
            sync: script(include_str!("scripts/sync.lua")),
            copy: script(include_str!("scripts/copy.lua")),
            draw: script(include_str!("scripts/draw.lua")),
        }
    }

    /// A call whose first argument is the time.
    pub(crate) fn call<'a>(
        &self,
        step: &'a Script,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> ScriptInvocation<'a> {
        let mut call = self.in_room(step, schedule);
        call.arg(now.ms());
        call
    }

    /// A call that begins with the arguments that admission depends on.
    pub(crate) fn call_by_rules<'a>(
        &self,
        step: &'a Script,
        rules: &QueueRules,
        now: Timestamp,
    ) -> ScriptInvocation<'a> {
        let settings = &rules.settings;
        let mut call = self.call(step, rules.schedule, now);
        call.arg(rules.opens_at.ms()).arg(settings.max_active).arg(settings.admit_per_second);
        call.arg(ms(settings.entry_ttl())).arg(ms(CLAIM_WINDOW)).arg(EXTENSIONS_MAX);
        // Ask the rule about the mode: one fan waits, and everything else permits admission.
        call.arg(flag(fans_to_admit(settings, 0, 1, 1) == 1));
        call
    }

    /// Runs a step that doesn't depend on the draw.
    pub(crate) async fn run(&self, call: &ScriptInvocation<'_>) -> Result<ScriptReply> {
        self.connection.run(call).await
    }

    /// Runs a step that comes after the draw, once it is due, and may need numbers. Callers that
    /// wait for another node's draw need no jitter, because they arrive at different moments.
    pub(crate) async fn run_drawn(
        &self,
        rules: &QueueRules,
        now: Timestamp,
        call: &ScriptInvocation<'_>,
    ) -> Result<ScriptReply> {
        for _ in 0..TRIES_MAX {
            let n_granted = self.n_granted.load(Ordering::Acquire);
            let answer = self.run(call).await?;
            match answer.word.as_str() {
                "need" => {
                    let (epoch, need) = answer.need()?;
                    self.grant(rules.schedule, epoch, need, n_granted, now).await?;
                }
                "draw" => self.draw(rules, answer.value(0)?, answer.value(1)?).await?,
                "wait" => tokio::time::sleep(PAUSE).await,
                _ => return Ok(answer),
            }
        }
        Err(Error::unavailable("the draw is still in progress"))
    }

    /// Like `run_drawn`, for a fan: the room is busy from now on.
    pub(crate) async fn run_for_fan(
        &self,
        rules: &QueueRules,
        now: Timestamp,
        call: &ScriptInvocation<'_>,
    ) -> Result<ScriptReply> {
        let answer = self.run_drawn(rules, now, call).await?;
        self.busy.note(&self.connection, rules.schedule, now).await;
        Ok(answer)
    }

    /// The rooms that fans of any node have contacted lately.
    pub(crate) async fn busy(&self, now: Timestamp) -> Result<Busy> {
        self.busy.read(&self.connection, now).await
    }

    /// The blocks that the store has reserved for a schedule.
    pub(crate) async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks> {
        self.blocks.blocks(schedule, now).await
    }

    /// Gets from the store what a step needs, unless another caller has since `n_seen`. The block
    /// is valid only for the server and epoch that asked, because the call may reach another server
    /// after a failover.
    async fn grant(
        &self,
        schedule: ScheduleId,
        epoch: &str,
        need: Need,
        n_seen: u64,
        now: Timestamp,
    ) -> Result<()> {
        let _turn = self.granting.lock().await;
        if self.n_granted.load(Ordering::Acquire) != n_seen {
            return Ok(());
        }
        let grant = self.blocks.grant(schedule, need, now).await?;
        let mut call = self.call(&self.grant, schedule, now);
        call.arg(epoch);
        add_pair(&mut call, grant.numbers.map(|block| (block.start, block.end)));
        add_pair(&mut call, grant.indexes.map(|block| (block.start, block.end)));
        add_pair(&mut call, grant.draw.map(|draw| (draw.n_drawn, draw.first)));
        self.run(&call).await?;
        self.n_granted.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// The changes of a room since the node last saw it.
    pub(crate) async fn sync(
        &self,
        rules: &QueueRules,
        seen: &Moment,
        now: Timestamp,
    ) -> Result<ScriptReply> {
        let mut call = self.call(&self.sync, rules.schedule, now);
        call.arg(rules.opens_at.ms()).arg(&seen.change).arg(&seen.epoch).arg(CHANGES_PER_CALL);
        self.run_for_fan(rules, now, &call).await
    }

    /// A slice of the `"line"` after a number, or of the `"lobby"` from an index on.
    pub(crate) async fn copy<T: FromStr>(
        &self,
        rules: &QueueRules,
        what: &str,
        from: u64,
        n_max: usize,
    ) -> Result<Vec<(T, Tag)>> {
        let mut call = self.in_room(&self.copy, rules.schedule);
        call.arg(what).arg(from).arg(n_max);
        self.run(&call).await?.slice()
    }

    pub(crate) async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        let mut unlink = Cmd::new();
        unlink.arg("unlink").arg(&self.keys(schedule));
        self.connection.query(&unlink).await
    }

    /// Draws slice by slice, from where a dead node stopped. The script returns the start of the
    /// next slice, so that two nodes that draw can't interfere.
    async fn draw(&self, rules: &QueueRules, n_drawn: u32, mut from: usize) -> Result<()> {
        let ranks = draw::permutation(&rules.draw_seed, n_drawn);
        while let Some(rest) = ranks.get(from..).filter(|rest| !rest.is_empty()) {
            let slice = &rest[..rest.len().min(DRAWN_PER_SLICE)];
            let packed: Vec<u8> = slice.iter().copied().flat_map(u32::to_be_bytes).collect();
            let mut call = self.in_room(&self.draw, rules.schedule);
            call.arg(n_drawn).arg(from).arg(packed);
            from = self.run(&call).await?.value(0)?;
        }
        Ok(())
    }

    fn in_room<'a>(&self, step: &'a Script, schedule: ScheduleId) -> ScriptInvocation<'a> {
        let mut call = step.prepare_invoke();
        for key in self.keys(schedule) {
            call.key(key);
        }
        call
    }

    fn keys(&self, schedule: ScheduleId) -> [String; KEYS.len()] {
        let key = |name| format!("{{{}}}:queue:{name}", schedule.uuid());
        KEYS.map(|name| self.connection.key(key(name)))
    }
}

/// Two arguments, empty for none.
pub(crate) fn add_pair(
    call: &mut ScriptInvocation<'_>,
    pair: Option<(impl ToString, impl ToString)>,
) {
    let texts = pair.map(|(one, other)| [one.to_string(), other.to_string()]);
    for text in texts.unwrap_or_default() {
        call.arg(text);
    }
}

pub(crate) fn ms(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn flag(is_set: bool) -> u8 {
    u8::from(is_set)
}

pub(crate) fn name(fan: UserId) -> String {
    fan.uuid().to_string()
}
