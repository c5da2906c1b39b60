//! Minimal HTTP for a stand-in: one request per connection.

use crate::gateways::{Book, answer};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::TcpStream;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub(crate) struct StandInRequest {
    pub(crate) path: String,
    /// The value of `Idempotency-Key`.
    pub(crate) key: Option<String>,
    pub(crate) body: String,
}

impl StandInRequest {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// A field of a form. Tests use values that need no decoding.
    pub(crate) fn form(&self, name: &str) -> Option<String> {
        let pairs = self.body.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) text: String,
    /// Before the answer.
    pub(crate) pause: Duration,
    /// The redirect target.
    pub(crate) location: Option<String>,
    /// No answer at all.
    pub(crate) is_dropped: bool,
}

impl Reply {
    pub(crate) fn json(status: u16, value: &Value) -> Reply {
        let text = value.to_string();
        Reply { status, text, pause: Duration::ZERO, location: None, is_dropped: false }
    }
}

pub(crate) fn serve(mut stream: TcpStream, book: &Mutex<Book>) {
    // If reading fails, the client has disconnected.
    if let Ok(asked) = read(&stream) {
        let reply = {
            let mut book = book.lock().unwrap_or_else(PoisonError::into_inner);
            answer(&mut book, &asked)
        };
        let reply = reply.unwrap_or_else(|| Reply::json(404, &Value::Null));
        std::thread::sleep(reply.pause);
        if !reply.is_dropped {
            write(&mut stream, &reply).ok();
        }
    }
}

pub(crate) fn read(stream: &TcpStream) -> Result<StandInRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or("/").to_owned();
    let (mut key, mut length) = (None, 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "idempotency-key" => key = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(StandInRequest { path, key, body: String::from_utf8_lossy(&body).into_owned() })
}

pub(crate) fn write(stream: &mut TcpStream, reply: &Reply) -> Result<()> {
    let length = reply.text.len();
    let location = reply.location.as_ref().map(|to| format!("Location: {to}\r\n"));
    write!(
        stream,
        "HTTP/1.1 {} -\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
         {}Connection: close\r\n\r\n{}",
        reply.status,
        location.unwrap_or_default(),
        reply.text
    )?;
    stream.flush()
}
