//! Forged tokens and key rotation.

use crate::waiting_room::tokens::*;
use proptest::prelude::*;

fn token(claims: TokenClaims) -> Token {
    Token {
        schedule: ScheduleId::with_room_for_seats(Uuid::from_u128(1 << 80)),
        user: UserId::new(Uuid::from_u128(2)),
        claims,
    }
}

fn keys() -> TokenKeys {
    TokenKeys::new(&[1; 32], None)
}

fn all() -> [TokenClaims; 3] {
    let session = SessionId::new(Uuid::from_u128(9));
    [
        TokenClaims::Lobby { index: 7 },
        TokenClaims::Place { number: u64::MAX },
        TokenClaims::Entry { number: 7, session },
    ]
}

fn bytes_of(claims: TokenClaims) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(token(claims).issue(&keys())).unwrap()
}

fn read(bytes: &[u8]) -> Option<Token> {
    Token::read(&URL_SAFE_NO_PAD.encode(bytes), &keys())
}

#[test]
fn a_token_says_what_it_was_issued_for() {
    for claims in all() {
        assert_eq!(read(&bytes_of(claims)), Some(token(claims)));
    }
}

#[test]
fn a_token_with_any_bit_flipped_is_nothing() {
    for claims in all() {
        let bytes = bytes_of(claims);
        for bit in 0..bytes.len() * 8 {
            let mut forged = bytes.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(read(&forged), None, "bit {bit} of {claims:?}");
        }
    }
}

#[test]
fn a_token_with_any_letter_changed_is_nothing() {
    for claims in all() {
        let text = token(claims).issue(&keys());
        for index in 0..text.len() {
            let mut letters = text.clone().into_bytes();
            letters[index] = if letters[index] == b'A' { b'B' } else { b'A' };
            let forged = String::from_utf8(letters).unwrap();
            // The last character has spare bits; a strict decoder rejects those too.
            assert_eq!(Token::read(&forged, &keys()), None, "letter {index}");
        }
    }
}

#[test]
fn a_token_that_is_cut_or_longer_is_nothing() {
    for claims in all() {
        let bytes = bytes_of(claims);
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "the first {length} bytes");
            assert_eq!(read(&bytes[length + 1..]), None, "without the first {length}");
        }
        for more in 1..40 {
            assert_eq!(read(&[&bytes[..], &vec![0; more]].concat()), None, "{more} more");
        }
        let text = token(claims).issue(&keys());
        for wrong in [format!("{text}="), format!(" {text}"), format!("{text}\n"), String::new()] {
            assert_eq!(Token::read(&wrong, &keys()), None, "{wrong:?}");
        }
    }
}

#[test]
fn fields_cannot_be_moved_between_tokens() {
    let (ours, session) =
        (token(TokenClaims::Place { number: 7 }), SessionId::new(Uuid::from_u128(9)));
    let others = [
        Token { user: UserId::new(Uuid::from_u128(3)), ..ours },
        Token { schedule: ScheduleId::with_room_for_seats(Uuid::from_u128(2 << 80)), ..ours },
        Token { claims: TokenClaims::Place { number: 8 }, ..ours },
        Token { claims: TokenClaims::Lobby { index: 7 }, ..ours },
        Token { claims: TokenClaims::Entry { number: 7, session }, ..ours },
    ];
    let bytes = |token: &Token| URL_SAFE_NO_PAD.decode(token.issue(&keys())).unwrap();
    let ours_bytes = bytes(&ours);
    for other in &others {
        let other_bytes = bytes(other);
        // Each field of the other token with our MAC, and our fields with the other token's MAC.
        for field in [1..2, 4..20, 20..36, 36..44] {
            let mut forged = ours_bytes.clone();
            forged[field.clone()].copy_from_slice(&other_bytes[field.clone()]);
            if forged != ours_bytes {
                assert_eq!(read(&forged), None, "{field:?} of {other:?}");
            }
        }
        let code = &other_bytes[other_bytes.len() - CODE_BYTES..];
        assert_eq!(read(&[&ours_bytes[..BODY_BYTES], code].concat()), None, "{other:?}");
    }
    let mut swapped = ours_bytes;
    swapped[4..36].rotate_left(16);
    assert_eq!(read(&swapped), None, "schedule and user changed places");
}

#[test]
fn a_place_is_no_entry_and_an_entry_is_no_place() {
    let session = SessionId::new(Uuid::from_u128(9));
    for (claims, kind) in
        [(TokenClaims::Place { number: 7 }, 3), (TokenClaims::Entry { number: 7, session }, 2)]
    {
        let mut bytes = bytes_of(claims);
        bytes[1] = kind;
        assert_eq!(read(&bytes), None);
        // With a session added or removed, so that the length fits.
        let code = bytes.split_off(bytes.len() - CODE_BYTES);
        bytes.resize(if kind == 3 { 60 } else { BODY_BYTES }, 0);
        assert_eq!(read(&[bytes, code].concat()), None);
    }
    assert_eq!(TokenClaims::Entry { number: 7, session }.place_proof(), None);
}

#[test]
fn another_version_or_an_unknown_kind_is_nothing_even_with_the_right_code() {
    let keys = keys();
    for (version, kind) in [(0, 2), (1, 2), (3, 2), (255, 2), (2, 0), (2, 4), (2, 255)] {
        let mut bytes = bytes_of(TokenClaims::Place { number: 7 });
        (bytes[0], bytes[1]) = (version, kind);
        let code = keys.current().code(Purpose::Place, &bytes[..BODY_BYTES]);
        bytes[BODY_BYTES..].copy_from_slice(&code[..CODE_BYTES]);
        assert_eq!(read(&bytes), None, "version {version}, kind {kind}");
    }
}

#[test]
fn a_lobby_index_that_is_none_is_nothing_even_with_the_right_code() {
    let mut bytes = bytes_of(TokenClaims::Lobby { index: 7 });
    bytes[36..44].copy_from_slice(&(1_u64 << 32).to_be_bytes());
    let code = keys().current().code(Purpose::Place, &bytes[..BODY_BYTES]);
    bytes[BODY_BYTES..].copy_from_slice(&code[..CODE_BYTES]);
    assert_eq!(read(&bytes), None);
}

#[test]
fn places_survive_a_key_change_until_the_key_after_it() {
    let secrets = [[1; 32], [2; 32], [3; 32]];
    for claims in all() {
        let text = token(claims).issue(&TokenKeys::new(&secrets[0], None));
        let after_one = TokenKeys::new(&secrets[1], Some(&secrets[0]));
        assert_eq!(Token::read(&text, &after_one), Some(token(claims)));
        let renewed = token(claims).issue(&after_one);
        assert_ne!(renewed, text, "what is issued now has the new key");
        let after_two = TokenKeys::new(&secrets[2], Some(&secrets[1]));
        assert_eq!(Token::read(&text, &after_two), None, "its key is gone");
        assert_eq!(Token::read(&renewed, &after_two), Some(token(claims)));
        assert_eq!(Token::read(&renewed, &keys()), None, "a node that lags behind says no");
    }
}

#[test]
fn naming_another_key_does_not_help() {
    let both = TokenKeys::new(&[2; 32], Some(&[1; 32]));
    let mut bytes = bytes_of(TokenClaims::Place { number: 7 });
    bytes[2..4].copy_from_slice(&both.current().id);
    assert_eq!(Token::read(&URL_SAFE_NO_PAD.encode(&bytes), &both), None);
    assert!(!both.are_alike() && TokenKeys::new(&[1; 32], Some(&[1; 32])).are_alike());
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,140}", bytes in prop::collection::vec(any::<u8>(), 0..90)) {
        prop_assert_eq!(Token::read(&text, &keys()), None);
        prop_assert_eq!(read(&bytes), None);
    }
}
