//! A disk that is full, then read-only, then recovers.

use crate::operations::cycles::{Cycles, buyers, plan};
use crate::process::cli::podo;
use crate::support::client::Api;
use crate::support::world::{World, config, until};
use podo::bootstrap;
use podo_testbed::{Launch, Podo};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

const N_BUYERS: u32 = 600;

/// Starts `podo` so that a write beyond its limit is an error instead of a signal.
fn start(folder: &Path) -> Podo {
    let script = folder.join("podo.sh");
    let text = format!("#!/bin/sh\ntrap '' XFSZ\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_podo"));
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let launch = Launch::new(script).data(folder.join("data"));
    launch.env("PODO_LIMITS", "off").env("PODO_ADMIT_EVERY_MS", "20").start().unwrap()
}

/// The size of the largest file.
fn largest(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).max().unwrap()
}

/// A charge: the status that a fan gets while the disk fails.
async fn charge(api: &Api, key: &str) -> u16 {
    api.post_once("/api/wallet/charge", key, &json!({ "amount": 1_000 })).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_full_or_read_only_says_503_and_loses_nothing() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let config = config(&data, &[]);
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    let fan = world.fan().await;
    let cycles = Cycles::new(world.show(plan(N_BUYERS)).await, buyers(&world, N_BUYERS).await);
    world.running.stop().await;

    let mut podo = start(folder.path());
    let api = Api::at(podo.url()).with_token(fan.api.token());
    let mut n_charged = 0;
    for (bytes, name) in [(largest(&data) + 60_000, "full"), (0, "read-only")] {
        podo.limit_files(Some(bytes)).unwrap();
        let mut n_refused = 0;
        for turn in 0..200 {
            match charge(&api, &format!("{name}-{turn}")).await {
                201 => n_charged += 1,
                503 => n_refused += 1,
                status => panic!("{name}: answered {status}"),
            }
            if n_refused > 5 {
                break;
            }
        }
        assert!(n_refused > 5, "{name}: nothing was refused");
        api.get("/api/events").await.expect(200);
        podo.limit_files(None).unwrap();
        until("it goes on by itself", async || {
            let status = charge(&api, &format!("{name}-after")).await;
            (status == 201).then_some(())
        })
        .await;
        n_charged += 1;
    }
    let balance = api.get("/api/wallet").await.expect(200)["balance"].as_i64().unwrap();
    assert_eq!(balance, n_charged * 1_000, "what was told is there, and nothing else");
    let went_by_itself = cycles.play(&mut podo, Some(Duration::from_millis(300))).await;
    assert!(!went_by_itself, "the sale goes on");
    let verified = podo_verify(&data);
    assert!(verified.0, "{}", verified.1);
}

fn podo_verify(data: &Path) -> (bool, String) {
    let output = podo(&["verify", "--data", data.to_str().unwrap()]);
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}
