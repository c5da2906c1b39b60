//! Which notifications a message causes: for whom, with which template, and with which facts.

use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::accounts::field;
use crate::identity::port::accounts::{PendingPurpose, SignUpRecord};
use crate::messaging::port::announcements::{ShowFacts, Subject};
use crate::messaging::port::messages::Message;
use crate::messaging::port::notifications::NotificationSettings;
use crate::messaging::templates::facts::{ApplicationWords, DepositWords, Facts, LINK, PhaseWords};
use crate::messaging::templates::words::Zone;
use crate::messaging::templates::{Template, words};
use podo_domain::messaging::announcements::SecurityChange;
use podo_domain::messaging::messages::{Language, MessageKind};
use podo_domain::payments::deposits::Bank;
use podo_domain::{
    AnnouncementId, ClaimId, Currency, Money, PaymentId, ReservationId, ScheduleId, TicketId,
    Timestamp, UserId, Won,
};
use serde::Deserialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A notification for one fan, not yet worded.
pub(super) struct Draft<'m> {
    pub(super) message: &'m Message,
    pub(super) user: UserId,
    pub(super) template: Template,
    /// `None` for the language of the fan's settings.
    pub(super) language: Option<Language>,
    pub(super) facts: Facts,
    /// The customer of the desk has the tickets in hand, and the buyer is the organiser who issued
    /// them. A fan who got such a ticket is notified as any other.
    pub(super) is_for_issuer: bool,
    data: Data,
}

/// What notifications need of a message's data.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Data {
    user_id: Option<UserId>,
    to_user_id: Option<UserId>,
    sign_up_id: Option<UserId>,
    reservation_id: Option<ReservationId>,
    payment_id: Option<PaymentId>,
    event_schedule_id: Option<ScheduleId>,
    announcement_id: Option<AnnouncementId>,
    ticket_id: Option<TicketId>,
    claim_id: Option<ClaimId>,
    seat_number: Option<String>,
    seat_ids: Vec<String>,
    total_amount: Option<Won>,
    amount: Option<Won>,
    /// Absent in messages of a version before events had a currency.
    currency: Option<Currency>,
    until: Option<Timestamp>,
    deposit: Option<DepositData>,
    change: Option<SecurityChange>,
    phase: Option<PhaseData>,
    application: Option<ApplicationData>,
}

/// Where a deposit is awaited; an account that was never issued has no number.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DepositData {
    bank: Option<String>,
    account_number: Option<String>,
    holder: Option<String>,
}

/// The phase that a fan is verified for.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhaseData {
    name: String,
    name_en: String,
    starts_at: Timestamp,
    ends_at: Timestamp,
    seats_per_person: u32,
}

/// What a fan applied for.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApplicationData {
    index: u32,
    grade: String,
    count: u32,
    apply_until: Timestamp,
}

/// Whether messages of this kind cause a notification.
pub(super) fn is_worth_one(kind: MessageKind) -> bool {
    template_of(kind).is_some()
}

/// The template of the message's first recipient.
fn template_of(kind: MessageKind) -> Option<Template> {
    Some(match kind {
        MessageKind::UserSignedUp => Template::Welcome,
        MessageKind::SignUpAsked => Template::AlreadySignedUp,
        MessageKind::SessionCopied => Template::SessionCopied,
        MessageKind::SecurityChanged => Template::Security,
        MessageKind::ReservationConfirmed | MessageKind::ConfirmationResent => {
            Template::BookingConfirmed
        }
        MessageKind::ReservationCanceled => Template::BookingCanceled,
        MessageKind::ReservationReduced => Template::BookingReduced,
        MessageKind::PaymentRefunded => Template::Refunded,
        MessageKind::DepositAwaited => Template::DepositAwaited,
        MessageKind::DepositReminder => Template::DepositReminder,
        MessageKind::DepositMissed => Template::DepositMissed,
        MessageKind::RefundAccountNeeded => Template::RefundAccountNeeded,
        MessageKind::StandbyOffered => Template::StandbyOffered,
        MessageKind::ReservationReseated => Template::Reseated,
        MessageKind::ReservationMoved => Template::Moved,
        MessageKind::SaleReminder => Template::SaleReminder,
        MessageKind::ShowReminder => Template::ShowReminder,
        MessageKind::ResaleOffered => Template::ResaleOffered,
        MessageKind::PhaseVerified => Template::PhaseVerified,
        MessageKind::DrawApplied => Template::DrawApplied,
        MessageKind::DrawWon => Template::DrawWon,
        MessageKind::DrawLost => Template::DrawLost,
        MessageKind::TicketOffered => Template::OfferSent,
        MessageKind::TicketTransferred => Template::TransferredAway,
        MessageKind::ReservationHeld
        | MessageKind::ReservationExtended
        | MessageKind::ReservationPriced
        | MessageKind::ReservationPaying
        | MessageKind::ReservationDeclined
        | MessageKind::ReservationReleased
        | MessageKind::ReservationExpired
        | MessageKind::RefundDue
        | MessageKind::ScheduleOpened
        | MessageKind::CatalogChanged
        | MessageKind::DeadLettered => return None,
    })
}

/// The notifications of a message. The recipient of an offered ticket gets one in their account, or
/// a link if no account proved the address.
pub(super) async fn drafts_for<'m>(
    context: &AppContext,
    message: &'m Message,
) -> Result<Vec<Draft<'m>>> {
    let data: Data = serde_json::from_str(&message.payload).map_err(Error::broken)?;
    let (Some(template), Some(user)) = (template_of(message.kind), data.user_id) else {
        return Ok(Vec::new());
    };
    let draft = |user: UserId, template: Template| Draft {
        message,
        user,
        template,
        language: None,
        facts: Facts::default(),
        is_for_issuer: false,
        data: data.clone(),
    };
    let mut drafts = vec![draft(user, template)];
    if message.kind == MessageKind::SignUpAsked {
        set_pending(context, &mut drafts[0]).await?;
    }
    drafts.extend(data.to_user_id.map(|to| draft(to, Template::TransferredHere)));
    if message.kind == MessageKind::TicketOffered {
        match recipient_of(context, &data).await? {
            Some(to) => drafts.push(draft(to, Template::OfferReceived)),
            None => drafts.extend(claim_draft(context, &data, draft).await?),
        }
    }
    Ok(drafts)
}

/// The link for an address without a proved account. The e-mail goes to the claim, as that of a
/// sign-up goes to its pending row.
async fn claim_draft<'m>(
    context: &AppContext,
    data: &Data,
    draft: impl Fn(UserId, Template) -> Draft<'m>,
) -> Result<Option<Draft<'m>>> {
    let Some(claim) = data.claim_id else { return Ok(None) };
    // Withdrawn or replaced meanwhile.
    let Some(found) = context.store.ticket_claim(claim).await? else { return Ok(None) };
    let mut draft = draft(UserId::new(claim.uuid()), Template::TicketClaim);
    draft.language = Some(found.language);
    draft.facts.link = Some(LINK.to_owned());
    Ok(Some(draft))
}

/// The account with the address that the ticket is offered to, if its owner proved it.
async fn recipient_of(context: &AppContext, data: &Data) -> Result<Option<UserId>> {
    let Some(ticket) = data.ticket_id else { return Ok(None) };
    let Some(email_hash) = context.store.offered_to(ticket).await? else { return Ok(None) };
    let Some(user) = context.store.user_by_email(email_hash).await? else { return Ok(None) };
    Ok(user.is_email_proven.then_some(user.user))
}

/// What a pending row asks of its address: a code, a link, or nothing.
async fn set_pending(context: &AppContext, draft: &mut Draft<'_>) -> Result<()> {
    let Some(id) = draft.data.sign_up_id else { return Ok(()) };
    let Some(asked) = context.store.sign_up(id).await? else { return Ok(()) };
    let template = pending_template(&asked);
    if template == Template::AlreadySignedUp {
        return Ok(());
    }
    draft.language = Some(asked.language);
    draft.template = template;
    if matches!(template, Template::SignUpCode | Template::NewEmailCode) {
        draft.facts.code = Some(context.keyring.decrypt(&field("code", id), &asked.code)?);
    }
    if matches!(template, Template::Invitation | Template::PasswordReset) {
        draft.facts.link = Some(LINK.to_owned());
    }
    Ok(())
}

fn pending_template(asked: &SignUpRecord) -> Template {
    match asked.purpose {
        PendingPurpose::SignUp if asked.is_taken => Template::AlreadySignedUp,
        PendingPurpose::SignUp => Template::SignUpCode,
        PendingPurpose::Invite => Template::Invitation,
        PendingPurpose::Reset if asked.proves.is_some() => Template::PasswordReset,
        PendingPurpose::Reset => Template::NoAccount,
        PendingPurpose::NewEmail if asked.is_taken => Template::EmailTaken,
        PendingPurpose::NewEmail => Template::NewEmailCode,
        PendingPurpose::OldEmail => Template::EmailChanged,
    }
}

/// Adds the facts of shows and bookings, in the language of each fan.
pub(super) async fn worded<'m>(
    context: &AppContext,
    mut drafts: Vec<Draft<'m>>,
    settings: &[NotificationSettings],
) -> Result<Vec<Draft<'m>>> {
    let subjects: Vec<Option<Subject>> = drafts.iter().map(|it| subject(&it.data)).collect();
    let asked: Vec<Subject> = subjects.iter().copied().flatten().collect();
    let mut found = match asked.is_empty() {
        true => Vec::new(),
        false => context.store.show_facts(asked).await?,
    }
    .into_iter();
    let mut moves = HashMap::new();
    for ((draft, subject), settings) in drafts.iter_mut().zip(subjects).zip(settings) {
        let language = draft.language.unwrap_or(settings.language);
        let show = subject.and_then(|_| found.next().flatten());
        word(draft, show.as_ref(), &context.rules.time_zone, language);
        let (Some(id), Template::Moved) = (draft.data.announcement_id, draft.template) else {
            continue;
        };
        let moved = match moves.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(context.store.announced_change(id).await?),
        };
        let home = &context.rules.time_zone;
        if let Some(moved) = moved {
            let name = show.as_ref().map_or(home, |show| &show.time_zone);
            draft.facts.set_moved(id, moved, Zone { name, home }, language);
        }
    }
    Ok(drafts)
}

fn subject(data: &Data) -> Option<Subject> {
    let reservation = data.reservation_id.map(Subject::Reservation);
    let payment = data.payment_id.map(Subject::Payment);
    reservation.or(payment).or(data.event_schedule_id.map(Subject::Schedule))
}

fn word(draft: &mut Draft<'_>, show: Option<&ShowFacts>, home: &str, language: Language) {
    let (facts, data) = (&mut draft.facts, &draft.data);
    let zone = Zone { name: show.map_or(home, |show| &show.time_zone), home };
    facts.n_seats = data.seat_ids.len();
    let currency = show.map_or(data.currency.unwrap_or_default(), |show| show.currency);
    let amount = data.total_amount.or(data.amount);
    facts.set_amount(amount.map(|amount| Money::new(amount, currency)), language);
    facts.until = data.until.map(|until| words::moment(until, zone, language));
    facts.deposit = data.deposit.as_ref().and_then(|it| deposit_words(it, language));
    facts.at = Some(words::moment(draft.message.created_at, zone, language));
    facts.security = data.change;
    facts.seat = data.seat_number.clone();
    facts.phase = data.phase.as_ref().map(|phase| phase_words(phase, zone, language));
    facts.application = data.application.as_ref().map(|it| ApplicationWords {
        index: it.index,
        grade: it.grade.clone(),
        count: it.count,
        closes: words::moment(it.apply_until, zone, language),
    });
    let Some(show) = show else { return };
    facts.set_show(show, draft.user, home, language);
    draft.is_for_issuer = show
        .booking
        .as_ref()
        .is_some_and(|booking| !booking.channel.is_fan() && booking.user == draft.user);
    if draft.template == Template::BookingCanceled && show.is_canceled {
        draft.template = Template::CalledOff;
    }
}

fn deposit_words(deposit: &DepositData, language: Language) -> Option<DepositWords> {
    let bank = deposit.bank.clone()?;
    let name = Bank::parse(&bank).map(|bank| bank.name(language).to_owned());
    Some(DepositWords {
        bank: name.unwrap_or(bank),
        number: deposit.account_number.clone()?,
        holder: deposit.holder.clone().unwrap_or_default(),
    })
}

fn phase_words(phase: &PhaseData, zone: Zone<'_>, language: Language) -> PhaseWords {
    let name = match language {
        Language::En if !phase.name_en.is_empty() => &phase.name_en,
        Language::Ko | Language::En => &phase.name,
    };
    PhaseWords {
        name: name.clone(),
        opens: words::moment(phase.starts_at, zone, language),
        closes: words::moment(phase.ends_at, zone, language),
        seats: phase.seats_per_person,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_moves_seats_causes_no_notification() {
        let n_worth = MessageKind::ALL.into_iter().filter(|kind| is_worth_one(*kind)).count();
        assert_eq!(n_worth, 25);
        assert!(!is_worth_one(MessageKind::ReservationHeld));
    }
}
