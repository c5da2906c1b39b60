//! Two versions side by side (F15), as far as one binary can show it: a node continues, and another
//! starts, on a schema that a later version has extended. Every statement names its columns, so
//! additions of a later version don't affect it; `select *` or an insert without names would fail
//! here. That an older program works with this version's schema is the same claim one step earlier,
//! as long as migrations only add.

use crate::nodes::sale::{N_SEATS, Sale, prepare};
use crate::support::client::Api;
use crate::system::{Live, System};
use serde_json::json;
use tokio::task::block_in_place;

/// All our tables; partitions follow their parents.
const TABLES: &str = "
    select format('%I.%I', schemaname, tablename) from pg_tables
     where not (select relispartition from pg_class
                 where oid = format('%I.%I', schemaname, tablename)::regclass)
       and schemaname in ('user_service', 'event_service', 'reservation_service',
                          'payment_service', 'common')
       and tablename <> 'refinery_schema_history'";

/// Does what a later version's migration may do: adds a column to every table, and a table.
fn widen(system: &System) -> usize {
    let tables = system.ask(TABLES);
    for table in tables.lines() {
        system.ask(&format!("alter table {table} add column later text default 'later'"));
    }
    system.ask("create table common.later_things (id uuid primary key)");
    system.ask(
        "insert into common.refinery_schema_history (version, name, applied_on, checksum)
         select max(version) + 1, 'later', max(applied_on), '0' from common.refinery_schema_history",
    );
    tables.lines().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_go_on_and_start_on_a_schema_that_a_later_version_widened() {
    let system = block_in_place(|| System::start(Live::single()));
    let (show, buyers) = prepare(&system).await;
    let nodes = [system.node("api,admitter,worker"), system.node("api,admitter,worker")];
    let sale = Sale::new(show, &[nodes[0].url(), nodes[1].url()]);
    let fan = json!({ "email": "fan@podo.kr", "password": "sour green grapes", "name": "포도" });
    let log_in = json!({ "email": "fan@podo.kr", "password": "sour green grapes" });
    Api::at(nodes[0].url()).post("/api/auth/signup", &fan).await.expect(201);
    sale.run(buyers, async || {
        assert!(block_in_place(|| widen(&system)) > 30);
        let started_later = block_in_place(|| system.node("api,admitter,worker"));
        for node in [&nodes[0], &nodes[1], &started_later] {
            Api::at(node.url()).post("/api/auth/login", &log_in).await.expect(200);
        }
    })
    .await;
    sale.check(&system).await;
    let later = "select count(*) from payment_service.tickets where later = 'later'";
    assert_eq!(system.ask(later), N_SEATS.to_string());
}
