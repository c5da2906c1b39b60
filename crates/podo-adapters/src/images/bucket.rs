//! Pictures as objects of an S3-compatible bucket, so that all nodes share them.

use crate::notify::{AwsSource, CredentialChain, Signed, Signer, amz_date, client};
use async_trait::async_trait;
use bytes::Bytes;
use podo_app::catalog::images::port::ImageFiles;
use podo_app::operations::port::clock::Clock;
use podo_app::{Error, Result};
use podo_domain::catalog::images::{BYTES_MAX, ImageFile};
use reqwest::{Client, Method, Response, StatusCode, Url};
use std::sync::Arc;

pub struct BucketSettings {
    pub bucket: String,
    /// Before the name of each object; empty or with a slash at its end.
    pub prefix: String,
    /// Of another provider than AWS, which is asked at `ENDPOINT/BUCKET/…`; empty for AWS.
    pub endpoint: String,
    pub region: String,
    pub credentials: AwsSource,
}

pub struct Bucket {
    /// The address of the bucket, with a slash at its end.
    base: Url,
    host: String,
    prefix: String,
    region: String,
    credentials: CredentialChain,
    http: Client,
    clock: Arc<dyn Clock>,
}

impl Bucket {
    pub fn open(
        settings: BucketSettings,
        clock: Arc<dyn Clock>,
    ) -> std::result::Result<Bucket, String> {
        let BucketSettings { bucket, prefix, endpoint, region, credentials } = settings;
        let base = match endpoint.is_empty() {
            true => format!("https://{bucket}.s3.{region}.amazonaws.com/"),
            false => format!("{}/{bucket}/", endpoint.trim_end_matches('/')),
        };
        let base: Url = base.parse().map_err(|error| format!("media_url: {error}"))?;
        let name = base.host_str().ok_or("media_url: the endpoint names no host")?;
        let host = match base.port() {
            Some(port) => format!("{name}:{port}"),
            None => name.to_owned(),
        };
        let credentials = CredentialChain::open(credentials)?;
        Ok(Bucket { base, host, prefix, region, credentials, http: client()?, clock })
    }

    async fn call(&self, method: Method, file: ImageFile, body: Bytes) -> Result<Response> {
        let now = self.clock.now();
        let credentials = self.credentials.get(now).await.map_err(Error::Unavailable)?;
        let url = self.base.join(&format!("{}{file}", self.prefix)).map_err(Error::broken)?;
        let (date, hash) = (amz_date(now), Signed::hash(&body));
        let mut headers = vec![
            ("host", self.host.as_str()),
            ("x-amz-content-sha256", &hash),
            ("x-amz-date", &date),
        ];
        if !credentials.session_token.is_empty() {
            headers.push(("x-amz-security-token", &credentials.session_token));
        }
        let signer = Signer {
            access_key: &credentials.access_key,
            secret_key: &credentials.secret_key,
            region: &self.region,
            service: "s3",
        };
        let signed =
            Signed { method: method.as_str(), path: url.path(), headers: &headers, body: &body };
        let authorization = signer.authorization(&signed, now);
        let request = self.http.request(method, url.clone()).header("authorization", authorization);
        // The client sets the host itself.
        let others = headers.iter().filter(|(name, _)| *name != "host");
        let request = others.fold(request, |it, (name, value)| it.header(*name, *value));
        let reply = request.body(body).send().await;
        let reply = reply.map_err(|error| failed(error.without_url()))?;
        if matches!(reply.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            self.credentials.forget().await;
        }
        Ok(reply)
    }
}

fn failed(what: impl std::fmt::Display) -> Error {
    Error::unavailable(format!("the bucket of pictures: {what}"))
}

#[async_trait]
impl ImageFiles for Bucket {
    async fn put(&self, file: ImageFile, bytes: Bytes) -> Result<()> {
        let reply = self.call(Method::PUT, file, bytes).await?;
        if reply.status().is_success() { Ok(()) } else { Err(failed(reply.status())) }
    }

    async fn get(&self, file: ImageFile) -> Result<Option<Bytes>> {
        let mut reply = self.call(Method::GET, file, Bytes::new()).await?;
        match reply.status() {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND => return Ok(None),
            other => return Err(failed(other)),
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = reply.chunk().await.map_err(|it| failed(it.without_url()))? {
            if BYTES_MAX < bytes.len() + chunk.len() {
                return Err(failed("an object is longer than any of ours"));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Some(bytes.into()))
    }

    async fn remove(&self, file: ImageFile) -> Result<()> {
        let reply = self.call(Method::DELETE, file, Bytes::new()).await?;
        let is_gone = reply.status().is_success() || reply.status() == StatusCode::NOT_FOUND;
        if is_gone { Ok(()) } else { Err(failed(reply.status())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;
    use podo_domain::catalog::images::ImageHash;
    use podo_testbed::S3;

    fn open(server: &S3, secret_key: &str, session_token: &str) -> Bucket {
        let settings = BucketSettings {
            bucket: "posters".to_owned(),
            prefix: "podo/media/".to_owned(),
            endpoint: server.url(),
            region: "ap-northeast-2".to_owned(),
            credentials: AwsSource::Fixed {
                access_key: S3::ACCESS_KEY.to_owned(),
                secret_key: secret_key.to_owned(),
                session_token: session_token.to_owned(),
            },
        };
        Bucket::open(settings, Arc::new(SystemClock)).unwrap()
    }

    #[tokio::test]
    async fn an_object_is_stored_read_and_removed_with_signed_requests() {
        let server = S3::start().unwrap();
        let bucket = open(&server, S3::SECRET_KEY, "");
        let file = ImageFile { hash: ImageHash([0xAB; 16]), width: 640 };
        assert_eq!(bucket.get(file).await.unwrap(), None);
        let bytes = Bytes::from_static(b"\xFF\xD8\xFF\0not text\xFE");
        bucket.put(file, bytes.clone()).await.unwrap();
        assert_eq!(server.objects(), [format!("/posters/podo/media/{file}")]);
        assert_eq!(bucket.get(file).await.unwrap(), Some(bytes));
        bucket.remove(file).await.unwrap();
        bucket.remove(file).await.unwrap();
        assert_eq!(bucket.get(file).await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_wrong_key_or_a_bucket_that_is_away_is_unavailable() {
        let server = S3::start().unwrap();
        let file = ImageFile { hash: ImageHash([1; 16]), width: 320 };
        let wrong = open(&server, "another key", "");
        let refused = wrong.put(file, Bytes::from_static(b"x")).await;
        assert!(
            matches!(&refused, Err(Error::Unavailable(it)) if it.contains("403")),
            "{refused:?}"
        );
        assert!(matches!(wrong.get(file).await, Err(Error::Unavailable(_))));
        assert!(server.objects().is_empty());
        let mut away = open(&server, S3::SECRET_KEY, "");
        away.base = "http://127.0.0.1:1/posters/".parse().unwrap();
        assert!(matches!(away.get(file).await, Err(Error::Unavailable(_))));
    }
}
