//! What everybody may know of the seats of one schedule, ready to send.

use crate::seals::sha256;
use bytes::Bytes;
use domain::best::alternatives;
use domain::hall::Hall;
use domain::id::SeatIndex;
use domain::seats::SeatFace;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::sync::{Arc, Mutex};

/// Other choices offered to somebody who lost a race.
const ALTERNATIVES_MAX: usize = 3;

/// Lost picks whose alternatives are kept while the snapshot lives.
const PICKS_KEPT_MAX: usize = 1_000;

/// A seat that looks different now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub seat: SeatIndex,
    pub face: SeatFace,
}

/// What changed from one version to the next.
#[derive(Debug)]
pub struct Delta {
    pub since: u64,
    pub version: u64,
    pub changes: Vec<Change>,
    /// As JSON, ready to send.
    pub json: Bytes,
}

impl Delta {
    pub(super) fn new(since: u64, version: u64, changes: Vec<Change>) -> Delta {
        let json = changes_json(since, version, changes.iter().copied()).into();
        Delta { since, version, changes, json }
    }
}

fn changes_json(since: u64, version: u64, changes: impl Iterator<Item = Change>) -> String {
    let mut json = format!(r#"{{"version":{version},"since":{since},"changes":["#);
    for (at, change) in changes.enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let letter = char::from(change.face.letter());
        write!(json, r#"{comma}[{},"{letter}"]"#, change.seat).expect("a String takes all text");
    }
    json.push_str("]}");
    json
}

pub struct Snapshot {
    /// Grows when anything changed.
    pub version: u64,
    /// One letter a seat in JSON: `{"version":…,"seats":"AAHS…"}`.
    pub json: Bytes,
    /// Two bits a seat, four seats a byte, the first in the lowest bits.
    pub packed: Bytes,
    /// Names the faces, whatever node answers.
    pub tag: String,
    pub counts: Counts,
    /// Free seats by grade.
    pub left: BTreeMap<String, u32>,
    /// Since earlier versions, oldest first.
    deltas: Vec<Arc<Delta>>,
    /// Where the letters begin in `json`.
    letters_at: usize,
    hall: Arc<Hall>,
    picks: Mutex<HashMap<Vec<SeatIndex>, Choices>>,
}

/// Seats to take instead, each group at once.
pub type Choices = Arc<[Vec<SeatIndex>]>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub available: u32,
    pub held: u32,
    pub sold: u32,
}

impl Snapshot {
    pub(super) fn build(
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
            picks: Mutex::default(),
        }
    }

    /// One letter a seat, in layout order.
    pub fn letters(&self) -> &[u8] {
        &self.json[self.letters_at..self.json.len() - 2]
    }

    pub fn is_available(&self, seat: SeatIndex) -> bool {
        self.letters().get(seat as usize) == Some(&SeatFace::Available.letter())
    }

    pub fn hall(&self) -> &Arc<Hall> {
        &self.hall
    }

    /// The change that made this version.
    pub fn latest(&self) -> Option<&Arc<Delta>> {
        self.deltas.last()
    }

    /// What changed since a version, as JSON; nothing when this node does not know that version
    /// (any more): then the whole map is the answer.
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

    /// Free seats near those that somebody has just lost. Everybody who lost the same gets the
    /// same answer, found once.
    pub fn alternatives(&self, lost: &[SeatIndex]) -> Choices {
        let known = self.picks.lock().expect("nothing panics under this lock").get(lost).cloned();
        if let Some(known) = known {
            return known;
        }
        let is_free = |seat| self.is_available(seat);
        let found: Choices = alternatives(&self.hall, is_free, lost, ALTERNATIVES_MAX).into();
        let mut picks = self.picks.lock().expect("nothing panics under this lock");
        if picks.len() < PICKS_KEPT_MAX {
            picks.insert(lost.to_vec(), found.clone());
        }
        found
    }
}

fn pack(faces: &[SeatFace]) -> Vec<u8> {
    let pack_four = |four: &[SeatFace]| {
        four.iter().enumerate().fold(0, |byte, (index, face)| byte | (face.bits() << (2 * index)))
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
        }
    }
    (counts, hall.grades.iter().cloned().zip(left).collect())
}
