//! Sale phases in the store, and who is eligible for them. Codes and member lists are stored only as
//! keyed hashes.

use crate::error::Result;
use async_trait::async_trait;
use podo_domain::catalog::phases::{Phase, PhaseInput};
use podo_domain::{ImportId, PhaseId, ScheduleId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A keyed hash of a code, or of a member's address, phone or number with the name.
pub type KeyHash = [u8; 32];

/// Replaces all phases of a date.
#[derive(Clone, Debug)]
pub struct SetPhases {
    pub actor: UserId,
    pub schedule: ScheduleId,
    pub phases: Vec<PhaseInput>,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct AddCodes {
    pub actor: UserId,
    pub phase: PhaseId,
    pub codes: Vec<KeyHash>,
    /// How many fans may use each code.
    pub uses_max: u32,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct StartImport {
    pub actor: UserId,
    pub phase: PhaseId,
    pub import: ImportId,
    pub now: Timestamp,
}

/// Some lines of a member list.
#[derive(Clone, Debug)]
pub struct AddMembers {
    pub phase: PhaseId,
    pub import: ImportId,
    /// The keys of each member.
    pub members: Vec<Vec<KeyHash>>,
    pub problems: Vec<LineProblem>,
    /// Whether these are the last lines.
    pub is_last: bool,
    pub now: Timestamp,
}

/// A line of a member list that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineProblem {
    /// From 1; the first line names the columns.
    pub line: u64,
    /// The column with the problem.
    pub field: String,
    /// `blank`, `too_long:200`, `not_an_email`, `not_a_phone`, `not_a_hash`, `not_utf8` or `columns`.
    pub problem: String,
}

/// How far a member list has been read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportView {
    pub id: ImportId,
    /// Lines read, without the one that names the columns.
    pub lines: u64,
    pub added: u64,
    /// Members who were on the list already.
    pub known: u64,
    /// Lines that were left out.
    pub wrong: u64,
    /// The first hundred lines that were left out.
    pub problems: Vec<LineProblem>,
    /// Absent while the file is being read. An import that stopped without it was interrupted;
    /// repeating it adds only what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

/// Most wrong lines that an import remembers.
pub const PROBLEMS_MAX: usize = 100;

/// How many people a phase is prepared for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasePeople {
    pub phase: PhaseId,
    pub n_codes: u64,
    /// How often its codes can be used, and how often they were.
    pub n_uses: u64,
    pub n_used: u64,
    pub n_members: u64,
    pub n_eligible: u64,
    /// Newest first.
    pub imports: Vec<ImportView>,
    /// Where the organiser's server is asked.
    pub webhook_url: Option<String>,
}

/// An organiser's server that decides who is a member; the list of the phase is then ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberWebhook {
    pub phase: PhaseId,
    pub url: String,
    /// Encrypted; the previous secret stays valid until the next rotation.
    pub secret: Vec<u8>,
    pub previous_secret: Option<Vec<u8>>,
}

#[derive(Clone, Debug)]
pub struct SetMemberWebhook {
    pub actor: UserId,
    pub webhook: MemberWebhook,
    pub now: Timestamp,
}

/// What a fan proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseProof {
    Code(KeyHash),
    /// A line of the list.
    Member(KeyHash),
    /// The membership that the organiser's server confirmed.
    Confirmed(KeyHash),
    /// The account's identity is verified.
    Identity,
}

#[derive(Clone, Debug)]
pub struct Verify {
    pub phase: PhaseId,
    pub user: UserId,
    pub proof: PhaseProof,
    /// Whether the fan asked for it, who then gets a notification if the phase isn't open yet.
    pub is_asked: bool,
    pub now: Timestamp,
}

#[async_trait]
pub trait Phases: Send + Sync {
    /// Refusals: `NotFound`, `InvalidPhase`, `PhasesOverlap`, `PhaseOutsideSale`, `PhaseBegun`.
    async fn set_phases(&self, command: SetPhases) -> Result<Vec<Phase>>;

    /// Returns how many codes are new. Refusals: `NotFound`.
    async fn add_codes(&self, command: AddCodes) -> Result<u64>;

    /// Refusals: `NotFound`.
    async fn start_import(&self, command: StartImport) -> Result<()>;

    /// Adds the members who aren't on the list yet, and counts in the import.
    async fn add_members(&self, command: AddMembers) -> Result<ImportView>;

    async fn phase_people(&self, schedule: ScheduleId) -> Result<Vec<PhasePeople>>;

    /// Makes the fan eligible; a fan who already is changes nothing. Refusals: `NotFound`,
    /// `PhaseCodeWrong`, `PhaseCodeUsed`, `MemberUnknown`, `MemberTaken`.
    async fn verify(&self, command: Verify) -> Result<()>;

    /// Whether a line of the list has this key and no account was verified with it; false if the
    /// organiser's server decides.
    async fn has_free_member(&self, phase: PhaseId, key: KeyHash) -> Result<bool>;

    async fn member_webhook(&self, phase: PhaseId) -> Result<Option<MemberWebhook>>;

    /// Adds or replaces it. Refusals: `NotFound`.
    async fn set_member_webhook(&self, command: SetMemberWebhook) -> Result<()>;

    /// Refusals: `NotFound`, `NoMemberWebhook`.
    async fn remove_member_webhook(
        &self,
        phase: PhaseId,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()>;

    /// The phases of the date that the fan has proven to be eligible for.
    async fn eligible_phases(&self, user: UserId, schedule: ScheduleId) -> Result<Vec<PhaseId>>;

    /// Deletes at most `limit` codes and members of each phase of a date, and its webhooks; returns the most that it
    /// deleted of a kind. What fans proved stays: it shows why their purchases were allowed.
    async fn forget_phase_people(&self, schedule: ScheduleId, limit: u32) -> Result<u64>;
}
