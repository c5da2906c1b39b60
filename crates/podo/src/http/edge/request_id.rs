//! The request id: in the `X-Request-Id` header of every response, in every problem as `traceId`,
//! and in the log. It lives on the stack, because polls have one too.

use axum::http::{HeaderMap, HeaderValue};
use podo_app::operations::port::clock::Rng;
use podo_app::operations::traces::TraceParent;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) const HEADER: &str = "x-request-id";
const TRACE_PARENT: &str = "traceparent";

/// A longer id from the caller is ignored.
const LENGTH_MAX: usize = 64;

/// The length of a W3C trace id in hexadecimal digits.
const TRACE_LENGTH: usize = 32;

#[derive(Clone, Copy)]
pub struct RequestId {
    bytes: [u8; LENGTH_MAX],
    n_bytes: usize,
}

impl RequestId {
    fn new(text: &[u8]) -> RequestId {
        let mut bytes = [0; LENGTH_MAX];
        bytes[..text.len()].copy_from_slice(text);
        RequestId { bytes, n_bytes: text.len() }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.n_bytes]
    }

    pub(crate) fn as_str(&self) -> &str {
        str::from_utf8(self.as_bytes()).expect("ids are ASCII")
    }

    pub(crate) fn header(&self) -> HeaderValue {
        HeaderValue::from_bytes(self.as_bytes())
            .expect("ids contain only characters allowed in headers")
    }
}

/// Makes request ids from the process's random number and a scrambled counter: unique without any
/// call or lock.
pub(crate) struct RequestIds {
    process: u64,
    n_made: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new(rng: &dyn Rng) -> RequestIds {
        // The W3C forbids a trace id of zeros.
        RequestIds { process: rng.number() | 1, n_made: AtomicU64::new(0) }
    }

    /// The caller's trace id if there is one, else its request id, else a new one.
    pub(crate) fn of(&self, headers: &HeaderMap) -> RequestId {
        let bytes = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
        self.given(bytes(TRACE_PARENT), bytes(HEADER))
    }

    pub(crate) fn given(&self, trace_parent: Option<&[u8]>, own: Option<&[u8]>) -> RequestId {
        let parent = trace_parent.and_then(|text| str::from_utf8(text).ok());
        let trace = parent.and_then(TraceParent::parse);
        let trace = trace.map(|(parent, _)| RequestId::new(&hexadecimal(parent.trace)));
        let own = || own.filter(|text| is_plain(text)).map(RequestId::new);
        trace.or_else(own).unwrap_or_else(|| self.fresh())
    }

    fn fresh(&self) -> RequestId {
        let count = scramble(self.n_made.fetch_add(1, Ordering::Relaxed));
        let number = (u128::from(self.process) << 64) | u128::from(count);
        RequestId::new(&hexadecimal(number))
    }
}

/// Only characters that are safe in logs and pages.
fn is_plain(text: &[u8]) -> bool {
    let is_taken = |it: &u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    (1..=LENGTH_MAX).contains(&text.len()) && text.iter().all(is_taken)
}

/// A bijection that hides the order of its inputs (the finalizer of splitmix64).
const fn scramble(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

fn hexadecimal(number: u128) -> [u8; TRACE_LENGTH] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |at: usize| DIGITS[(number >> (4 * (TRACE_LENGTH - 1 - at))) as usize & 15];
    std::array::from_fn(digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_adapters::clock::SystemRng;
    use std::collections::HashSet;

    #[test]
    fn the_callers_trace_is_kept_and_nonsense_replaced() {
        let ids = RequestIds::new(&SystemRng::new());
        let of = |trace: &str, own: &str| {
            let id = ids.given(Some(trace.as_bytes()), Some(own.as_bytes()));
            id.as_str().to_owned()
        };
        let given = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(of(&format!("00-{given}-b7ad6b7169203331-01"), "own"), given);
        for nonsense in [
            "",
            "00",
            "00-xyz-1-01",
            &given.replace('c', "z"),
            &format!("00-{given}"),
            &format!("ff-{given}-b7ad6b7169203331-01"),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        ] {
            assert_eq!(of(nonsense, "my-own_id.7"), "my-own_id.7", "{nonsense}");
            for own in ["", "a b", "<script>", "포도", &"x".repeat(65)] {
                assert_eq!(of(nonsense, own).len(), 32, "{nonsense} {own}");
            }
        }
    }

    #[test]
    fn no_two_fresh_ones_are_alike() {
        let ids = RequestIds::new(&SystemRng::new());
        let made: HashSet<String> =
            (0..10_000).map(|_| ids.given(None, None).as_str().to_owned()).collect();
        assert_eq!(made.len(), 10_000);
        let is_trace = |id: &String| TraceParent::parse(&format!("00-{id}-00000000000000ab-01"));
        assert!(made.iter().all(|id| is_trace(id).is_some()));
    }
}
