//! Raw bytes for attacks: HTTP/1 responses parsed here, HTTP/2 frames built here.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// The client's receive buffer is so small that the server notices an unread response at once.
const RECEIVE_BUFFER: u32 = 4_096;

/// A socket from this loopback address.
pub(crate) async fn connect_from(last: u8, to: SocketAddr) -> TcpStream {
    try_connect_from(last, to).await.unwrap()
}

pub(crate) async fn try_connect_from(last: u8, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
    socket.bind((Ipv4Addr::new(127, 0, 0, last), 0).into())?;
    socket.connect(to).await
}

/// Whether the server closes the connection within this time, whatever it sends before.
pub(crate) async fn is_closed_within(limit: Duration, stream: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    tokio::time::timeout(limit, stream.read_to_end(&mut rest)).await.is_ok()
}

/// Memory of a process in MiB.
pub(crate) fn resident_mib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1_024
}

/// How many connections from this loopback address a server still has open.
pub(crate) fn n_connected(last: u8, server: SocketAddr) -> usize {
    const ESTABLISHED: &str = "01";
    let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let from = format!("{last:02X}00007F:");
    let to = format!("0100007F:{:04X}", server.port());
    let is_one = |line: &&str| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next() == Some(&to)
            && fields.next().is_some_and(|remote| remote.starts_with(&from))
            && fields.next() == Some(ESTABLISHED)
    };
    sockets.lines().filter(is_one).count()
}

/// One HTTP/1 response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawResponse {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// The first response in these bytes, and the rest; `None` if there is no complete one.
pub(crate) fn first_answer(bytes: &[u8]) -> Option<(RawResponse, &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let mut headers = BTreeMap::new();
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let before = headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        assert!(before.is_none(), "twice: {line}");
    }
    let rest = &bytes[end + 4..];
    let length = headers.get("content-length").map_or(Some(0), |text| text.parse().ok())?;
    let body = rest.get(..length)?.to_vec();
    Some((RawResponse { status, headers, body }, &rest[length..]))
}

pub(crate) fn answers(mut bytes: &[u8]) -> Vec<RawResponse> {
    let mut answers = Vec::new();
    while let Some((answer, rest)) = first_answer(bytes) {
        answers.push(answer);
        bytes = rest;
    }
    assert!(bytes.is_empty(), "no answer: {:?}", String::from_utf8_lossy(bytes));
    answers
}

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// HTTP/2 frame types.
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RESET: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;

const ACK: u8 = 1;
const END_STREAM_AND_HEADERS: u8 = 5;

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The preface of a client that reads no byte of any response.
pub(crate) fn preface_with_no_window() -> Vec<u8> {
    let initial_window_size: &[u8] = &[0, 4, 0, 0, 0, 0];
    [PREFACE, &frame(SETTINGS, 0, 0, initial_window_size)].concat()
}

/// A GET, without compression.
pub(crate) fn get(stream: u32, path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    // `:method: GET` and `:scheme: http` are in the static table, as are the next two names.
    let mut block = vec![0x82, 0x86, 0x04];
    push_text(&mut block, path);
    block.push(0x01);
    push_text(&mut block, "podo");
    for (name, value) in headers {
        block.push(0);
        push_text(&mut block, name);
        push_text(&mut block, value);
    }
    frame(HEADERS, END_STREAM_AND_HEADERS, stream, &block)
}

fn push_text(block: &mut Vec<u8>, text: &str) {
    match u8::try_from(text.len()) {
        Ok(short) if short < 127 => block.push(short),
        _ => {
            block.push(127);
            let mut rest = text.len() - 127;
            while rest >= 128 {
                block.push(u8::try_from(rest % 128).unwrap() | 128);
                rest /= 128;
            }
            block.push(u8::try_from(rest).unwrap());
        }
    }
    block.extend(text.as_bytes());
}

/// A frame from the server.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) payload: Vec<u8>,
}

/// Reads a frame, and answers pings as every client must.
pub(crate) async fn read_frame(stream: &mut TcpStream) -> std::io::Result<Frame> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).await?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).await?;
    let (kind, flags) = (head[3], head[4]);
    if kind == PING && flags & ACK == 0 {
        stream.write_all(&frame(PING, ACK, 0, &payload)).await?;
    }
    Ok(Frame { kind, payload })
}
