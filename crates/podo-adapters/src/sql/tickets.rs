//! Tickets and offers to transfer them.

pub(crate) mod claims;
pub(crate) mod gate;
pub(crate) mod holders;
pub(crate) mod offers;
pub(crate) mod resales;

use crate::sql::engine::commands::commands;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::store::PageRequest;
use podo_app::tickets::port::{
    AcceptTicket, ClaimRecord, OfferTicket, OfferView, Offered, TicketView, Tickets, Transferred,
};
use podo_domain::{ClaimId, ReservationId, TicketId, Timestamp, UserId};

commands! {
    impl Tickets for SqlStore {
        read tickets_of(TicketsOf { user: UserId, page: PageRequest })
            -> Vec<TicketView> as Sales or_replica => holders::list;
        read ticket(TicketOf { ticket: TicketId, user: UserId })
            -> Option<TicketView> as Sales or_replica => holders::one;
        read tickets_in(TicketsIn { reservation: ReservationId, user: UserId })
            -> Vec<TicketView> as Sales => holders::in_booking;
        read offered_to(OfferedTo { ticket: TicketId })
            -> Option<[u8; 32]> as Sales => offers::offered_to;
        write offer_ticket(OfferTicket) -> Idempotent<Offered> as Sales => offers::offer;
        write withdraw_offer(WithdrawOffer { ticket: TicketId, from: UserId, now: Timestamp })
            -> bool as Sales => offers::withdraw;
        read offers_to(OffersTo { email_hash: [u8; 32], now: Timestamp })
            -> Vec<OfferView> as Sales => offers::list;
        read offer_to(OfferTo { ticket: TicketId, email_hash: [u8; 32], now: Timestamp })
            -> Option<OfferView> as Sales => offers::one;
        read ticket_claim(TicketClaim { claim: ClaimId })
            -> Option<ClaimRecord> as Sales => claims::find;
        write forget_claims(ForgetClaims { before: Timestamp, limit: u32 })
            -> u64 as Sales => claims::forget;
        write accept_ticket(AcceptTicket) -> Idempotent<Transferred> as Sales => offers::accept;
    }
}
