//! Member lists: CSV files of up to a million lines, read as they arrive. Only keyed hashes leave
//! this file.

use crate::catalog::phases::port::{AddMembers, ImportView, KeyHash, LineProblem, StartImport};
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::keyring::Keyring;
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::identity::{CiHash, Email, Phone};
use podo_domain::{ImportId, PhaseId, Refusal, UserId};

/// Members in one write.
const BATCH: usize = 500;

/// Longest line, in bytes.
const LINE_MAX: usize = 4_096;

/// How a fan names a membership: by one of these, and the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberKey {
    pub id: MemberIdentifier,
    pub name: Line<200>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberIdentifier {
    Email(Email),
    Phone(Phone),
    Number(Line<100>),
}

impl MemberIdentifier {
    /// The field of the request that has it, and its text.
    pub(crate) fn named(&self) -> (&'static str, &str) {
        match self {
            MemberIdentifier::Email(email) => ("email", email.as_str()),
            MemberIdentifier::Phone(phone) => ("phone", phone.as_str()),
            MemberIdentifier::Number(number) => ("membershipNumber", number.as_str()),
        }
    }

    /// Spelling differences that don't matter are removed.
    fn key(&self) -> (&'static str, String) {
        match self {
            MemberIdentifier::Email(email) => ("email", email.as_str().to_owned()),
            MemberIdentifier::Phone(phone) => ("phone", phone.as_str().to_owned()),
            MemberIdentifier::Number(number) => ("number", plain(number.as_str())),
        }
    }
}

/// How a line of a list names its member.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ListedKey {
    /// What fans type.
    Named(MemberKey),
    /// The verified identity, which the account has.
    Identity(CiHash),
}

impl ListedKey {
    fn hash(&self, keyring: &Keyring, phase: PhaseId) -> KeyHash {
        match self {
            ListedKey::Named(key) => member_key(keyring, phase, key),
            ListedKey::Identity(hash) => identity_key(keyring, phase, hash),
        }
    }
}

/// The phase is part of it, so that lists of two phases can't be linked.
pub(crate) fn member_key(keyring: &Keyring, phase: PhaseId, key: &MemberKey) -> KeyHash {
    let ((kind, value), name) = (key.id.key(), plain(key.name.as_str()));
    keyring.lookup("phase member", &format!("{phase}\n{kind}\n{value}\n{name}"))
}

/// A person has one CI, so this key needs no name.
pub(crate) fn identity_key(keyring: &Keyring, phase: PhaseId, hash: &CiHash) -> KeyHash {
    keyring.lookup("phase member", &format!("{phase}\nci\n{}", hash.as_str()))
}

/// A membership that the organiser's server confirmed, whatever name was typed with it.
pub(crate) fn confirmed_key(keyring: &Keyring, phase: PhaseId, id: &MemberIdentifier) -> KeyHash {
    let (kind, value) = id.key();
    keyring.lookup("phase confirmed member", &format!("{phase}\n{kind}\n{value}"))
}

/// Without spaces and dashes, in lower case.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    kept.flat_map(char::to_lowercase).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Email,
    Phone,
    Number,
    CiHash,
    Name,
}

impl Column {
    const fn name(self) -> &'static str {
        match self {
            Column::Email => "email",
            Column::Phone => "phone",
            Column::Number => "membershipNumber",
            Column::CiHash => "ciHash",
            Column::Name => "name",
        }
    }

    fn parse(text: &str) -> Option<Column> {
        match plain(text).as_str() {
            "email" | "이메일" => Some(Column::Email),
            "phone" | "전화번호" | "휴대폰" => Some(Column::Phone),
            "membershipnumber" | "number" | "회원번호" => Some(Column::Number),
            "cihash" | "ci해시" => Some(Column::CiHash),
            "name" | "이름" => Some(Column::Name),
            _ => None,
        }
    }
}

/// A member list that is being read. Lines before a failure stay imported; repeating the upload
/// adds only what is missing.
pub struct MemberImport<'c> {
    context: &'c AppContext,
    phase: PhaseId,
    import: ImportId,
    reader: LineReader,
    columns: Option<Vec<Option<Column>>>,
    members: Vec<Vec<KeyHash>>,
    problems: Vec<LineProblem>,
}

impl<'c> MemberImport<'c> {
    /// Refuses an unknown phase.
    pub async fn start(
        context: &'c AppContext,
        actor: UserId,
        phase: PhaseId,
    ) -> Result<MemberImport<'c>> {
        let now = context.now();
        let import = ImportId::new(context.rng.id(now));
        context.store.start_import(StartImport { actor, phase, import, now }).await?;
        Ok(MemberImport {
            context,
            phase,
            import,
            reader: LineReader::default(),
            columns: None,
            members: Vec::new(),
            problems: Vec::new(),
        })
    }

    /// The next bytes of the file.
    pub async fn feed(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        while let Some((line, after)) = self.reader.line(rest) {
            rest = after;
            self.read(line)?;
            if self.members.len() + self.problems.len() >= BATCH {
                self.write(false).await?;
            }
        }
        Ok(())
    }

    /// The end of the file. Refuses a file without the line that names the columns.
    pub async fn finish(mut self) -> Result<ImportView> {
        if let Some(line) = self.reader.last() {
            self.read(line)?;
        }
        if self.columns.is_none() {
            return Err(Refusal::InvalidMemberList.into());
        }
        self.write(true).await
    }

    fn read(&mut self, line: RawLine) -> Result<()> {
        let Some(columns) = &self.columns else {
            self.columns = Some(read_columns(&line).ok_or(Refusal::InvalidMemberList)?);
            return Ok(());
        };
        if line.bytes.trim_ascii().is_empty() && !line.is_too_long {
            return Ok(());
        }
        match read_member(columns, &line) {
            Ok(keys) => {
                let hash = |key: &ListedKey| key.hash(&self.context.keyring, self.phase);
                self.members.push(keys.iter().map(hash).collect());
            }
            Err(problem) => self.problems.push(problem),
        }
        Ok(())
    }

    async fn write(&mut self, is_last: bool) -> Result<ImportView> {
        let command = AddMembers {
            phase: self.phase,
            import: self.import,
            members: std::mem::take(&mut self.members),
            problems: std::mem::take(&mut self.problems),
            is_last,
            now: self.context.now(),
        };
        self.context.store.add_members(command).await
    }
}

/// The columns that the first line names; unknown ones are ignored. `None` without anything to
/// identify a member by, or without a name beside what needs one.
fn read_columns(line: &RawLine) -> Option<Vec<Option<Column>>> {
    let text = std::str::from_utf8(&line.bytes).ok().filter(|_| !line.is_too_long)?;
    let fields = split(text.trim_start_matches('\u{feff}'))?;
    let columns: Vec<Option<Column>> = fields.iter().map(|name| Column::parse(name)).collect();
    let count = |column| columns.iter().filter(|it| **it == Some(column)).count();
    let counts = [Column::Email, Column::Phone, Column::Number].map(count);
    let (n_names, n_hashes) = (count(Column::Name), count(Column::CiHash));
    let n_named = counts.iter().sum::<usize>();
    let is_right = counts.iter().all(|n| *n <= 1)
        && n_names <= 1
        && n_hashes <= 1
        && n_named + n_hashes > 0
        && (n_names == 1 || n_named == 0);
    is_right.then_some(columns)
}

fn read_member(
    columns: &[Option<Column>],
    line: &RawLine,
) -> std::result::Result<Vec<ListedKey>, LineProblem> {
    let wrong = |field: &str, problem: String| LineProblem {
        line: line.number,
        field: field.to_owned(),
        problem,
    };
    if line.is_too_long {
        return Err(wrong("", FieldError::TooLong { max: LINE_MAX }.to_string()));
    }
    let text = std::str::from_utf8(&line.bytes);
    let text = text.map_err(|_error| wrong("", "not_utf8".to_owned()))?;
    let fields = split(text).filter(|fields| fields.len() == columns.len());
    let fields = fields.ok_or_else(|| wrong("", "columns".to_owned()))?;
    let given = columns.iter().zip(fields).filter(|(_, field)| !field.trim().is_empty());
    let given = given.filter_map(|(column, field)| Some(((*column)?, field)));
    let (names, ids): (Vec<_>, Vec<_>) = given.partition(|(column, _)| *column == Column::Name);
    if ids.is_empty() {
        let first = columns.iter().flatten().find(|column| **column != Column::Name);
        return Err(wrong(first.map_or("", |column| column.name()), "blank".to_owned()));
    }
    let name = names.into_iter().next().map(|(_, name)| Line::try_from(name));
    let name: Option<Line<200>> =
        name.transpose().map_err(|problem| wrong("name", problem.to_string()))?;
    let key = |(column, text)| {
        read_key(column, text, name.as_ref())
            .map_err(|(column, problem)| wrong(column.name(), problem.to_string()))
    };
    ids.into_iter().map(key).collect()
}

/// Names the column of a problem.
fn read_key(
    column: Column,
    text: String,
    name: Option<&Line<200>>,
) -> std::result::Result<ListedKey, (Column, FieldError)> {
    let at = |problem| (column, problem);
    let id = match column {
        Column::CiHash => return CiHash::try_from(text).map(ListedKey::Identity).map_err(at),
        Column::Email => Email::try_from(text).map(MemberIdentifier::Email),
        Column::Phone => Phone::try_from(text).map(MemberIdentifier::Phone),
        Column::Number | Column::Name => Line::try_from(text).map(MemberIdentifier::Number),
    };
    let name = name.cloned().ok_or((Column::Name, FieldError::Blank))?;
    Ok(ListedKey::Named(MemberKey { id: id.map_err(at)?, name }))
}

/// The fields of a line (RFC 4180, without line breaks inside a field). `None` if a quote is open.
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match (letter, is_quoted) {
            ('"', true) if letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            ('"', true) => is_quoted = false,
            ('"', false) if field.trim().is_empty() => {
                field.clear();
                is_quoted = true;
            }
            (',', false) => fields.push(std::mem::take(&mut field)),
            (letter, _) => field.push(letter),
        }
    }
    fields.push(field);
    (!is_quoted).then_some(fields)
}

/// One line without its line break.
struct RawLine {
    /// From 1.
    number: u64,
    bytes: Vec<u8>,
    is_too_long: bool,
}

/// Cuts bytes that arrive in pieces into lines. A line that is too long costs no memory.
#[derive(Default)]
struct LineReader {
    n_lines: u64,
    part: Vec<u8>,
    is_too_long: bool,
}

impl LineReader {
    /// The next complete line, and the bytes after it.
    fn line<'b>(&mut self, bytes: &'b [u8]) -> Option<(RawLine, &'b [u8])> {
        match bytes.iter().position(|byte| *byte == b'\n') {
            Some(end) => {
                self.keep(&bytes[..end]);
                Some((self.take(), &bytes[end + 1..]))
            }
            None => {
                self.keep(bytes);
                None
            }
        }
    }

    /// The last line, if it has no line break.
    fn last(&mut self) -> Option<RawLine> {
        (!self.part.is_empty() || self.is_too_long).then(|| self.take())
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.is_too_long |= self.part.len() + bytes.len() > LINE_MAX;
        match self.is_too_long {
            true => self.part.clear(),
            false => self.part.extend(bytes),
        }
    }

    fn take(&mut self) -> RawLine {
        self.n_lines += 1;
        let mut bytes = std::mem::take(&mut self.part);
        if bytes.last() == Some(&b'\r') {
            bytes.pop();
        }
        let is_too_long = std::mem::take(&mut self.is_too_long);
        RawLine { number: self.n_lines, bytes, is_too_long }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn line(text: &str) -> RawLine {
        RawLine { number: 7, bytes: text.as_bytes().to_vec(), is_too_long: false }
    }

    fn member(text: &str) -> std::result::Result<usize, (String, String)> {
        let columns = read_columns(&line("email,phone,회원번호,이름,memo")).unwrap();
        let read = read_member(&columns, &line(text));
        read.map(|keys| keys.len()).map_err(|problem| {
            assert_eq!(problem.line, 7);
            (problem.field, problem.problem)
        })
    }

    #[test]
    fn a_member_has_a_key_for_each_identifier() {
        assert_eq!(member("a@b.kr,010-1234-5678,P-1,김포도,"), Ok(3));
        assert_eq!(member(",,P-1,\"김, 포도\",x"), Ok(1));
    }

    #[test]
    fn a_wrong_line_names_its_field() {
        let wrong = |text: &str, field: &str, problem: &str| {
            assert_eq!(member(text), Err((field.to_owned(), problem.to_owned())), "{text}");
        };
        wrong("a@b.kr,,,,", "name", "blank");
        wrong(",,,김포도,", "email", "blank");
        wrong("not-an-address,,,김포도,", "email", "not_an_email");
        wrong(",12,,김포도,", "phone", "not_a_phone");
        wrong("a@b.kr,김포도", "", "columns");
        wrong("\"a@b.kr,,,김포도,", "", "columns");
    }

    #[test]
    fn a_hash_of_the_ci_needs_no_name() {
        let columns = read_columns(&line("membershipNumber,ciHash,name")).unwrap();
        let hash = "AB".repeat(32);
        let read = |text: String| read_member(&columns, &line(&text)).map_err(|it| it.problem);
        let by_ci = CiHash::try_from(hash.clone()).unwrap();
        assert_eq!(read(format!(",{hash},")), Ok(vec![ListedKey::Identity(by_ci)]));
        assert_eq!(read(format!("P-1,{hash},김포도")).map(|keys| keys.len()), Ok(2));
        assert_eq!(read(format!("P-1,{hash},")), Err("blank".to_owned()));
        assert_eq!(read(",abc,김포도".to_owned()), Err("not_a_hash".to_owned()));
        assert!(read_columns(&line("ciHash")).is_some() && read_columns(&line("CI해시")).is_some());
    }

    #[test]
    fn the_first_line_needs_a_name_and_an_identifier_once() {
        for wrong in
            ["", "email", "name", "name,name,email", "name,email,이메일", "memo,x", "ciHash,email"]
        {
            assert!(read_columns(&line(wrong)).is_none(), "{wrong}");
        }
        assert!(read_columns(&line("\u{feff}Name,E-Mail")).is_some());
    }

    #[test]
    fn lines_arrive_in_any_pieces() {
        let text = b"a\r\nbb\n\nccc";
        for size in 1..=text.len() {
            let (mut reader, mut lines) = (LineReader::default(), Vec::new());
            for piece in text.chunks(size) {
                let mut rest = piece;
                while let Some((line, after)) = reader.line(rest) {
                    lines.push((line.number, line.bytes));
                    rest = after;
                }
            }
            lines.extend(reader.last().map(|line| (line.number, line.bytes)));
            let expected = [(1, "a"), (2, "bb"), (3, ""), (4, "ccc")];
            assert_eq!(lines, expected.map(|(nr, text)| (nr, text.as_bytes().to_vec())));
        }
    }

    #[test]
    fn a_line_that_never_ends_is_one_problem() {
        let mut reader = LineReader::default();
        for _ in 0..100 {
            assert!(reader.line(&[b'x'; 1_000]).is_none());
            assert!(reader.part.len() <= LINE_MAX);
        }
        let (long, rest) = reader.line(b"\nnext").unwrap();
        assert!(long.is_too_long && rest == b"next");
        let (next, _) = reader.line(b"next\n").unwrap();
        assert!(!next.is_too_long && next.bytes == b"next");
    }

    #[test]
    fn spelling_does_not_matter_but_the_phase_does() {
        let keyring = Keyring::new(&[7; 32]);
        let key = |number: &str, name: &str| MemberKey {
            id: MemberIdentifier::Number(Line::try_from(number.to_owned()).unwrap()),
            name: Line::try_from(name.to_owned()).unwrap(),
        };
        let phase = |bits: u128| PhaseId::new(Uuid::from_u128(bits));
        let hash = |phase, key: &MemberKey| member_key(&keyring, phase, key);
        assert_eq!(
            hash(phase(1), &key("p-12 3", "김 포도")),
            hash(phase(1), &key("P123", "김포도"))
        );
        assert_ne!(hash(phase(1), &key("P123", "김포도")), hash(phase(2), &key("P123", "김포도")));
        assert_ne!(hash(phase(1), &key("P123", "김포도")), hash(phase(1), &key("P123", "박포도")));
    }
}
