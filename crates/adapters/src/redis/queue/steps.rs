//! The steps of a waiting room as scripts, and what some of them have to wait for: the draw, and
//! blocks of numbers from the store.

use super::answer::Answer;
use super::replica::{Moment, Tag};
use super::replicas::CHANGES_PER_CALL;
use crate::redis::Connection;
use app::ports::queue_blocks::QueueBlocks;
use app::{Error, Result};
use domain::queue::{Blocks, CLAIM_WINDOW, EXTENSIONS_MAX, Need, QueueRules, fans_to_admit};
use domain::{ScheduleId, Timestamp, UserId, draw};
use redis::{Cmd, Script, ScriptInvocation};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// In the order in which `room.lua` names them.
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

/// Few enough that a slice of the draw holds up the server for 15 ms only (25 at most, measured with
/// 300,000 fans on a busy machine), and that a script can pass them on: Lua hands over 8,000 values
/// at most.
const DRAWN_PER_SLICE: usize = 2_000;

/// How often a step is tried while another node draws. Their product is longer than a draw's
/// claim in `room.lua`, so that somebody takes over from a node that died.
const TRIES_MAX: u32 = 60;
const PAUSE: Duration = Duration::from_millis(50);
const _: () = assert!(2_000 < TRIES_MAX as u128 * PAUSE.as_millis());

pub(super) struct Steps {
    connection: Connection,
    blocks: Arc<dyn QueueBlocks>,
    /// Held by the one who asks the store; the others find what they need when it is their turn.
    granting: tokio::sync::Mutex<()>,
    n_granted: AtomicU64,
    pub(super) enter: Script,
    pub(super) standing: Script,
    pub(super) leave: Script,
    pub(super) end_entry: Script,
    pub(super) entry: Script,
    pub(super) extend: Script,
    pub(super) admit: Script,
    pub(super) survivors: Script,
    pub(super) restore: Script,
    grant: Script,
    pub(super) counts: Script,
    sync: Script,
    copy: Script,
    draw: Script,
}

fn script(step: &str) -> Script {
    let room = include_str!("scripts/room.lua");
    Script::new(&format!(
        "{room}\nlocal function step()\n{step}\nend\n\
         local answer = step()\nput_off_the_end()\nreturn answer"
    ))
}

impl Steps {
    pub(super) fn new(connection: Connection, blocks: Arc<dyn QueueBlocks>) -> Steps {
        Steps {
            connection,
            blocks,
            granting: tokio::sync::Mutex::default(),
            n_granted: AtomicU64::default(),
            enter: script(include_str!("scripts/enter.lua")),
            standing: script(include_str!("scripts/standing.lua")),
            leave: script(include_str!("scripts/leave.lua")),
            end_entry: script(include_str!("scripts/end_entry.lua")),
            entry: script(include_str!("scripts/entry.lua")),
            extend: script(include_str!("scripts/extend.lua")),
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
    pub(super) fn call<'a>(
        &self,
        step: &'a Script,
        schedule: ScheduleId,
        now: Timestamp,
    ) -> ScriptInvocation<'a> {
        let mut call = self.in_room(step, schedule);
        call.arg(now.ms());
        call
    }

    /// A call that begins with everything that letting fans in depends on.
    pub(super) fn call_by_rules<'a>(
        &self,
        step: &'a Script,
        rules: &QueueRules,
        now: Timestamp,
    ) -> ScriptInvocation<'a> {
        let settings = &rules.settings;
        let mut call = self.call(step, rules.schedule, now);
        call.arg(rules.opens_at.ms()).arg(settings.max_active).arg(settings.admit_per_second);
        call.arg(ms(settings.entry_ttl())).arg(ms(CLAIM_WINDOW)).arg(EXTENSIONS_MAX);
        // The mode is asked of the rule: one fan waits, and everything else allows them in.
        call.arg(flag(fans_to_admit(settings, 0, 1, 1) == 1));
        call
    }

    /// Runs a step that time alone cannot stop.
    pub(super) async fn run(&self, call: &ScriptInvocation<'_>) -> Result<Answer> {
        self.connection.run(call).await
    }

    /// Runs a step that comes after the draw, when it is time for it, and may need numbers. Those
    /// who wait for another node's draw need no jitter: they came at different moments.
    pub(super) async fn run_drawn(
        &self,
        rules: &QueueRules,
        now: Timestamp,
        call: &ScriptInvocation<'_>,
    ) -> Result<Answer> {
        for _ in 0..TRIES_MAX {
            let n_granted = self.n_granted.load(Ordering::Acquire);
            let answer = self.run(call).await?;
            match answer.word.as_str() {
                "need" => self.grant(rules.schedule, answer.need()?, n_granted, now).await?,
                "draw" => self.draw(rules, answer.value(0)?, answer.value(1)?).await?,
                "wait" => tokio::time::sleep(PAUSE).await,
                _ => return Ok(answer),
            }
        }
        Err(Error::unavailable("the order is still being drawn"))
    }

    /// What the store has reserved of a schedule.
    pub(super) async fn blocks(&self, schedule: ScheduleId, now: Timestamp) -> Result<Blocks> {
        self.blocks.blocks(schedule, now).await
    }

    /// Gets from the store what a step needs, unless somebody did since `n_seen`. The block is for
    /// the server that asked, in the life in which it asked: the call may reach another one, to
    /// which the connection turned meanwhile.
    async fn grant(
        &self,
        schedule: ScheduleId,
        (epoch, need): (&str, Need),
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

    /// What changed in a room since the node last saw it.
    pub(super) async fn sync(
        &self,
        rules: &QueueRules,
        seen: &Moment,
        now: Timestamp,
    ) -> Result<Answer> {
        let mut call = self.call(&self.sync, rules.schedule, now);
        call.arg(rules.opens_at.ms()).arg(&seen.change).arg(&seen.epoch).arg(CHANGES_PER_CALL);
        self.run_drawn(rules, now, &call).await
    }

    /// A slice of the `"line"` after a number, or of the `"lobby"` from an index on.
    pub(super) async fn copy<T: FromStr>(
        &self,
        rules: &QueueRules,
        (what, from, n_max): (&str, u64, usize),
    ) -> Result<Vec<(T, Tag)>> {
        let mut call = self.in_room(&self.copy, rules.schedule);
        call.arg(what).arg(from).arg(n_max);
        self.run(&call).await?.slice()
    }

    pub(super) async fn remove(&self, schedule: ScheduleId) -> Result<()> {
        let mut unlink = Cmd::new();
        unlink.arg("unlink").arg(&self.keys(schedule));
        self.connection.query(&unlink).await
    }

    /// Draws slice by slice, from where a node that died stopped. The script says where the next
    /// one begins, so that two who draw do not disturb each other.
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

/// Two arguments, empty when there is nothing.
pub(super) fn add_pair(
    call: &mut ScriptInvocation<'_>,
    pair: Option<(impl ToString, impl ToString)>,
) {
    let texts = pair.map(|(one, other)| [one.to_string(), other.to_string()]);
    for text in texts.unwrap_or_default() {
        call.arg(text);
    }
}

pub(super) fn ms(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

pub(super) fn flag(is_set: bool) -> u8 {
    u8::from(is_set)
}

pub(super) fn name(fan: UserId) -> String {
    fan.uuid().to_string()
}
