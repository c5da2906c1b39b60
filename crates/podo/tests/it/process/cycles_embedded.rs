//! Power cuts on the embedded engines.

use crate::operations::cycles::{Cycles, buyers, plan};
use crate::process::cli::podo;
use crate::support::client::Api;
use crate::support::world::{World, config};
use podo::bootstrap;
use podo_app::operations::failpoints;
use podo_testbed::{Launch, Podo};
use std::path::Path;
use tempfile::TempDir;

const N_BUYERS: u32 = 1_200;

/// Random cuts, besides one at each failpoint.
const N_RANDOM: usize = 23;

pub(crate) fn launch(folder: &Path) -> Launch {
    let launch = Launch::new(env!("CARGO_BIN_EXE_podo")).data(folder);
    launch.env("PODO_LIMITS", "off").env("PODO_ADMIT_EVERY_MS", "20").env("RUST_LOG", "error")
}

/// `None` if it died before it was ready.
fn start(folder: &Path, point: Option<&str>) -> Option<Podo> {
    let armed = point.map(|name| format!("{name}:{}", Cycles::passes(name)));
    let launch =
        armed.iter().fold(launch(folder), |launch, armed| launch.env("PODO_FAIL_POINT", armed));
    match launch.start() {
        Ok(podo) => Some(podo),
        Err(error) => {
            if point.is_some() {
                None
            } else {
                panic!("{error}")
            }
        }
    }
}

#[track_caller]
pub(crate) fn verify(folder: &Path) {
    let verified = podo(&["verify", "--data", folder.to_str().unwrap()]);
    let [text, log] = [&verified.stdout, &verified.stderr].map(|it| String::from_utf8_lossy(it));
    assert!(verified.status.success(), "{text}\n{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn power_cuts_at_every_point_and_at_random_lose_nothing_that_was_acknowledged() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let world = World::on(&config, bootstrap::context(&config).await.unwrap()).await;
    let show = world.show(plan(N_BUYERS)).await;
    let cycles = Cycles::new(show, buyers(&world, N_BUYERS).await);
    world.running.stop().await;

    let mut missed = Vec::new();
    for point in failpoints::ALL {
        let reached = match start(folder.path(), Some(point)) {
            Some(mut podo) => cycles.play(&mut podo, None).await,
            None => true,
        };
        if !reached {
            missed.push(point);
        }
        verify(folder.path());
    }
    assert_eq!(missed, Vec::<&str>::new(), "no process reached these points");
    for cycle in (0..).take_while(|cycle| cycles.goes_on(*cycle, N_RANDOM)) {
        let mut podo = start(folder.path(), None).unwrap();
        let went_by_itself = cycles.play(&mut podo, Some(Cycles::cut(1, cycle))).await;
        assert!(!went_by_itself, "it ended before it was cut");
        verify(folder.path());
    }
    let mut podo = start(folder.path(), None).unwrap();
    let n_told = cycles.check(&Api::at(podo.url())).await;
    assert!(n_told > 50, "only {n_told} purchases were told of");
    assert_eq!(podo.terminate().unwrap().code(), Some(0));
    verify(folder.path());
}
