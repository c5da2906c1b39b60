//! An organiser who uploads a member list.

use crate::http::client::{Call, Credentials};
use crate::http::connection::head;
use crate::{FanAccount, Target};
use podo_domain::PhaseId;
use serde_json::Value;
use std::io::{Error, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Sends the list in the pieces given, one chunk each, and returns the server's answer.
pub async fn upload_members(
    target: &Target,
    organiser: &FanAccount,
    phase: PhaseId,
    list: impl Iterator<Item = String>,
) -> Result<Value> {
    let call = Call::post(format!("/api/admin/phases/{phase}/members"), &Value::Null);
    let access = Some(organiser.access_token.as_str());
    let credentials = Credentials { access, ..Credentials::default() };
    let head = head(target, &call, credentials);
    let mut stream = TcpStream::connect(&target.authority).await?;
    let more = "content-type: text/csv\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    stream.write_all(format!("{head}{more}").as_bytes()).await?;
    for piece in list {
        let chunk = format!("{:x}\r\n{piece}\r\n", piece.len());
        stream.write_all(chunk.as_bytes()).await?;
    }
    stream.write_all(b"0\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let is_success = answer.starts_with("HTTP/1.1 200 ");
    let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    match is_success {
        true => serde_json::from_str(body).map_err(Error::other),
        false => Err(Error::other(answer)),
    }
}
