//! The public state of a schedule's seats, ready to send.

use crate::cache::Cache;
use crate::identity::keyring::sha256;
use bytes::Bytes;
use podo_domain::PhaseId;
use podo_domain::booking::best::alternatives;
use podo_domain::booking::seats::SeatFace;
use podo_domain::catalog::hall::Hall;
use podo_domain::catalog::phases::Phase;
use podo_domain::id::SeatIndex;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Alternatives offered to a fan who lost a race.
const ALTERNATIVES_MAX: usize = 3;

/// Lost picks whose alternatives are cached with the snapshot.
const PICKS_MAX: u64 = 1_000;

/// A seat with its new face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub seat: SeatIndex,
    pub face: SeatFace,
}

/// The changes from one version to the next.
#[derive(Debug)]
pub struct Delta {
    pub since: u64,
    pub version: u64,
    pub changes: Vec<Change>,
    /// As JSON, ready to send.
    pub json: Bytes,
}

impl Delta {
    pub(crate) fn new(since: u64, version: u64, changes: Vec<Change>) -> Delta {
        let json = changes_json(since, version, changes.iter().copied()).into();
        Delta { since, version, changes, json }
    }
}

fn changes_json(since: u64, version: u64, changes: impl Iterator<Item = Change>) -> String {
    let mut json = format!(r#"{{"version":{version},"since":{since},"changes":["#);
    for (at, change) in changes.enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let letter = char::from(change.face.letter());
        write!(json, r#"{comma}[{},"{letter}"]"#, change.seat)
            .expect("writing to a String cannot fail");
    }
    json.push_str("]}");
    json
}

pub struct Snapshot {
    /// Grows when anything changes.
    pub version: u64,
    /// One letter per seat in JSON: `{"version":…,"seats":"AAHS…"}`.
    pub json: Bytes,
    /// Two bits per seat, four seats per byte, the first in the lowest bits; `11` is no seat.
    pub packed: Bytes,
    /// Identifies the content; the same on every node.
    pub tag: String,
    pub counts: Counts,
    /// Free seats by grade.
    pub left: BTreeMap<String, u32>,
    /// Changes since earlier versions, oldest first.
    deltas: Vec<Arc<Delta>>,
    /// Offset of the letters in `json`.
    letters_at: usize,
    hall: Arc<Hall>,
    picks: Cache<LostPick, Choices>,
}

/// Seats that a fan lost, and the phase in which they asked for them.
#[derive(Clone, PartialEq, Eq, Hash)]
struct LostPick {
    phase: Option<PhaseId>,
    seats: Vec<SeatIndex>,
}

/// Alternative picks, each to be taken as a whole.
pub type Choices = Arc<[Vec<SeatIndex>]>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub available: u32,
    pub held: u32,
    pub sold: u32,
    pub kept: u32,
}

impl Snapshot {
    pub(crate) fn build(
        version: u64,
        faces: &[SeatFace],
        hall: &Arc<Hall>,
        deltas: Vec<Arc<Delta>>,
    ) -> Snapshot {
        let head = format!(r#"{{"version":{version},"seats":""#);
        let mut json = Vec::with_capacity(head.len() + faces.len() + 2);
        json.extend_from_slice(head.as_bytes());
        json.extend(faces.iter().map(|face| face.letter()));
        json.extend_from_slice(br#""}"#);
        let packed = pack(faces);
        let (counts, left) = count(faces, hall);
        Snapshot {
            version,
            json: Bytes::from(json),
            tag: tag_of(&packed),
            packed: Bytes::from(packed),
            counts,
            left,
            deltas,
            letters_at: head.len(),
            hall: hall.clone(),
            picks: Cache::weighing(PICKS_MAX, |_| 1),
        }
    }

    /// One letter per seat, in layout order.
    pub fn letters(&self) -> &[u8] {
        &self.json[self.letters_at..self.json.len() - 2]
    }

    pub fn is_available(&self, seat: SeatIndex) -> bool {
        self.letters().get(seat as usize) == Some(&SeatFace::Available.letter())
    }

    pub fn hall(&self) -> &Arc<Hall> {
        &self.hall
    }

    /// The delta that produced this version.
    pub fn latest(&self) -> Option<&Arc<Delta>> {
        self.deltas.last()
    }

    /// The changes since a version, as JSON; `None` if this node doesn't know that version (any
    /// more): then the caller sends the whole map.
    pub fn changes_since(&self, version: u64) -> Option<Bytes> {
        if version == self.version {
            return Some(changes_json(version, version, std::iter::empty()).into());
        }
        let first = self.deltas.iter().position(|delta| delta.since == version)?;
        if let [only] = &self.deltas[first..] {
            return Some(only.json.clone());
        }
        let later = self.deltas[first..].iter().flat_map(|delta| &delta.changes);
        let latest: BTreeMap<SeatIndex, SeatFace> =
            later.map(|change| (change.seat, change.face)).collect();
        let changes = latest.into_iter().map(|(seat, face)| Change { seat, face });
        Some(changes_json(version, self.version, changes).into())
    }

    /// Free seats near a lost pick, of those that the fan's phase sells. Callers who lost the same
    /// pick share the answer, which is computed once.
    pub fn alternatives(&self, lost: &[SeatIndex], phase: Option<&Phase>) -> Choices {
        let pick = LostPick { phase: phase.map(|phase| phase.id), seats: lost.to_vec() };
        if let Some(known) = self.picks.get(&pick) {
            return known;
        }
        let is_free = |seat| self.is_available(seat) && phase.is_none_or(|phase| phase.sells(seat));
        let found: Choices = alternatives(&self.hall, is_free, lost, ALTERNATIVES_MAX).into();
        self.picks.insert(pick, found.clone());
        found
    }
}

/// What the last byte has after the last seat.
const NO_SEAT: u8 = 0b11;

fn pack(faces: &[SeatFace]) -> Vec<u8> {
    let pack_four = |four: &[SeatFace]| {
        let bits = |index: usize| four.get(index).map_or(NO_SEAT, |face| face.bits());
        (0..4).fold(0, |byte, index| byte | (bits(index) << (2 * index)))
    };
    faces.chunks(4).map(pack_four).collect()
}

fn tag_of(packed: &[u8]) -> String {
    sha256(packed)[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn count(faces: &[SeatFace], hall: &Hall) -> (Counts, BTreeMap<String, u32>) {
    let mut counts = Counts::default();
    let mut left = vec![0_u32; hall.grades.len()];
    for (face, place) in faces.iter().zip(&hall.places) {
        match face {
            SeatFace::Available => {
                counts.available += 1;
                left[usize::from(place.grade)] += 1;
            }
            SeatFace::Held => counts.held += 1,
            SeatFace::Sold => counts.sold += 1,
            SeatFace::Kept => counts.kept += 1,
        }
    }
    (counts, hall.grades.iter().cloned().zip(left).collect())
}
