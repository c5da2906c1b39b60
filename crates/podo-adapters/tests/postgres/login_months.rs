//! Log-ins by month: partitions that are created and dropped, and the migration of the old table.

use crate::engine::{Engine, alone, settings};
use crate::identity::login_history::{DAY, known, log_in_at, today};
use crate::world::{Plan, World, dice};
use podo_adapters::sql::{PostgresSettings, SqlStore};
use podo_app::identity::port::accounts::{Accounts, LoginsKept};
use podo_domain::Timestamp;
use podo_testbed::Postgres;

/// The partitions with rows, and their row counts.
fn parts(engine: &Engine) -> String {
    engine.psql(
        "select string_agg(part || ' ' || n, ', ' order by part)
           from (select tableoid::regclass::text as part, count(*) as n
                   from user_service.login_history group by 1) counted",
    )
}

/// `login_history_YYYY_MM` of a moment.
fn month_of(moment: Timestamp) -> String {
    let day = moment.to_string();
    format!("user_service.login_history_{}_{}", &day[..4], &day[5..7])
}

fn n_months(engine: &Engine) -> u32 {
    engine.psql("select count(*) from user_service.login_months").parse().unwrap()
}

async fn keep(store: &SqlStore, now: Timestamp) -> LoginsKept {
    store.apply_login_retention(now.minus(DAY * 92), 100, now).await.unwrap()
}

#[tokio::test]
async fn a_new_database_has_this_month_and_the_next_two_and_the_job_makes_more_in_time() {
    let world = alone().await;
    let (fan, now) = (world.fan().await, today());
    assert_eq!(n_months(&world.engine), 3);
    log_in_at(&world.store, &fan, now).await;
    assert_eq!(parts(&world.engine), format!("{} 1", month_of(now)));
    assert_eq!(keep(&world.store, now).await, LoginsKept::default());
    let next_month = now.plus(DAY * 31);
    let made =
        world.store.apply_login_retention(now.minus(DAY * 92), 100, next_month).await.unwrap().made;
    assert!((1..=2).contains(&made), "31 days may be two months: {made}");
    assert_eq!(known(&world.store, &fan).await, [now]);
    world.finish().await;
}

#[tokio::test]
async fn a_month_is_dropped_when_all_of_it_is_older_than_what_is_kept() {
    let world = alone().await;
    let (fan, now) = (world.fan().await, today());
    // Creates the months around each of these, as a job that ran at the time.
    let moments = [400, 370, 200, 120, 60, 1].map(|days| now.minus(DAY * days));
    for moment in moments {
        world.store.apply_login_retention(now.minus(DAY * 1_000), 100, moment).await.unwrap();
        log_in_at(&world.store, &fan, moment).await;
    }
    assert!(!parts(&world.engine).contains("other"), "{}", parts(&world.engine));
    let n_before = n_months(&world.engine);
    let kept = keep(&world.store, now).await;
    assert!(kept.dropped >= 6 && kept.deleted == 0, "{kept:?}");
    assert_eq!(u64::from(n_before - n_months(&world.engine)), kept.dropped);
    let left: Vec<Timestamp> = known(&world.store, &fan).await;
    assert_eq!(left[..2], [moments[5], moments[4]]);
    assert!(left.iter().all(|at| now.minus(DAY * 124) < *at), "{left:?}");
    let old = "select count(*) from user_service.login_months
                where upper_id <= user_service.login_id_at((now() - interval '92 days')::timestamp)";
    assert_eq!(world.engine.psql(old), "0");
    world.finish().await;
}

#[tokio::test]
async fn rows_that_missed_their_month_move_into_it() {
    let world = alone().await;
    let (fan, now) = (world.fan().await, today());
    let ahead = now.plus(DAY * 170);
    for moment in [now, ahead] {
        log_in_at(&world.store, &fan, moment).await;
    }
    let other = "user_service.login_history_other 1";
    assert!(parts(&world.engine).contains(other), "{}", parts(&world.engine));
    // No months were created for half a year.
    assert_eq!(keep(&world.store, ahead).await.made, 3);
    let expected = format!("{} 1, {} 1", month_of(now), month_of(ahead));
    assert_eq!(parts(&world.engine), expected);
    assert_eq!(known(&world.store, &fan).await, [ahead, now]);
    world.finish().await;
}

#[tokio::test]
async fn the_last_three_months_stay_for_every_caller() {
    let world = alone().await;
    let (fan, now) = (world.fan().await, today());
    let moments = [now, now.minus(DAY * 89)];
    for moment in moments {
        world.store.apply_login_retention(now.minus(DAY * 1_000), 100, moment).await.unwrap();
        log_in_at(&world.store, &fan, moment).await;
    }
    world.store.apply_login_retention(now.plus(DAY * 1_000), 100, now).await.unwrap();
    assert_eq!(known(&world.store, &fan).await, moments);
    world.finish().await;
}

/// Two nodes that run it concurrently are serialised, and log-ins continue.
#[tokio::test]
async fn nodes_that_make_months_at_once_make_each_once() {
    let world = alone().await;
    let (fan, later) = (world.fan().await, today().plus(DAY * 200));
    let keep = || keep(&world.store, later);
    let log_in = || log_in_at(&world.store, &fan, later);
    let (one, two, three, ()) = futures::join!(keep(), keep(), keep(), log_in());
    assert_eq!(one.made + two.made + three.made, 3);
    keep().await;
    assert_eq!(known(&world.store, &fan).await, [later]);
    world.finish().await;
}

/// A database as the previous version left it, with log-ins and the role that writes them.
async fn version_before(server: &Postgres) -> PostgresSettings {
    let settings = settings(&server.url("postgres"));
    SqlStore::migrate_postgres_to(&settings, 19).await.unwrap();
    let fill = "
        create role podo_user nologin;
        grant usage on schema user_service to podo_user;
        grant select, insert, delete on user_service.login_history to podo_user;
        insert into user_service.login_history (id, user_id, email_hash, method, success, created_at)
        select (lpad(to_hex((extract(epoch from t) * 1000)::bigint), 12, '0')
                || substr(md5(days::text), 13))::uuid,
               '01900000-0000-7000-8000-000000000001', '\\x01', 'EMAIL', true, t
          from unnest(array[-300, -200, -50, -1, 400]) days,
               lateral (select now() + make_interval(days => days)) as m (t)";
    server.psql("postgres", fill).unwrap();
    settings
}

/// Statements of the previous version, in its role.
const OLD_STATEMENTS: &str = "
    set role podo_user;
    set search_path to common, user_service;
    insert into login_history
      (id, user_id, session_id, email_hash, ip, agent, method, success, reason, created_at, network,
       budget)
    values ('01a1a000-0000-7000-8000-000000000001', null, null, '\\x02', null, null, 'EMAIL', false,
            'PASSWORD', '2026-11-18', null, null);
    select success, created_at from login_history
     where email_hash = '\\x02' and '01900000-0000-7000-8000-000000000000' < id
       and coalesce(budget, '') = '' order by id desc limit 40;
    delete from login_history where id in
      (select id from login_history where email_hash = '\\x02' and id < 'ffffffff-0000-0000-0000-000000000000'
        limit 1000)";

#[tokio::test]
async fn the_table_of_the_version_before_becomes_the_first_partition_as_it_is() {
    let server = Postgres::start().unwrap();
    let settings = version_before(&server).await;
    let psql = |sql: &str| server.psql("postgres", sql).unwrap();
    let file = psql("select pg_relation_filenode('user_service.login_history')");
    SqlStore::migrate_postgres_to(&settings, 20).await.unwrap();
    psql(OLD_STATEMENTS);
    SqlStore::migrate_postgres_to(&settings, 21).await.unwrap();
    // Before new grants are applied, nodes of the previous version still work.
    psql(OLD_STATEMENTS);
    let same = psql("select pg_relation_filenode('user_service.login_history_first')");
    assert_eq!(same, file, "no row was copied");
    let engine = Engine::of(server);
    let first = "user_service.login_history_first 4, user_service.login_history_other 1";
    assert_eq!(parts(&engine), first, "one lies far in the future");

    SqlStore::migrate_postgres(&settings, true).await.unwrap();
    let rng = dice();
    let store = engine.again(rng.clone()).await;
    let kept = keep(&store, today()).await;
    assert_eq!((kept.dropped, kept.deleted), (0, 2), "old rows of the first partition go by row");
    assert!(parts(&engine).starts_with("user_service.login_history_first 2, "));
    let world = World::on(engine, store, rng, Plan::default()).await;
    let fan = world.fan().await;
    log_in_at(&world.store, &fan, today()).await;
    assert_eq!(known(&world.store, &fan).await.len(), 1);
    world.finish().await;
}
