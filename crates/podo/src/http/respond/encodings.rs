//! Bodies that are compressed once and sent often.

use axum::http::{HeaderMap, header};
use bytes::Bytes;
use std::io::Write;

/// A body in every supported encoding.
#[derive(Clone)]
pub(crate) struct Encoded {
    pub(crate) plain: Bytes,
    pub(crate) gzip: Bytes,
    pub(crate) brotli: Bytes,
}

impl Encoded {
    pub(crate) fn of(plain: impl Into<Bytes>) -> std::io::Result<Encoded> {
        let plain = plain.into();
        let (gzip, brotli) = (gzip(&plain)?.into(), brotli(&plain)?.into());
        Ok(Encoded { plain, gzip, brotli })
    }

    /// The best encoding that the client accepts, with its name for `Content-Encoding`.
    pub(crate) fn best_for(&self, headers: &HeaderMap) -> (Option<&'static str>, &Bytes) {
        match accepted(headers) {
            Encoding::Brotli => (Some("br"), &self.brotli),
            Encoding::Gzip => (Some("gzip"), &self.gzip),
            Encoding::Plain => (None, &self.plain),
        }
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.plain.len() + self.gzip.len() + self.brotli.len()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Brotli,
    Gzip,
    Plain,
}

fn accepted(headers: &HeaderMap) -> Encoding {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let accepts = |name: &str| {
        accepted.unwrap_or_default().split(',').any(|one| {
            let (token, weight) = one.split_once(';').unwrap_or((one, ""));
            let is_refused = weight.replace(' ', "").trim_start_matches("q=").parse() == Ok(0.0);
            token.trim().eq_ignore_ascii_case(name) && !is_refused
        })
    };
    match (accepts("br"), accepts("gzip")) {
        (true, _) => Encoding::Brotli,
        (false, true) => Encoding::Gzip,
        (false, false) => Encoding::Plain,
    }
}

fn gzip(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(plain)?;
    writer.finish()
}

/// The highest of the eleven levels that doesn't take seconds for a stadium.
const BROTLI_QUALITY: u32 = 6;
const BROTLI_WINDOW_BITS: u32 = 22;
const BUFFER_BYTES: usize = 64 * 1024;

fn brotli(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut writer =
        brotli::CompressorWriter::new(&mut body, BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW_BITS);
    writer.write_all(plain)?;
    writer.flush()?;
    drop(writer);
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn encoding(accepted_encodings: &str) -> Encoding {
        let value = HeaderValue::from_str(accepted_encodings).unwrap();
        accepted(&HeaderMap::from_iter([(header::ACCEPT_ENCODING, value)]))
    }

    #[test]
    fn a_client_gets_the_best_encoding_that_it_takes() {
        assert_eq!(encoding("gzip, deflate, br"), Encoding::Brotli);
        assert_eq!(encoding("gzip;q=1.0, br;q=0"), Encoding::Gzip);
        assert_eq!(encoding("identity"), Encoding::Plain);
        assert_eq!(accepted(&HeaderMap::new()), Encoding::Plain);
    }
}
