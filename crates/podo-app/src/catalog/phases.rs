//! Sale phases: what organisers set up, and what fans prove before a phase opens, so that they type
//! nothing at the opening itself.

pub mod draws;
pub mod draws_port;
pub mod member_webhook;
pub mod members;
pub mod port;

use crate::cache::Cache;
use crate::catalog::phases::draws::AdminDrawView;
use crate::catalog::phases::member_webhook::MemberWebhookView;
use crate::catalog::phases::members::{MemberKey, identity_key, member_key};
use crate::catalog::phases::port::{
    AddCodes, ImportView, KeyHash, PhasePeople, PhaseProof, SetPhases, Verify,
};
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::{identity_hash, require_identity};
use podo_domain::catalog::phases::{Phase, PhaseAudience, PhaseInput};
use podo_domain::catalog::text::FieldError;
use podo_domain::catalog::{SaleWindow, ScheduleStatus};
use podo_domain::{PhaseId, Refusal, ScheduleId, Timestamp, UserId};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;
use utoipa::ToSchema;

/// Attempts to verify, per fan: guessing a code must not pay.
const TRIES: u32 = 10;
const TRIES_PER: Duration = Duration::from_secs(600);

/// Most codes in one request.
pub const CODES_MAX: usize = 10_000;

/// Most uses of one code.
pub const CODE_USES_MAX: u32 = 1_000_000;

/// Fans who have proven their right to a phase. A proof never lapses, so the answer can be cached;
/// at an opening the store is asked about each fan once. The hold asks the store again.
pub struct EligibilityCache(Cache<(PhaseId, UserId), ()>);

/// The store is asked again about a fan who was evicted.
const ELIGIBLE_MAX: usize = 500_000;

impl Default for EligibilityCache {
    fn default() -> EligibilityCache {
        EligibilityCache(Cache::of(ELIGIBLE_MAX))
    }
}

/// A phase as everyone sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PhaseView {
    pub id: PhaseId,
    pub name: String,
    pub name_en: String,
    pub starts_at: Timestamp,
    pub ends_at: Timestamp,
    pub status: ScheduleStatus,
    pub audience: PhaseAudience,
    /// Seats per person in this phase; the date's limit counts over all phases.
    pub seats_per_person: u32,
    /// Most seats in one order; as the date if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seats_per_order: Option<u32>,
    /// The grades that it sells; absent if it sells all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grades: Option<BTreeSet<String>>,
    /// The sections that it sells; absent if it sells all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sections: Option<BTreeSet<String>>,
}

impl PhaseView {
    pub fn of(phase: &Phase, now: Timestamp) -> PhaseView {
        let terms = &phase.terms;
        let SaleWindow { starts_at, ends_at } = terms.window;
        PhaseView {
            id: phase.id,
            name: terms.name.clone(),
            name_en: terms.name_en.clone(),
            starts_at,
            ends_at,
            status: terms.window.status_at(now),
            audience: terms.audience,
            seats_per_person: terms.seats_per_person,
            seats_per_order: terms.seats_per_order,
            grades: terms.inventory.grades.clone(),
            sections: terms.inventory.sections.clone(),
        }
    }
}

/// What a fan still has to prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MissingProof {
    Code,
    Membership,
    Identity,
    /// An application that wins the draw.
    Draw,
}

/// A phase as one fan sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyPhaseView {
    #[serde(flatten)]
    pub phase: PhaseView,
    /// Whether this fan may buy in it.
    pub eligible: bool,
    /// What the fan has to prove first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingProof>,
}

/// A phase as organisers see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AdminPhaseView {
    #[serde(flatten)]
    pub phase: PhaseView,
    pub codes: u64,
    /// How often its codes can be used, and how often they were.
    pub code_uses: u64,
    pub codes_used: u64,
    pub members: u64,
    /// Fans who have proven that they are eligible.
    pub verified: u64,
    /// The latest member lists, newest first.
    pub imports: Vec<ImportView>,
    /// The organiser's server that decides who is a member, instead of the list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_webhook: Option<MemberWebhookView>,
    /// The draw of a phase for winners, once it is set up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<AdminDrawView>,
}

impl AdminPhaseView {
    fn of(phase: &Phase, people: Option<&PhasePeople>, now: Timestamp) -> AdminPhaseView {
        let count = |of: fn(&PhasePeople) -> u64| people.map_or(0, of);
        AdminPhaseView {
            phase: PhaseView::of(phase, now),
            codes: count(|people| people.n_codes),
            code_uses: count(|people| people.n_uses),
            codes_used: count(|people| people.n_used),
            members: count(|people| people.n_members),
            verified: count(|people| people.n_eligible),
            imports: people.map(|people| people.imports.clone()).unwrap_or_default(),
            member_webhook: people
                .and_then(|people| people.webhook_url.clone())
                .map(|url| MemberWebhookView { url, secret: None }),
            draw: None,
        }
    }
}

/// Replaces the phases of a date.
pub async fn set_phases(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    phases: Vec<PhaseInput>,
) -> Result<Vec<AdminPhaseView>> {
    let command = SetPhases { actor, schedule, phases, now: context.now() };
    context.store.set_phases(command).await?;
    context.catalog.schedules.forget(schedule);
    context.catalog.cache.invalidate(context).await;
    show_phases(context, schedule).await
}

/// The phases of a date with their codes, members and verified fans.
pub async fn show_phases(
    context: &AppContext,
    schedule: ScheduleId,
) -> Result<Vec<AdminPhaseView>> {
    let now = context.now();
    let record = context.store.schedule(schedule).await?.ok_or(Refusal::NotFound)?;
    let people = context.store.phase_people(schedule).await?;
    let view = |phase: &Phase| {
        AdminPhaseView::of(phase, people.iter().find(|people| people.phase == phase.id), now)
    };
    let mut views: Vec<AdminPhaseView> = record.phases.iter().map(view).collect();
    for view in &mut views {
        if view.phase.audience == PhaseAudience::Drawn {
            view.draw = draws::show_progress(context, view.phase.id).await?;
        }
    }
    Ok(views)
}

/// The phases of a date, with what this fan is eligible for and what is missing.
pub async fn my_phases(
    context: &AppContext,
    fan: UserId,
    schedule: ScheduleId,
) -> Result<Vec<MyPhaseView>> {
    let now = context.now();
    let record = context.catalog.schedules.get(&*context.store, schedule, now).await?;
    if record.phases.is_empty() {
        return Ok(Vec::new());
    }
    let proven = context.store.eligible_phases(fan, schedule).await?;
    let mut views = Vec::with_capacity(record.phases.len());
    for phase in &record.phases {
        let missing = missing_proof(context, fan, phase, &proven).await?;
        let phase = PhaseView::of(phase, now);
        views.push(MyPhaseView { phase, eligible: missing.is_none(), missing });
    }
    Ok(views)
}

async fn missing_proof(
    context: &AppContext,
    fan: UserId,
    phase: &Phase,
    proven: &[PhaseId],
) -> Result<Option<MissingProof>> {
    if proven.contains(&phase.id) {
        return Ok(None);
    }
    Ok(match phase.terms.audience {
        PhaseAudience::Everybody => None,
        PhaseAudience::Code => Some(MissingProof::Code),
        PhaseAudience::Members => {
            let proof = listed_identity(context, fan, phase.id).await?;
            proof.is_none().then_some(MissingProof::Membership)
        }
        PhaseAudience::VerifiedIdentity => {
            (!is_identified(context, fan).await?).then_some(MissingProof::Identity)
        }
        PhaseAudience::Drawn => Some(MissingProof::Draw),
    })
}

async fn is_identified(context: &AppContext, fan: UserId) -> Result<bool> {
    match require_identity(context, fan).await {
        Ok(()) => Ok(true),
        Err(Error::Refused(Refusal::IdentityRequired)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The line of the member list that has the fan's verified identity, unless it is taken: such a fan
/// types nothing.
async fn listed_identity(
    context: &AppContext,
    fan: UserId,
    phase: PhaseId,
) -> Result<Option<PhaseProof>> {
    let Some(hash) = identity_hash(context, fan).await? else { return Ok(None) };
    let key = identity_key(&context.keyring, phase, &hash);
    let is_free = context.store.has_free_member(phase, key).await?;
    Ok(is_free.then_some(PhaseProof::Member(key)))
}

/// What a fan enters on the event page. A verified identity needs nothing: the account has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    Code(String),
    Member(MemberKey),
    Identity,
}

/// Makes the fan eligible for a phase, until it ends. A fan who already is changes nothing.
pub async fn verify(
    context: &AppContext,
    fan: UserId,
    phase: PhaseId,
    proof: Proof,
) -> Result<MyPhaseView> {
    let now = context.now();
    context.take(&format!("phase:{fan}"), TRIES, TRIES_PER).await?;
    let room = context.catalog.schedules.room(&*context.store, phase.room(), now).await?;
    let room = room.ok_or(Refusal::NotFound)?;
    let found = room.phase().ok_or(Refusal::NotFound)?;
    if found.is_over(now) {
        return Err(Refusal::SaleClosed.into());
    }
    let audience = found.terms.audience;
    let proof = match (audience, proof) {
        (PhaseAudience::Everybody, _) => None,
        (PhaseAudience::Code, Proof::Code(code)) => Some(code_proof(context, phase, &code)?),
        (PhaseAudience::Members, Proof::Member(key)) => {
            Some(member_proof(context, fan, phase, &key).await?)
        }
        (PhaseAudience::Members, Proof::Identity) => {
            let wrong = Refusal::WrongPhaseProof { field: "name" };
            Some(listed_identity(context, fan, phase).await?.ok_or(wrong)?)
        }
        (PhaseAudience::VerifiedIdentity, _) => {
            require_identity(context, fan).await?;
            Some(PhaseProof::Identity)
        }
        (PhaseAudience::Drawn, _) => return Err(Refusal::DrawOnly.into()),
        (PhaseAudience::Code, Proof::Member(_) | Proof::Identity) => {
            return Err(Refusal::WrongPhaseProof { field: "code" }.into());
        }
        (PhaseAudience::Members, Proof::Code(_)) => {
            return Err(Refusal::WrongPhaseProof { field: "name" }.into());
        }
    };
    if let Some(proof) = proof {
        context.store.verify(Verify { phase, user: fan, proof, is_asked: true, now }).await?;
    }
    Ok(MyPhaseView { phase: PhaseView::of(found, now), eligible: true, missing: None })
}

/// By the list, or by the organiser's server, which isn't asked again about a verified fan.
async fn member_proof(
    context: &AppContext,
    fan: UserId,
    phase: PhaseId,
    key: &MemberKey,
) -> Result<PhaseProof> {
    let by_list = PhaseProof::Member(member_key(&context.keyring, phase, key));
    let Some(webhook) = context.store.member_webhook(phase).await? else { return Ok(by_list) };
    if context.store.eligible_phases(fan, phase.schedule()).await?.contains(&phase) {
        return Ok(by_list);
    }
    member_webhook::ask(context, &webhook, key).await.map(PhaseProof::Confirmed)
}

/// Refuses fans who aren't eligible, and everybody in a phase for winners of a draw, who get offers
/// and need no entry. What the account proves by itself is recorded here, so that the
/// hold finds every audience in one table.
pub(crate) async fn require_eligible(
    context: &AppContext,
    fan: UserId,
    phase: &Phase,
) -> Result<()> {
    let audience = phase.terms.audience;
    if audience == PhaseAudience::Drawn {
        return Err(Refusal::DrawOnly.into());
    }
    let known = &context.catalog.eligible.0;
    if !audience.is_limited() || known.contains(&(phase.id, fan)) {
        return Ok(());
    }
    let proven = context.store.eligible_phases(fan, phase.id.schedule()).await?;
    if !proven.contains(&phase.id) {
        let proof = proof_without_typing(context, fan, phase).await?;
        let proof = proof.ok_or(Refusal::NotEligible { phase: phase.id, audience })?;
        let now = context.now();
        let verify = Verify { phase: phase.id, user: fan, proof, is_asked: false, now };
        context.store.verify(verify).await?;
    }
    known.insert((phase.id, fan), ());
    Ok(())
}

/// What the account proves by itself.
async fn proof_without_typing(
    context: &AppContext,
    fan: UserId,
    phase: &Phase,
) -> Result<Option<PhaseProof>> {
    Ok(match phase.terms.audience {
        PhaseAudience::VerifiedIdentity => {
            is_identified(context, fan).await?.then_some(PhaseProof::Identity)
        }
        PhaseAudience::Members => listed_identity(context, fan, phase.id).await?,
        PhaseAudience::Everybody | PhaseAudience::Code | PhaseAudience::Drawn => None,
    })
}

fn code_proof(context: &AppContext, phase: PhaseId, code: &str) -> Result<PhaseProof> {
    let code = clean_code(code).ok_or(Refusal::PhaseCodeWrong)?;
    Ok(PhaseProof::Code(code_hash(context, phase, &code)))
}

/// Capital letters and digits, without the spaces and dashes that make a code readable.
fn clean_code(code: &str) -> Option<String> {
    let kept = code.chars().filter(|letter| !letter.is_whitespace() && *letter != '-');
    let code: String = kept.map(|letter| letter.to_ascii_uppercase()).collect();
    let is_code =
        (4..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_code.then_some(code)
}

/// Bound to the phase, so that equal codes of two phases can't be linked.
fn code_hash(context: &AppContext, phase: PhaseId, code: &str) -> KeyHash {
    context.keyring.lookup("phase code", &format!("{phase}\n{code}"))
}

/// The codes that an organiser wants: their own, or as many new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewCodes {
    Given(Vec<String>),
    Generated(usize),
}

/// The result: codes are shown once, because only their hashes are stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodesView {
    /// How many are new; the others existed.
    pub added: u64,
    /// The generated codes. They can't be shown again.
    pub codes: Vec<String>,
}

pub async fn create_codes(
    context: &AppContext,
    actor: UserId,
    phase: PhaseId,
    wanted: NewCodes,
    uses_max: u32,
) -> Result<CodesView> {
    let out_of_range = |field, max: i64| Refusal::Invalid {
        field,
        problem: FieldError::OutOfRange { min: 1, max },
    };
    if !(1..=CODE_USES_MAX).contains(&uses_max) {
        return Err(out_of_range("usesMax", CODE_USES_MAX.into()).into());
    }
    let (field, n_codes) = match &wanted {
        NewCodes::Given(codes) => ("codes", codes.len()),
        NewCodes::Generated(count) => ("count", *count),
    };
    if !(1..=CODES_MAX).contains(&n_codes) {
        return Err(out_of_range(field, CODES_MAX as i64).into());
    }
    let (codes, shown) = match wanted {
        NewCodes::Given(codes) => (codes, Vec::new()),
        NewCodes::Generated(count) => {
            let codes: Vec<String> = (0..count).map(|_| random_code(context)).collect();
            (codes.clone(), codes)
        }
    };
    let hash = |code: &String| {
        let problem = FieldError::TooShort { min: 4 };
        let code = clean_code(code).ok_or(Refusal::Invalid { field: "codes", problem })?;
        Ok(code_hash(context, phase, &code))
    };
    let codes = codes.iter().map(hash).collect::<Result<Vec<KeyHash>>>()?;
    let command = AddCodes { actor, phase, codes, uses_max, now: context.now() };
    Ok(CodesView { added: context.store.add_codes(command).await?, codes: shown })
}

/// Twelve letters and digits without look-alikes: 60 random bits.
fn random_code(context: &AppContext) -> String {
    const LETTERS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let random = context.rng.secret();
    let letters = random.iter().take(12).map(|byte| LETTERS[usize::from(byte % 32)] as char);
    let code: String = letters.collect();
    format!("{}-{}-{}", &code[..4], &code[4..8], &code[8..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_the_same_however_it_is_typed() {
        assert_eq!(clean_code(" ab12-cd34 "), Some("AB12CD34".to_owned()));
        assert_eq!(clean_code("abc"), None);
        assert_eq!(clean_code("포도포도"), None);
        assert_eq!(clean_code(&"A".repeat(65)), None);
    }
}
