//! Tests of a connection and its limits.

use crate::http::listener::connection::*;

const PATIENCE: Patience = Patience {
    header: Duration::from_secs(10),
    request: Duration::from_secs(30),
    idle: Duration::from_secs(75),
    send_stall: Duration::from_secs(20),
};

fn connection() -> Connection {
    Connection::new(([127, 0, 0, 1], 1).into(), 100)
}

/// The same connection, some seconds later.
fn later(mut connection: Connection, seconds: u64) -> Connection {
    connection.began = connection.began.checked_sub(Duration::from_secs(seconds)).unwrap();
    connection
}

#[test]
fn a_request_must_not_take_for_ever_to_begin() {
    let connection = later(connection(), 1);
    connection.begin_reading();
    let connection = later(connection, 9);
    connection.begin_reading();
    assert!(!connection.is_overdue(Instant::now(), &PATIENCE));
    assert!(
        later(connection, 2).is_overdue(Instant::now(), &PATIENCE),
        "another byte doesn't extend the deadline"
    );
}

#[test]
fn the_time_of_a_body_counts_from_the_first_byte_of_its_request() {
    let connection = later(connection(), 1);
    connection.begin_reading();
    let connection = Arc::new(later(connection, 8));
    let (open, deadline) = connection.open_request(&PATIENCE);
    let left = deadline.duration_since(connection.began) - connection.now();
    assert!(left < Duration::from_secs(23), "{left:?}");
    drop(open);
    let mut connection = Arc::into_inner(connection).unwrap();
    connection = later(connection, 100);
    assert!(
        !connection.is_overdue(Instant::now(), &PATIENCE),
        "hyper enforces the time between two requests"
    );
}

#[test]
fn a_client_that_takes_nothing_is_let_go() {
    let connection = later(connection(), 1);
    connection.block();
    assert!(!connection.is_overdue(Instant::now(), &PATIENCE));
    let connection = later(connection, 21);
    assert!(connection.is_overdue(Instant::now(), &PATIENCE));
    connection.unblock();
    assert!(!connection.is_overdue(Instant::now(), &PATIENCE));
}

#[test]
fn a_response_that_the_client_stops_reading_is_overdue() {
    let mut patience = PATIENCE;
    patience.send_stall = Duration::from_millis(1);
    let connection = Arc::new(later(connection(), 1));
    let (open, _) = connection.open_request(&patience);
    let sending = Sending::begin(open, true, patience);
    std::thread::sleep(Duration::from_millis(5));
    assert!(connection.is_overdue(Instant::now(), &patience));
    sending.wait();
    assert!(
        !connection.is_overdue(Instant::now(), &patience),
        "a stream with nothing to send may wait"
    );
    drop(sending);
    assert!(connection.lock_answers().is_empty());
}

#[test]
fn a_silent_connection_of_http2_is_let_go() {
    let connection = later(connection(), 1);
    connection.is_http2();
    let connection = later(connection, 11);
    assert!(connection.is_overdue(Instant::now(), &PATIENCE), "it has never sent a request");
    let connection = Arc::new(connection);
    let (open, _) = connection.open_request(&PATIENCE);
    assert!(!connection.is_overdue(Instant::now(), &PATIENCE));
    drop(open);
    let connection = later(Arc::into_inner(connection).unwrap(), 70);
    assert!(!connection.is_overdue(Instant::now(), &PATIENCE));
    assert!(later(connection, 10).is_overdue(Instant::now(), &PATIENCE));
}

#[test]
fn answers_have_their_room_and_one_always_fits() {
    let connection = Arc::new(connection());
    let large = connection.hold_back(1_000).unwrap();
    assert!(connection.hold_back(1).is_none());
    drop(large);
    let _one = connection.hold_back(60).unwrap();
    assert!(connection.hold_back(41).is_none());
    assert!(connection.hold_back(40).is_some());
}
