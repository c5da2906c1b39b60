//! The gate: check-in, undo, scans that were made without a network.

mod attendance;
mod list;

pub use attendance::attendance;
pub use list::{GateLine, GateList, GateListRequest, LINES_MAX, gate_list};

use crate::booking::reservations::issued::customer_name;
use crate::context::AppContext;
use crate::error::Result;
use crate::identity::accounts;
use crate::identity::keyring::Purpose;
use crate::tickets::gate_port::{
    CheckIn, GateShow, GateTicket, OfflineScan, RecordScan, ScanResult, SetGates, UndoCheckIn,
};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use podo_domain::booking::order::options::TypeMark;
use podo_domain::catalog::hall::Hall;
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::identity::permissions::EventScope;
use podo_domain::tickets::CodeStep;
use podo_domain::tickets::gate::{
    GATES_MAX, Gate, OPEN_AFTER_START, OPEN_BEFORE_START, check_gate, check_sections,
};
use podo_domain::{HallId, Refusal, ScheduleId, TicketId, Timestamp, UserId};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use utoipa::ToSchema;
use uuid::Uuid;

/// Bytes of the signature in a code.
pub(crate) const SIGNATURE_BYTES: usize = 16;

/// The name of a gate.
pub type GateName = Line<40>;

/// The ticket was checked in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedIn {
    /// The id of this check-in, to take it back without a network.
    pub check_in_id: Uuid,
    pub ticket_id: TicketId,
    pub schedule_id: ScheduleId,
    /// The holder's name, to compare with an identity card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub booking_number: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    pub seat_number: String,
    pub grade: String,
    /// With the proof that the steward asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket_type: Option<TypeMark>,
    pub gate: String,
    pub used_at: Timestamp,
}

/// The key that signs the codes of one ticket. It changes with the ticket's random code, so a
/// transferred ticket has another.
pub(crate) fn ticket_key(context: &AppContext, ticket: Uuid, code: &[u8]) -> [u8; 32] {
    context.keyring.code(Purpose::Ticket, &[ticket.as_bytes().as_slice(), code].concat())
}

/// The signature in a code that rotates.
pub(crate) fn step_signature(key: &[u8; 32], step: CodeStep) -> Vec<u8> {
    let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, key);
    aws_lc_rs::hmac::sign(&key, &step.bytes()).as_ref()[..SIGNATURE_BYTES].to_vec()
}

/// What a scanned code claims.
struct Claim {
    ticket: Uuid,
    step: Option<CodeStep>,
    signature: Vec<u8>,
}

impl Claim {
    fn read(text: &str) -> Option<Claim> {
        let (kind, body) = text.trim().split_once('.')?;
        let bytes = URL_SAFE_NO_PAD.decode(body).ok()?;
        let ticket = Uuid::from_slice(bytes.get(..16)?).ok()?;
        let (step, at) = match kind {
            "PODO1" => (None, 32),
            "PODO2" => (Some(CodeStep::from_bytes(bytes.get(16..24)?.try_into().ok()?)), 24),
            _ => return None,
        };
        let signature = bytes.get(at..)?;
        let is_whole = signature.len() == SIGNATURE_BYTES;
        is_whole.then(|| Claim { ticket, step, signature: signature.to_vec() })
    }

    /// Whether we signed it for this ticket, and it counts now.
    fn is_valid(&self, context: &AppContext, ticket: &GateTicket, now: Timestamp) -> bool {
        let key = ticket_key(context, self.ticket, &ticket.code);
        let (expected, is_current) = match self.step {
            Some(step) => (step_signature(&key, step), step.is_current(now)),
            None => (key[..SIGNATURE_BYTES].to_vec(), !context.rules.tickets_rotate),
        };
        is_current && verify_slices_are_equal(&expected, &self.signature).is_ok()
    }
}

pub struct Scan {
    pub actor: UserId,
    /// The events of the organiser who scans.
    pub events: EventScope,
    pub schedule: ScheduleId,
    pub gate: GateName,
    /// The content of the QR code.
    pub code: String,
    /// Chosen by the device, so that a repeat after a lost answer has no further effect.
    pub id: Option<Uuid>,
}

/// Checks a ticket in, once. Refusals: `TicketInvalid`, `TicketElsewhere`, `TicketOtherGate`,
/// `TicketUsed`, `TicketVoid`.
pub async fn check_in(context: &AppContext, scan: Scan) -> Result<CheckedIn> {
    let claim = Claim::read(&scan.code).ok_or(Refusal::TicketInvalid)?;
    let id = TicketId::new(claim.ticket);
    let now = context.now();
    let ticket = context.store.ticket_at_gate(id).await?.ok_or(Refusal::TicketInvalid)?;
    if !claim.is_valid(context, &ticket, now) {
        return Err(Refusal::TicketInvalid.into());
    }
    let is_theirs = is_within(context, &scan.events, scan.schedule).await?;
    if ticket.schedule != scan.schedule || !is_theirs {
        return Err(Refusal::TicketElsewhere.into());
    }
    let hall = context.catalog.layouts.get(&*context.store, ticket.schedule).await?;
    let gates = context.store.gates_of(ticket.schedule).await?;
    let section = hall.section(ticket.seat).map(str::to_owned);
    check_gate(&gates, scan.gate.as_str(), section.as_deref())?;
    let gate = String::from(scan.gate);
    let check_in_id = scan.id.unwrap_or_else(|| context.rng.id(now));
    let command = CheckIn {
        id: check_in_id,
        actor: scan.actor,
        ticket: id,
        code: ticket.code.clone(),
        gate: gate.clone(),
        now,
    };
    // Before the ticket is used: a failure here must not cost the guest their entry.
    let name =
        guest_name(context, &ticket, &names_of(context, std::slice::from_ref(&ticket)).await?);
    context.store.check_in(command).await?;
    Ok(CheckedIn {
        check_in_id,
        ticket_id: id,
        schedule_id: ticket.schedule,
        name,
        booking_number: ticket.booking_number,
        section,
        seat_number: ticket.seat_number,
        grade: ticket.grade,
        ticket_type: ticket.ticket_type,
        gate,
        used_at: now,
    })
}

/// The names of the accounts that hold these tickets.
async fn names_of(context: &AppContext, tickets: &[GateTicket]) -> Result<HashMap<UserId, String>> {
    let holders: BTreeSet<UserId> =
        tickets.iter().filter(|it| it.customer.is_none()).map(|it| it.holder).collect();
    match holders.is_empty() {
        true => Ok(HashMap::new()),
        false => accounts::names(context, holders.into_iter().collect()).await,
    }
}

/// The name of the guest: the customer's for a ticket of the desk, else the holder's.
fn guest_name(
    context: &AppContext,
    ticket: &GateTicket,
    names: &HashMap<UserId, String>,
) -> Option<String> {
    match &ticket.customer {
        Some(name) => customer_name(context, ticket.reservation, name),
        None => names.get(&ticket.holder).cloned(),
    }
}

/// Whether the date belongs to these events.
async fn is_within(
    context: &AppContext,
    events: &EventScope,
    schedule: ScheduleId,
) -> Result<bool> {
    match events {
        EventScope::All => Ok(true),
        EventScope::Only(events) => {
            let found = context.store.schedule(schedule).await?;
            Ok(found.is_some_and(|it| events.contains(&it.event)))
        }
    }
}

pub struct UndoRequest {
    pub actor: UserId,
    pub events: EventScope,
    pub schedule: ScheduleId,
    pub ticket: TicketId,
    pub gate: GateName,
    pub reason: Line<200>,
}

/// Makes a used ticket valid again, for a guest who was scanned by mistake.
pub async fn undo(context: &AppContext, asked: UndoRequest) -> Result<()> {
    if !is_within(context, &asked.events, asked.schedule).await? {
        return Err(Refusal::NotFound.into());
    }
    let now = context.now();
    let command = UndoCheckIn {
        id: context.rng.id(now),
        actor: asked.actor,
        schedule: asked.schedule,
        ticket: asked.ticket,
        gate: asked.gate.into(),
        reason: asked.reason.into(),
        now,
    };
    context.store.undo_check_in(command).await
}

/// Applies the scans that a device made without a network. A repeat has no further effect.
pub async fn sync(
    context: &AppContext,
    actor: UserId,
    schedule: ScheduleId,
    scans: Vec<OfflineScan>,
) -> Result<Vec<ScanResult>> {
    let now = context.now();
    let mut results = Vec::with_capacity(scans.len());
    for mut scan in scans {
        // A device's clock may be ahead.
        scan.scanned_at = scan.scanned_at.min(now);
        let command = RecordScan { actor, schedule, scan, now };
        results.push(context.store.record_scan(command).await?);
    }
    Ok(results)
}

/// Dates that a gate may admit: from half a day ago to a day and a half ahead.
pub async fn shows_near(context: &AppContext, events: &EventScope) -> Result<Vec<GateShow>> {
    let now = context.now();
    let (from, to) = (now.minus(OPEN_AFTER_START), now.plus(OPEN_BEFORE_START));
    let shows = context.store.shows_between(from, to).await?;
    let is_theirs = |show: &GateShow| match events {
        EventScope::All => true,
        EventScope::Only(events) => events.contains(&show.event_id),
    };
    Ok(shows.into_iter().filter(is_theirs).collect())
}

pub async fn gates_of(context: &AppContext, schedule: ScheduleId) -> Result<Vec<Gate>> {
    context.store.gates_of(schedule).await
}

pub async fn gates_of_hall(context: &AppContext, hall: HallId) -> Result<Vec<Gate>> {
    Ok(context.store.gates_of_hall(hall).await?.ok_or(Refusal::NotFound)?)
}

/// Replaces the gates of a hall.
pub async fn set_gates(
    context: &AppContext,
    actor: UserId,
    hall: HallId,
    gates: Vec<Gate>,
) -> Result<()> {
    let names: BTreeSet<&str> = gates.iter().map(|gate| gate.name.as_str()).collect();
    if gates.len() > GATES_MAX {
        let problem = FieldError::OutOfRange { min: 0, max: GATES_MAX as i64 };
        return Err(Refusal::Invalid { field: "gates", problem }.into());
    }
    if names.len() != gates.len() {
        return Err(Refusal::NameTaken.into());
    }
    let template = context.store.hall_template(hall).await?.ok_or(Refusal::NotFound)?;
    check_sections(&gates, &Hall::of(&template.plan()?).section_names())?;
    context.store.set_gates(SetGates { actor, hall, gates, now: context.now() }).await
}
