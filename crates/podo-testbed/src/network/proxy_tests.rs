//! Tests of the proxy.

use crate::network::proxy::*;
use std::time::Instant;

/// Answers every byte with the same byte.
fn echo() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let mut byte = [0];
                while stream.read_exact(&mut byte).is_ok() && stream.write_all(&byte).is_ok() {}
            });
        }
    });
    port
}

fn connect_to(proxy: &Proxy) -> TcpStream {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    stream
}

fn ask(stream: &mut TcpStream) -> std::io::Result<u8> {
    let mut byte = [7];
    stream.write_all(&byte)?;
    stream.read_exact(&mut byte)?;
    Ok(byte[0])
}

#[test]
fn a_line_passes_delays_falls_silent_and_is_cut() {
    let proxy = Proxy::to_port(echo()).unwrap();
    let mut stream = connect_to(&proxy);
    assert_eq!(ask(&mut stream).unwrap(), 7);

    proxy.set(Fault::Delay(Duration::from_millis(30)));
    let start = Instant::now();
    assert_eq!(ask(&mut stream).unwrap(), 7);
    assert!(start.elapsed() >= Duration::from_millis(60), "there and back");

    proxy.set(Fault::HalfOpen);
    let silent = ask(&mut stream).unwrap_err();
    assert!(matches!(silent.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{silent}");
    proxy.set(Fault::None);
    let mut late = [0];
    stream.read_exact(&mut late).unwrap();
    assert_eq!(late, [7], "what was held back arrives");

    proxy.set(Fault::Cut);
    assert!(ask(&mut stream).is_err());
    assert!(ask(&mut connect_to(&proxy)).is_err(), "new connections are closed");
    proxy.set(Fault::Throttle(1_000_000));
    assert_eq!(ask(&mut connect_to(&proxy)).unwrap(), 7);
}

#[test]
fn a_swallowed_connection_is_silent_for_good_and_new_ones_pass() {
    let proxy = Proxy::to_port(echo()).unwrap();
    let mut old = connect_to(&proxy);
    assert_eq!(ask(&mut old).unwrap(), 7);
    proxy.swallow();
    proxy.set(Fault::None);
    for _ in 0..2 {
        let silent = ask(&mut old).unwrap_err();
        assert!(matches!(silent.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{silent}");
    }
    assert_eq!(ask(&mut connect_to(&proxy)).unwrap(), 7);
}
