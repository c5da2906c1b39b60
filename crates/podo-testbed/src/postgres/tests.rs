use crate::engine::tests::is_running;
use crate::postgres::*;

/// A server with one table and one row in it.
fn with_a_seat(postgres: Postgres) -> Postgres {
    postgres.create_database("hall").unwrap();
    postgres.psql("hall", "create table seat (id int primary key)").unwrap();
    postgres.psql("hall", "insert into seat values (7)").unwrap();
    postgres
}

fn seats(postgres: &Postgres) -> String {
    postgres.psql("hall", "select string_agg(id::text, ',' order by id) from seat").unwrap()
}

#[test]
fn a_server_answers_and_its_databases_can_be_copied() {
    let postgres = with_a_seat(Postgres::start().unwrap());
    let url = format!("postgres://podo@127.0.0.1:{}/hall", postgres.port());
    assert_eq!(postgres.url("hall"), url);
    assert_eq!(postgres.psql(&url, "show fsync").unwrap(), "off");
    postgres.create_database_from("a \"second\" hall", "hall").unwrap();
    assert_eq!(postgres.psql("a \"second\" hall", "select id from seat").unwrap(), "7");
    let again = postgres.create_database("hall").unwrap_err().to_string();
    assert!(again.contains("already exists"), "{again}");
}

#[test]
fn a_crashed_server_keeps_what_was_committed_and_its_port() {
    let mut postgres = with_a_seat(Postgres::durable().unwrap());
    assert_eq!(postgres.psql("hall", "show fsync").unwrap(), "on");
    let (url, first) = (postgres.url("hall"), postgres.pid());
    postgres.stop_immediate().unwrap();
    assert_eq!(postgres.pid(), None);
    assert!(postgres.psql("hall", "select 1").is_err());
    assert!(postgres.stop_immediate().is_err());
    postgres.restart().unwrap();
    assert_eq!(seats(&postgres), "7");
    assert_eq!(postgres.url("hall"), url);
    assert_ne!(postgres.pid(), first);
    let log = std::fs::read_to_string(postgres.log_path()).unwrap();
    assert!(log.contains("was not properly shut down"), "{log}");
    postgres.restart().unwrap();
    assert_eq!(seats(&postgres), "7");
}

#[test]
fn a_paused_server_answers_only_after_it_was_resumed() {
    let postgres = with_a_seat(Postgres::start().unwrap());
    postgres.pause().unwrap();
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| seats(&postgres));
        // A pause without an effect would be over long before this.
        let pause = std::time::Duration::from_millis(500);
        std::thread::sleep(pause);
        assert!(!answer.is_finished());
        postgres.resume().unwrap();
        assert_eq!(answer.join().unwrap(), "7");
    });
}

#[test]
fn a_replica_follows_and_takes_the_place_of_the_first() {
    let mut first = with_a_seat(Postgres::start().unwrap());
    let replica = first.replica().unwrap();
    first.psql("hall", "insert into seat values (8)").unwrap();
    engine::wait_until("the replica has both", || Ok(seats(&replica) == "7,8")).unwrap();
    let refused = replica.psql("hall", "insert into seat values (9)").unwrap_err().to_string();
    assert!(refused.contains("read-only transaction"), "{refused}");
    first.stop_immediate().unwrap();
    replica.promote().unwrap();
    replica.psql("hall", "insert into seat values (9)").unwrap();
    assert_eq!(seats(&replica), "7,8,9");
}

#[test]
fn a_server_with_tls_is_known_by_its_name_only() {
    let postgres = Postgres::with_tls().unwrap();
    let ask = |host: &str| {
        let ca = postgres.ca_path();
        let address = format!("host={host} port={} sslmode=verify-full", postgres.port());
        let address = format!("{address} sslrootcert={} dbname=postgres", ca.display());
        postgres.psql(&address, "select ssl from pg_stat_ssl where pid = pg_backend_pid()")
    };
    assert_eq!(ask("localhost").unwrap(), "t");
    let refused = ask("127.0.0.1").unwrap_err().to_string();
    assert!(refused.contains("does not match host name"), "{refused}");
}

#[test]
fn a_dropped_server_leaves_no_process_and_no_folder() {
    let postgres = Postgres::start().unwrap();
    let (postmaster, folder) = (postgres.pid().unwrap(), postgres.folder.path().to_owned());
    let backends = postgres.psql("postgres", "select pid from pg_stat_activity").unwrap();
    let backends: Vec<u32> = backends.lines().map(|line| line.parse().unwrap()).collect();
    assert!(is_running(postmaster) && 1 < backends.len(), "{backends:?}");
    postgres.pause().unwrap();
    drop(postgres);
    assert!(!is_running(postmaster) && !folder.exists());
    assert!(!backends.into_iter().any(is_running));
}

#[test]
fn a_server_that_cannot_start_shows_its_log() {
    let mut postgres = Postgres::start().unwrap();
    postgres.stop_immediate().unwrap();
    std::fs::remove_file(postgres.data().join("global/pg_control")).unwrap();
    let text = postgres.restart().unwrap_err().to_string();
    assert!(text.starts_with("PostgreSQL did not start: it ended"), "{text}");
    assert!(text.contains("could not find the database system"), "{text}");
}
