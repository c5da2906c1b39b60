//! The process: command line, settings, wiring, tasks and HTTP.

pub mod api;
mod assets;
mod booking_list;
pub mod cli;
pub mod config;
mod crowd;
mod data_folder;
mod encodings;
pub mod jobs;
pub mod layouts;
mod proxies;
pub mod roles;
pub mod running;
mod seat_feed;
mod secret;
pub mod shares;
mod simulation;
pub mod streams;
pub mod tasks;
pub mod telemetry;
pub mod web;
pub mod wire;
pub mod workers;
