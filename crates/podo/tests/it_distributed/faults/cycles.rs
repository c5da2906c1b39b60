//! Nodes on PostgreSQL and Redis die at every failpoint and at random moments.

use crate::operations::cycles::{Cycles, buyers, plan};
use crate::support::client::Api;
use crate::support::world::{Show, World};
use crate::system::{Live, System};
use podo_app::operations::failpoints;
use podo_testbed::Podo;

const N_BUYERS: u32 = 400;

/// Random cuts, besides one at each failpoint.
const N_RANDOM: usize = 3;

const ROLES: &str = "api,admitter,worker";

/// `None` if it died before it was ready.
fn start(system: &System, point: Option<(&str, u64)>) -> Option<Podo> {
    let armed = point.map(|(name, n_passes)| format!("{name}:{n_passes}"));
    let settings: Vec<_> = armed.into_iter().map(|armed| ("PODO_FAIL_POINT", armed)).collect();
    match system.try_node(ROLES, &settings) {
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

#[tokio::test(flavor = "multi_thread")]
async fn nodes_die_at_every_point_and_at_random_and_lose_nothing_that_was_acknowledged() {
    let system = System::start(Live::single());
    let made = async |world: &World, _: &Show| buyers(world, N_BUYERS).await;
    let (show, fans) = system.prepare(plan(N_BUYERS), made).await;
    let cycles = Cycles::new(show, fans);
    let mut missed = Vec::new();
    for point in failpoints::ALL {
        let Some(mut podo) = start(&system, Some((point, Cycles::passes(point)))) else { continue };
        if !cycles.play(&mut podo, None).await {
            missed.push(point);
        }
    }
    assert_eq!(missed, Vec::<&str>::new(), "no process reached these points");
    system.verify();
    for cycle in (0..).take_while(|cycle| cycles.goes_on(*cycle, N_RANDOM)) {
        let mut podo = start(&system, None).unwrap();
        cycles.play(&mut podo, Some(Cycles::cut(2, cycle))).await;
        system.verify();
    }
    let podo = start(&system, None).unwrap();
    let n_told = cycles.check(&Api::at(podo.url())).await;
    assert!(n_told > 30, "only {n_told} purchases were told of");
    drop(podo);
    system.verify();
}
