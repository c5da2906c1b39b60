//! A stand-in for an S3-compatible bucket. It computes the signature of each request anew from what
//! arrived, refuses those that differ as S3 does, and keeps the objects in memory.

use crate::stand_ins::post_box::{PostBox, Received};
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::hmac::{HMAC_SHA256, Key, sign};
use std::collections::BTreeMap;
use std::io::Result;
use std::sync::{Arc, Mutex, PoisonError};

type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

pub struct S3 {
    post_box: PostBox,
    objects: Objects,
}

impl S3 {
    pub const ACCESS_KEY: &'static str = "AKIAPODO";
    pub const SECRET_KEY: &'static str = "bucket/secret+";

    pub fn start() -> Result<S3> {
        let objects = Objects::default();
        let kept = objects.clone();
        let answer = move |asked: &Received| match is_signed(asked) {
            true => serve(asked, &kept),
            false => (403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>".to_vec()),
        };
        Ok(S3 { post_box: PostBox::start_binary(answer)?, objects })
    }

    pub fn url(&self) -> String {
        self.post_box.url()
    }

    /// The paths of all objects, with the bucket.
    pub fn objects(&self) -> Vec<String> {
        let objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        objects.keys().cloned().collect()
    }
}

fn serve(asked: &Received, objects: &Objects) -> (u16, Vec<u8>) {
    let mut objects = objects.lock().unwrap_or_else(PoisonError::into_inner);
    match asked.method.as_str() {
        "PUT" => {
            objects.insert(asked.path.clone(), asked.bytes.clone());
            (200, Vec::new())
        }
        "GET" => match objects.get(&asked.path) {
            Some(bytes) => (200, bytes.clone()),
            None => (404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
        },
        "DELETE" => {
            objects.remove(&asked.path);
            (204, Vec::new())
        }
        _ => (405, Vec::new()),
    }
}

fn is_signed(asked: &Received) -> bool {
    let authorization = asked.header("authorization");
    let field = |name: &str| {
        let found = authorization.split([' ', ',']).find_map(|it| it.strip_prefix(name));
        found.unwrap_or_default().to_owned()
    };
    let (credential, names) = (field("Credential="), field("SignedHeaders="));
    let Some((S3::ACCESS_KEY, scope)) = credential.split_once('/') else { return false };
    let [day, region, "s3", "aws4_request"] = scope.split('/').collect::<Vec<_>>()[..] else {
        return false;
    };
    let body_hash = asked.header("x-amz-content-sha256");
    let is_covered = ["host", "x-amz-content-sha256", "x-amz-date"]
        .iter()
        .all(|needed| names.split(';').any(|name| name == *needed));
    if !is_covered || body_hash != hex(digest(&SHA256, &asked.bytes).as_ref()) {
        return false;
    }
    let headers = names.split(';').map(|name| format!("{name}:{}\n", asked.header(name)));
    let headers: String = headers.collect();
    let canonical = format!("{}\n{}\n\n{headers}\n{names}\n{body_hash}", asked.method, asked.path);
    let date = asked.header("x-amz-date");
    let hash = hex(digest(&SHA256, canonical.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{scope}\n{hash}");
    let mut key = format!("AWS4{}", S3::SECRET_KEY).into_bytes();
    for part in [day, region, "s3", "aws4_request", &text] {
        key = sign(&Key::new(HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec();
    }
    field("Signature=") == hex(&key) && date.starts_with(day)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
