//! Who may buy in a phase: codes, member lists, and the fans who proved something.

use crate::sql::catalog::create::json_text;
use crate::sql::catalog::phases::{EligiblePhases, ForgetPeople, FreeMember, PeopleOf, phases_of};
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, Value, params};
use crate::sql::messaging::outbox;
use crate::sql::messaging::outbox::Outgoing;
use crate::sql::operations::audit::note;
use podo_app::Result;
use podo_app::catalog::phases::port::{
    AddCodes, AddMembers, ImportView, KeyHash, LineProblem, PROBLEMS_MAX, PhasePeople, PhaseProof,
    StartImport, Verify,
};
use podo_domain::catalog::phases::Phase;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{PhaseId, Refusal, Timestamp, UserId};
use serde_json::json;
use std::collections::HashMap;
use uuid::Uuid;

pub(super) async fn require_phase(tx: &mut dyn Tx, phase: PhaseId) -> Result<()> {
    let sql = "select 1 as found from sale_phases where id = $1";
    tx.row(sql, params![phase]).await?.ok_or(Refusal::NotFound)?;
    Ok(())
}

pub(super) async fn add_codes(tx: &mut dyn Tx, command: &AddCodes) -> Result<u64> {
    let AddCodes { actor, phase, codes, uses_max, now } = command;
    require_phase(tx, *phase).await?;
    let sql = "insert into phase_codes (phase_id, code_hash, uses_max, n_used, created_at)
               values ($1, $2, $3, 0, $4) on conflict (phase_id, code_hash) do nothing";
    let set = |code: &KeyHash| params![*phase, *code, *uses_max, *now].to_vec();
    let added = tx.execute_each(sql, codes.iter().map(set).collect()).await?;
    let n_added: u64 = added.into_iter().sum();
    let details = json!({ "codes": n_added, "usesMax": uses_max });
    note(tx, *actor, "phase.codes", phase, details, *now).await?;
    Ok(n_added)
}

pub(super) async fn start_import(tx: &mut dyn Tx, command: &StartImport) -> Result<()> {
    let StartImport { actor, phase, import, now } = *command;
    require_phase(tx, phase).await?;
    let sql = "insert into phase_imports
                 (id, phase_id, actor_id, n_lines, n_added, n_known, n_wrong, problems, created_at,
                  updated_at)
               values ($1, $2, $3, 0, 0, 0, 0, $4, $5, $5)";
    let none: &[LineProblem] = &[];
    let values =
        [import.into(), phase.into(), Value::from(actor), json_text(&none)?, Value::from(now)];
    tx.execute(sql, &values).await?;
    note(tx, actor, "phase.members", phase, json!({ "import": import }), now).await
}

/// A member with one known key is known; a list that is uploaded again adds no member twice.
pub(super) async fn add_members(tx: &mut dyn Tx, command: &AddMembers) -> Result<ImportView> {
    let known = known_members(tx, command).await?;
    let mut sets = Vec::new();
    let (mut n_added, mut seen) = (0, HashMap::new());
    for (keys, known) in command.members.iter().zip(known) {
        // An earlier line of this block may name the same member.
        let known = known.or_else(|| keys.iter().find_map(|key| seen.get(key).copied()));
        n_added += u64::from(known.is_none());
        let member = known.unwrap_or_else(|| tx.rng().id(command.now));
        seen.extend(keys.iter().map(|key| (*key, member)));
        let set = |key: &KeyHash| params![command.phase, *key, member, command.now].to_vec();
        sets.extend(keys.iter().map(set));
    }
    let sql = "insert into phase_members (phase_id, key_hash, member_id, created_at)
               values ($1, $2, $3, $4) on conflict (phase_id, key_hash) do nothing";
    tx.execute_each(sql, sets).await?;
    count(tx, command, n_added).await
}

/// The member of the list that each line names.
async fn known_members(tx: &mut dyn Tx, command: &AddMembers) -> Result<Vec<Option<Uuid>>> {
    let sql = "select member_id from phase_members where phase_id = $1 and key_hash = $2";
    let sets = command.members.iter().flatten().map(|key| params![command.phase, *key].to_vec());
    let mut found = tx.query_each(sql, sets.collect()).await?.into_iter();
    let mut known = Vec::with_capacity(command.members.len());
    for keys in &command.members {
        let mut member = None;
        for rows in found.by_ref().take(keys.len()) {
            if let Some(row) = rows.first() {
                member = member.or(Some(row.get("member_id")?));
            }
        }
        known.push(member);
    }
    Ok(known)
}

async fn count(tx: &mut dyn Tx, command: &AddMembers, n_added: u64) -> Result<ImportView> {
    let find = "select id, n_lines, n_added, n_known, n_wrong, problems, done_at, created_at
                  from phase_imports where id = $1";
    let row = tx.row(find, params![command.import]).await?.ok_or(Refusal::NotFound)?;
    let mut view = read_import(&row)?;
    let (n_members, n_wrong) = (command.members.len() as u64, command.problems.len() as u64);
    view.lines += n_members + n_wrong;
    view.added += n_added;
    view.known += n_members - n_added;
    view.wrong += n_wrong;
    let room = PROBLEMS_MAX.saturating_sub(view.problems.len());
    view.problems.extend(command.problems.iter().take(room).cloned());
    view.done_at = command.is_last.then_some(command.now);
    let sql = "update phase_imports
                  set n_lines = $2, n_added = $3, n_known = $4, n_wrong = $5, problems = $6,
                      done_at = $7, updated_at = $8
                where id = $1";
    let values = [
        view.id.into(),
        view.lines.into(),
        view.added.into(),
        view.known.into(),
        view.wrong.into(),
        json_text(&view.problems)?,
        view.done_at.into(),
        command.now.into(),
    ];
    tx.execute(sql, &values).await?;
    Ok(view)
}

fn read_import(row: &Row) -> Result<ImportView> {
    Ok(ImportView {
        id: row.get("id")?,
        lines: row.get("n_lines")?,
        added: row.get("n_added")?,
        known: row.get("n_known")?,
        wrong: row.get("n_wrong")?,
        problems: row.json("problems")?,
        done_at: row.get("done_at")?,
        created_at: row.get("created_at")?,
    })
}

pub(super) async fn people(tx: &mut dyn Tx, question: &PeopleOf) -> Result<Vec<PhasePeople>> {
    let mut people = Vec::new();
    for phase in phases_of(tx, question.schedule).await? {
        people.push(people_of(tx, phase.id).await?);
    }
    Ok(people)
}

/// Imports shown of a phase.
const IMPORTS_MAX: u32 = 5;

async fn people_of(tx: &mut dyn Tx, phase: PhaseId) -> Result<PhasePeople> {
    let sql = "select count(*) as n_codes, cast(coalesce(sum(uses_max), 0) as bigint) as n_uses,
                      cast(coalesce(sum(n_used), 0) as bigint) as n_used
                 from phase_codes where phase_id = $1";
    let missing = || podo_app::Error::broken("a count has a row");
    let codes = tx.row(sql, params![phase]).await?.ok_or_else(missing)?;
    let sql = "select count(distinct member_id) as n from phase_members where phase_id = $1";
    let members = tx.row(sql, params![phase]).await?.ok_or_else(missing)?;
    let sql = "select count(*) as n from phase_eligibilities where phase_id = $1";
    let eligible = tx.row(sql, params![phase]).await?.ok_or_else(missing)?;
    let sql = "select id, n_lines, n_added, n_known, n_wrong, problems, done_at, created_at
                 from phase_imports where phase_id = $1 order by id desc limit $2";
    let imports = tx.query(sql, params![phase, IMPORTS_MAX]).await?;
    let sql = "select url from phase_webhooks where id = $1";
    let webhook = tx.row(sql, params![phase]).await?;
    Ok(PhasePeople {
        phase,
        n_codes: codes.get("n_codes")?,
        n_uses: codes.get("n_uses")?,
        n_used: codes.get("n_used")?,
        n_members: members.get("n")?,
        n_eligible: eligible.get("n")?,
        imports: imports.iter().map(read_import).collect::<Result<_>>()?,
        webhook_url: webhook.map(|row| row.get("url")).transpose()?,
    })
}

pub(super) async fn verify(tx: &mut dyn Tx, command: &Verify) -> Result<()> {
    let Verify { phase, user, proof, is_asked, now } = *command;
    require_phase(tx, phase).await?;
    // Serialise one fan's attempts, so that a repeated request doesn't use a code up.
    tx.lock(Uuid::from_u128(user.uuid().as_u128() ^ phase.uuid().as_u128())).await?;
    let sql = "select 1 as found from phase_eligibilities where phase_id = $1 and user_id = $2";
    if tx.row(sql, params![phase, user]).await?.is_some() {
        return Ok(());
    }
    let (source, member) = match proof {
        PhaseProof::Code(code) => {
            use_code(tx, phase, code).await?;
            ("CODE", None)
        }
        PhaseProof::Member(key) => ("MEMBER", Some(member_of(tx, phase, key).await?)),
        PhaseProof::Confirmed(key) => ("MEMBER", Some(confirmed_member(tx, phase, key).await?)),
        PhaseProof::Identity => ("IDENTITY", None),
    };
    insert(tx, phase, user, source, member, now).await?;
    match is_asked {
        true => announce(tx, phase, user, now).await,
        false => Ok(()),
    }
}

/// Confirms a verification that the fan asked for. At an opening there is no time to read it, and
/// no room in the outbox for one of each fan.
async fn announce(tx: &mut dyn Tx, id: PhaseId, user: UserId, now: Timestamp) -> Result<()> {
    let phases = phases_of(tx, id.schedule()).await?;
    let found = phases.iter().find(|phase| phase.id == id).ok_or(Refusal::NotFound)?;
    let Phase { terms, .. } = found;
    if terms.window.starts_at <= now {
        return Ok(());
    }
    let payload = json!({
        "userId": user, "eventScheduleId": id.schedule(), "phaseId": id,
        "phase": {
            "name": terms.name, "nameEn": terms.name_en, "startsAt": terms.window.starts_at,
            "endsAt": terms.window.ends_at, "seatsPerPerson": terms.seats_per_person,
        },
    });
    let message = Outgoing {
        kind: MessageKind::PhaseVerified,
        aggregate: tx.rng().id(now),
        seq: 1,
        key: id.schedule().uuid(),
        payload: &payload,
    };
    outbox::push(tx, message, now).await
}

/// Counts a use by compare-and-set: of many fans with a code of n uses, n succeed.
async fn use_code(tx: &mut dyn Tx, phase: PhaseId, code: KeyHash) -> Result<()> {
    let sql = "update phase_codes set n_used = n_used + 1
                where phase_id = $1 and code_hash = $2 and n_used < uses_max";
    if tx.execute(sql, params![phase, code]).await? == 1 {
        return Ok(());
    }
    let sql = "select 1 as found from phase_codes where phase_id = $1 and code_hash = $2";
    match tx.row(sql, params![phase, code]).await? {
        Some(_) => Err(Refusal::PhaseCodeUsed.into()),
        None => Err(Refusal::PhaseCodeWrong.into()),
    }
}

async fn member_of(tx: &mut dyn Tx, phase: PhaseId, key: KeyHash) -> Result<Uuid> {
    let row = tx.row(LISTED, params![phase, key]).await?.ok_or(Refusal::MemberUnknown)?;
    let member: Uuid = row.get("member_id")?;
    match is_taken(tx, phase, member).await? {
        true => Err(Refusal::MemberTaken.into()),
        false => Ok(member),
    }
}

/// A membership that only the organiser's server knows has its id from the key.
async fn confirmed_member(tx: &mut dyn Tx, phase: PhaseId, key: KeyHash) -> Result<Uuid> {
    let half = key.first_chunk::<16>().expect("a hash has 32 bytes");
    let member = Uuid::from_bytes(*half);
    match is_taken(tx, phase, member).await? {
        true => Err(Refusal::MemberTaken.into()),
        false => Ok(member),
    }
}

async fn is_taken(tx: &mut dyn Tx, phase: PhaseId, member: Uuid) -> Result<bool> {
    let sql = "select 1 as found from phase_eligibilities where phase_id = $1 and member_id = $2";
    Ok(tx.row(sql, params![phase, member]).await?.is_some())
}

/// Of a list that decides: with a webhook the organiser's server does.
const LISTED: &str = "select member_id from phase_members
                       where phase_id = $1 and key_hash = $2
                         and not exists (select 1 from phase_webhooks where id = $1)";

pub(super) async fn has_free_member(tx: &mut dyn Tx, question: &FreeMember) -> Result<bool> {
    let FreeMember { phase, key } = *question;
    let Some(row) = tx.row(LISTED, params![phase, key]).await? else { return Ok(false) };
    Ok(!is_taken(tx, phase, row.get("member_id")?).await?)
}

async fn insert(
    tx: &mut dyn Tx,
    phase: PhaseId,
    user: UserId,
    source: &'static str,
    member: Option<Uuid>,
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into phase_eligibilities (phase_id, user_id, source, member_id, created_at)
               values ($1, $2, $3, $4, $5)";
    let values = params![phase, user, source, member, now];
    tx.execute(sql, values).await.map_err(|error| {
        // Another account was faster with the same membership.
        if error.is_constraint("phase_eligibilities_member") {
            podo_app::Error::from(Refusal::MemberTaken)
        } else {
            error.into()
        }
    })?;
    Ok(())
}

pub(super) async fn eligible(tx: &mut dyn Tx, question: &EligiblePhases) -> Result<Vec<PhaseId>> {
    let sql = "select e.phase_id
                 from sale_phases p join phase_eligibilities e on e.phase_id = p.id
                where p.schedule_id = $1 and e.user_id = $2";
    let rows = tx.query(sql, params![question.schedule, question.user]).await?;
    rows.iter().map(|row| Ok(row.get("phase_id")?)).collect()
}

pub(super) async fn forget(tx: &mut dyn Tx, command: &ForgetPeople) -> Result<u64> {
    let members = "delete from phase_members where phase_id = $1 and key_hash in
                     (select key_hash from phase_members where phase_id = $1 limit $2)";
    let codes = "delete from phase_codes where phase_id = $1 and code_hash in
                   (select code_hash from phase_codes where phase_id = $1 limit $2)";
    let mut n_most = 0;
    for phase in phases_of(tx, command.schedule).await? {
        let webhook = "delete from phase_webhooks where id = $1";
        tx.execute(webhook, params![phase.id]).await?;
        for sql in [members, codes] {
            let n_deleted = tx.execute(sql, params![phase.id, command.limit]).await?;
            n_most = n_most.max(n_deleted);
        }
    }
    Ok(n_most)
}
