//! Stand-ins for the receivers of notifications and webhooks: an HTTP server that records requests
//! and answers as the test decides, and an SMTP server. They end with the test's process.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// A received request.
#[derive(Clone, Debug)]
pub struct Received {
    pub method: String,
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: String,
    /// The same body as it arrived.
    pub bytes: Vec<u8>,
}

impl Received {
    /// The value of a header; empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }
}

/// What to answer: a status and a body.
type Responder = dyn Fn(&Received) -> (u16, Vec<u8>) + Send + Sync;

pub struct PostBox {
    address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

impl PostBox {
    pub fn start(
        answer: impl Fn(&Received) -> (u16, String) + Send + Sync + 'static,
    ) -> Result<PostBox> {
        PostBox::start_binary(move |asked| {
            let (status, text) = answer(asked);
            (status, text.into_bytes())
        })
    }

    pub fn start_binary(
        answer: impl Fn(&Received) -> (u16, Vec<u8>) + Send + Sync + 'static,
    ) -> Result<PostBox> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let received = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer): (_, Arc<Responder>) = (received.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (kept.clone(), answer.clone());
                // If this fails, the client has disconnected.
                thread::spawn(move || take(stream, &kept, &*answer).ok());
            }
        });
        Ok(PostBox { address, received })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request, in order of arrival.
    pub fn received(&self) -> Vec<Received> {
        lock(&self.received).clone()
    }
}

fn lock<T>(kept: &Mutex<T>) -> MutexGuard<'_, T> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One request per connection.
fn take(mut stream: TcpStream, kept: &Mutex<Vec<Received>>, answer: &Responder) -> Result<()> {
    let received = read(&stream)?;
    let (status, body) = answer(&received);
    lock(kept).push(received);
    write!(
        stream,
        "HTTP/1.1 {status} -\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)?;
    stream.flush()
}

fn read(stream: &TcpStream) -> Result<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ').map(str::to_owned);
    let method = words.next().unwrap_or_default();
    let path = words.next().unwrap_or_else(|| "/".to_owned());
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let text = String::from_utf8_lossy(&body).into_owned();
    Ok(Received { method, path, headers, body: text, bytes: body })
}

/// A mail received over SMTP.
#[derive(Clone, Debug)]
pub struct ReceivedEmail {
    pub to: String,
    /// Headers and body.
    pub text: String,
}

#[derive(Default)]
struct Mail {
    emails: Vec<ReceivedEmail>,
    /// The number of mails to defer with 451 first.
    n_put_off: u32,
}

/// A mail server that serves one connection at a time.
pub struct MailServer {
    address: SocketAddr,
    mail: Arc<Mutex<Mail>>,
}

impl MailServer {
    pub fn start() -> Result<MailServer> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let mail = Arc::new(Mutex::new(Mail::default()));
        let kept = mail.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = kept.clone();
                thread::spawn(move || talk(stream, &kept).ok());
            }
        });
        Ok(MailServer { address, mail })
    }

    /// For `smtp_url`, without TLS.
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// Defers the next mails.
    pub fn put_off(&self, n_emails: u32) {
        lock(&self.mail).n_put_off = n_emails;
    }

    pub fn emails(&self) -> Vec<ReceivedEmail> {
        lock(&self.mail).emails.clone()
    }
}

fn talk(stream: TcpStream, mail: &Mutex<Mail>) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    writer.write_all(b"220 podo.example ESMTP\r\n")?;
    let mut to = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let verb = line.split([' ', ':', '\r']).next().unwrap_or_default().to_ascii_uppercase();
        let answer = match verb.as_str() {
            "EHLO" => "250-podo.example\r\n250 8BITMIME\r\n",
            "RCPT" => {
                to = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
                "250 OK\r\n"
            }
            "DATA" => {
                writer.write_all(b"354 go on\r\n")?;
                let text = read_email(&mut reader)?;
                keep(mail, ReceivedEmail { to: to.clone(), text })
            }
            "QUIT" => {
                writer.write_all(b"221 bye\r\n")?;
                return Ok(());
            }
            _ => "250 OK\r\n",
        };
        writer.write_all(answer.as_bytes())?;
    }
}

fn keep(mail: &Mutex<Mail>, email: ReceivedEmail) -> &'static str {
    let mut mail = lock(mail);
    if mail.n_put_off > 0 {
        mail.n_put_off -= 1;
        return "451 come again later\r\n";
    }
    mail.emails.push(email);
    "250 taken\r\n"
}

fn read_email(reader: &mut impl BufRead) -> Result<String> {
    let mut text = String::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line == ".\r\n" {
            return Ok(text);
        }
        text.push_str(&line);
    }
}
