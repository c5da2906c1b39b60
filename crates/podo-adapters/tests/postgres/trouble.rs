//! Server errors: whether to retry, and on which connection.

use crate::world::{World, at};
use podo_app::Error;

/// Makes every new reservation fail with this SQLSTATE.
fn complain(world: &World, code: &str) {
    world.engine.psql(&format!(
        "create or replace function complain() returns trigger language plpgsql as
            'begin raise exception ''trouble'' using errcode = ''{code}''; end';
         create or replace trigger complain before insert on reservation_service.reservations
            for each row execute function complain()"
    ));
}

fn stop_complaining(world: &World) {
    world.engine.psql("drop trigger complain on reservation_service.reservations");
}

/// The backend processes of this store.
fn backends(world: &World) -> Vec<String> {
    let sql = "select pid from pg_stat_activity
                where datname = current_database() and pid <> pg_backend_pid()
                  and application_name = ''";
    world.engine.psql(sql).lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_server_in_trouble_is_to_be_asked_again() {
    let world = World::new().await;
    let fan = world.fan().await;
    // Out of memory, out of connections, disk full, idle for too long, shut down, lost.
    for code in ["53200", "53300", "53100", "25P03", "57P01", "57P02", "57P03", "08006", "58030"] {
        complain(&world, code);
        let failed = world.hold(&fan, &[0], at(1)).await.unwrap_err();
        assert!(matches!(failed, Error::Unavailable(_)), "{code}: {failed:?}");
    }
    // The control: an invalid statement is our own fault.
    complain(&world, "42703");
    let failed = world.hold(&fan, &[0], at(1)).await.unwrap_err();
    assert!(matches!(failed, Error::Broken(_)), "{failed:?}");
    stop_complaining(&world);
    world.hold(&fan, &[0], at(1)).await.unwrap();
    world.finish().await;
}

/// The server is no longer the primary: none of its connections is used again.
#[tokio::test]
async fn connections_to_a_server_that_takes_no_writes_are_thrown_away() {
    let world = World::new().await;
    let fan = world.fan().await;
    world.hold(&fan, &[0], at(1)).await.unwrap();
    let before = backends(&world);
    complain(&world, "25006");
    let failed = world.hold(&fan, &[1], at(1)).await.unwrap_err();
    assert!(matches!(failed, Error::Unavailable(_)), "{failed:?}");
    stop_complaining(&world);
    world.hold(&fan, &[1], at(1)).await.unwrap();
    let after = backends(&world);
    let n_new = after.iter().filter(|pid| !before.contains(pid)).count();
    assert!(n_new > 0, "held over one of {before:?}: {after:?}");
    world.finish().await;
}
