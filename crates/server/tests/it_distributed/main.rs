//! The platform on PostgreSQL and Redis as its clients meet it: the same suite as on SQLite and
//! memory.
#![cfg(test)]

mod bell;
mod booking_completed;
mod bus;
mod cycles_distributed;
mod dead_connections;
mod engine;
mod fail_over;
mod faults;
mod heard;
mod lines;
mod live;
mod lost_tail;
mod migrate;
mod moving;
mod node_clocks;
mod operations;
mod pools;
mod rate_limits;
mod reconcile_command;
mod redelivered;
mod replica;
mod roles;
mod sale;
mod same;
mod secrets;
mod system;
mod upgrade;
mod verify_live;

#[path = "../it/canary.rs"]
mod canary;

#[path = "../it/client.rs"]
mod client;

#[path = "../it/fan.rs"]
mod fan;

#[path = "../it/world.rs"]
mod world;

#[path = "../it/abuse.rs"]
mod abuse;

#[path = "../it/accounts.rs"]
mod accounts;

#[path = "../it/asks.rs"]
mod asks;

#[path = "../it/attacks.rs"]
mod attacks;

#[path = "../it/audit.rs"]
mod audit;

#[path = "../it/bad_input.rs"]
mod bad_input;

#[path = "../it/best.rs"]
mod best;

#[path = "../it/called_off.rs"]
mod called_off;

#[path = "../it/catalog.rs"]
mod catalog;

#[path = "../it/detach.rs"]
mod detach;

#[path = "../it/doors.rs"]
mod doors;

#[path = "../it/entry.rs"]
mod entry;

#[path = "../it/gateways.rs"]
mod gateways;

#[path = "../it/forgery.rs"]
mod forgery;

#[path = "../it/guessing.rs"]
mod guessing;

#[path = "../it/hold.rs"]
mod hold;

#[path = "../it/identity.rs"]
mod identity;

#[path = "../it/keys.rs"]
mod keys;

#[path = "../it/letters.rs"]
mod letters;

#[path = "../it/lookups.rs"]
mod lookups;

#[path = "../it/messages.rs"]
mod messages;

#[path = "../it/open_door.rs"]
mod open_door;

#[path = "../it/policy.rs"]
mod policy;

#[path = "../it/profile.rs"]
mod profile;

#[path = "../it/purchase.rs"]
mod purchase;

#[path = "../it/queue.rs"]
mod queue;

#[path = "../it/race.rs"]
mod race;

#[path = "../it/reconcile.rs"]
mod reconcile;

#[path = "../it/refunds.rs"]
mod refunds;

#[path = "../it/retention.rs"]
mod retention;

#[path = "../it/robots.rs"]
mod robots;

#[path = "../it/seat_map.rs"]
mod seat_map;

#[path = "../it/second_factor.rs"]
mod second_factor;

#[path = "../it/social.rs"]
mod social;

#[path = "../it/standby.rs"]
mod standby;

#[path = "../it/stream.rs"]
mod stream;

#[path = "../it/stream_refusals.rs"]
mod stream_refusals;

#[path = "../it/tickets.rs"]
mod tickets;

#[path = "../it/traces.rs"]
mod traces;

#[path = "../it/verification.rs"]
mod verification;

#[path = "../it/cycles.rs"]
mod cycles;

#[path = "../it/clock.rs"]
mod clock;
