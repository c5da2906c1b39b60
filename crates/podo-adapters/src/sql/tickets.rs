//! Tickets and offers to transfer them.

pub(crate) mod holders;
pub(crate) mod offers;

use crate::sql::engine::commands::commands;
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::store::PageAsk;
use podo_app::tickets::port::{
    AcceptTicket, CheckIn, CheckedIn, GateTicket, OfferTicket, OfferView, Offered, TicketView,
    Tickets, Transferred,
};
use podo_domain::{TicketId, Timestamp, UserId};

commands! {
    impl Tickets for SqlStore {
        read tickets_of(TicketsOf { user: UserId, page: PageAsk })
            -> Vec<TicketView> as Sales or_replica => holders::list;
        read ticket(TicketOf { ticket: TicketId, user: UserId })
            -> Option<TicketView> as Sales or_replica => holders::one;
        read ticket_at_gate(AtGate { ticket: TicketId })
            -> Option<GateTicket> as Sales => holders::at_gate;
        write check_in(CheckIn) -> CheckedIn as Sales => holders::check_in;
        write offer_ticket(OfferTicket) -> Idempotent<Offered> as Sales => offers::offer;
        write withdraw_offer(WithdrawOffer { ticket: TicketId, from: UserId, now: Timestamp })
            -> bool as Sales => offers::withdraw;
        read offers_to(OffersTo { email_hash: [u8; 32], now: Timestamp })
            -> Vec<OfferView> as Sales => offers::list;
        write accept_ticket(AcceptTicket) -> Idempotent<Transferred> as Sales => offers::accept;
    }
}
