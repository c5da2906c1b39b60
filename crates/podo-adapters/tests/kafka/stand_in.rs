//! A stand-in for a modern broker where the real one of these tests is too old: it reads real
//! frames, answers a few of them, and records what it received.

use std::io::{Read, Result, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The supported calls, and their highest versions.
const METADATA: (i16, i16) = (3, 1);
const SASL_HANDSHAKE: (i16, i16) = (17, 1);
const API_VERSIONS: (i16, i16) = (18, 0);
const CREATE_TOPICS: (i16, i16) = (19, 1);
const SASL_AUTHENTICATE: (i16, i16) = (36, 0);

const UNSUPPORTED_VERSION: i16 = 35;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CreateTopic {
    pub(crate) name: String,
    pub(crate) partitions: i32,
    pub(crate) replication: i16,
    pub(crate) settings: Vec<(String, String)>,
}

/// What it received.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) mechanisms: Vec<String>,
    /// User name and password as PLAIN sends them.
    pub(crate) credentials: Vec<String>,
    pub(crate) topics: Vec<CreateTopic>,
    /// Every received byte.
    pub(crate) bytes: Vec<u8>,
}

#[derive(Clone)]
pub(crate) struct StandIn {
    pub(crate) port: u16,
    received: Arc<Mutex<Received>>,
}

impl StandIn {
    pub(crate) fn start() -> StandIn {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let stand_in = StandIn { port, received: Arc::default() };
        let it = stand_in.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let it = it.clone();
                // A client that disconnects is done.
                thread::spawn(move || it.serve(stream).ok());
            }
        });
        stand_in
    }

    pub(crate) fn received(&self) -> Received {
        self.received.lock().unwrap().clone()
    }

    fn serve(&self, mut stream: TcpStream) -> Result<()> {
        loop {
            let mut length = [0; 4];
            self.read(&mut stream, &mut length)?;
            let length = usize::try_from(i32::from_be_bytes(length)).unwrap_or(0);
            // A TLS hello isn't a valid frame.
            if length > 1_000_000 {
                return Ok(());
            }
            let mut frame = vec![0; length];
            self.read(&mut stream, &mut frame)?;
            let answer = self.answer(&mut Reader(&frame));
            stream.write_all(&i32::try_from(answer.len()).unwrap().to_be_bytes())?;
            stream.write_all(&answer)?;
        }
    }

    fn read(&self, stream: &mut TcpStream, into: &mut [u8]) -> Result<()> {
        let mut n_read = 0;
        while n_read < into.len() {
            match stream.read(&mut into[n_read..])? {
                0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                n_more => {
                    let bytes = &into[n_read..n_read + n_more];
                    self.received.lock().unwrap().bytes.extend_from_slice(bytes);
                    n_read += n_more;
                }
            }
        }
        Ok(())
    }

    fn answer(&self, frame: &mut Reader<'_>) -> Vec<u8> {
        let (call, version, number) = (frame.i16(), frame.i16(), frame.i32());
        let mut answer = Writer(number.to_be_bytes().to_vec());
        let _client = frame.text();
        let mut received = self.received.lock().unwrap();
        match call {
            call if call == API_VERSIONS.0 => versions(version, &mut answer),
            call if call == SASL_HANDSHAKE.0 => {
                received.mechanisms.push(frame.text());
                answer.i16(0).i32(1).text("PLAIN");
            }
            call if call == SASL_AUTHENTICATE.0 => {
                let length = usize::try_from(frame.i32()).unwrap();
                let sent = String::from_utf8(frame.take(length).to_vec()).unwrap();
                received.credentials.push(sent);
                answer.i16(0).i16(-1).i32(0);
            }
            call if call == CREATE_TOPICS.0 => create(frame, version, &mut received, &mut answer),
            call if call == METADATA.0 => self.metadata(frame, &received, &mut answer),
            other => panic!("call {other} was not offered"),
        }
        answer.0
    }

    fn metadata(&self, frame: &mut Reader<'_>, received: &Received, answer: &mut Writer) {
        let asked: Vec<String> = (0..frame.i32()).map(|_| frame.text()).collect();
        answer.i32(1).i32(1).text("127.0.0.1").i32(i32::from(self.port)).i16(-1).i32(1);
        let known: Vec<&CreateTopic> =
            received.topics.iter().filter(|it| asked.contains(&it.name)).collect();
        answer.i32(i32::try_from(known.len()).unwrap());
        for topic in known {
            answer.i16(0).text(&topic.name).0.push(0);
            answer.i32(topic.partitions);
            for partition in 0..topic.partitions {
                answer.i16(0).i32(partition).i32(1).i32(1).i32(1).i32(1).i32(1);
            }
        }
    }
}

/// A newer request is answered in the oldest format, as brokers do.
fn versions(asked: i16, answer: &mut Writer) {
    let offered = [METADATA, SASL_HANDSHAKE, API_VERSIONS, CREATE_TOPICS, SASL_AUTHENTICATE];
    answer.i16(if asked > API_VERSIONS.1 { UNSUPPORTED_VERSION } else { 0 });
    answer.i32(i32::try_from(offered.len()).unwrap());
    for (call, newest) in offered {
        answer.i16(call).i16(0).i16(newest);
    }
}

fn create(frame: &mut Reader<'_>, version: i16, received: &mut Received, answer: &mut Writer) {
    let n_topics = frame.i32();
    answer.i32(n_topics);
    for _ in 0..n_topics {
        let (name, partitions, replication) = (frame.text(), frame.i32(), frame.i16());
        assert_eq!(frame.i32(), 0, "no manual replica assignment");
        let settings = (0..frame.i32()).map(|_| (frame.text(), frame.text())).collect();
        answer.text(&name).i16(0);
        if version >= 1 {
            answer.i16(-1);
        }
        received.topics.push(CreateTopic { name, partitions, replication, settings });
    }
}

struct Reader<'f>(&'f [u8]);

impl<'f> Reader<'f> {
    fn take(&mut self, length: usize) -> &'f [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    fn i16(&mut self) -> i16 {
        i16::from_be_bytes(self.take(2).try_into().unwrap())
    }

    fn i32(&mut self) -> i32 {
        i32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    /// Empty for null.
    fn text(&mut self) -> String {
        let length = usize::try_from(self.i16()).unwrap_or(0);
        String::from_utf8(self.take(length).to_vec()).unwrap()
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn i16(&mut self, number: i16) -> &mut Writer {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn i32(&mut self, number: i32) -> &mut Writer {
        self.0.extend(number.to_be_bytes());
        self
    }

    fn text(&mut self, text: &str) -> &mut Writer {
        self.i16(i16::try_from(text.len()).unwrap());
        self.0.extend(text.as_bytes());
        self
    }
}
