//! Resale at face value: the swap in one transaction, and everything that races with it.

use crate::identity::support::{has, lines};
use crate::world::{FAR, Fan, World, at, refusal, won};
use futures::future::{join, join_all};
use podo_app::booking::port::standby::{StandBy, Standbys};
use podo_app::identity::support::port::{SupportSubject, TimelineKind};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::payments::Sold;
use podo_app::payments::port::wallets::Wallets;
use podo_app::tickets::gate_port::{CheckIn, Gates};
use podo_app::tickets::port::Tickets;
use podo_app::tickets::resale_port::{AdvanceResale, ListTicket, ResaleView, Resales, TakeResale};
use podo_domain::tickets::TicketStatus;
use podo_domain::tickets::resales::ResaleState;
use podo_domain::{PaymentId, RefundId, Refusal, ResaleId, ReservationId, StandbyId, Timestamp};

/// A ticket on offer to a fan who can pay for it.
pub(crate) struct OnOffer {
    pub(crate) seller: Fan,
    pub(crate) taker: Fan,
    pub(crate) sold: Sold,
    pub(crate) listing: ResaleView,
}

/// Sells seat `seat` and offers it to another fan until `at(1_000)`.
pub(crate) async fn on_offer(world: &World, seat: u32) -> OnOffer {
    let (seller, taker) = (world.fan().await, world.fan().await);
    let sold = world.buy(&seller, &[seat], at(1)).await;
    let listing = list(world, &seller, &sold, at(2)).await.unwrap();
    stand_by(world, &taker, &listing).await;
    world.charge(&taker, FAR).await;
    assert!(advance(world, &listing, at(3)).await);
    OnOffer { seller, taker, sold, listing }
}

async fn list(
    world: &World,
    fan: &Fan,
    sold: &Sold,
    now: Timestamp,
) -> podo_app::Result<ResaleView> {
    let (resale, ticket) = (ResaleId::new(world.id()), sold.confirmed.tickets[0].id);
    world
        .store
        .list_ticket(ListTicket {
            resale,
            ticket,
            user: fan.id,
            home: podo_domain::Currency::Krw,
            now,
        })
        .await
}

async fn stand_by(world: &World, fan: &Fan, listing: &ResaleView) {
    let command = StandBy {
        standby: StandbyId::new(world.id()),
        user: fan.id,
        schedule: world.schedule,
        grade: listing.grade.clone(),
        count: 1,
        now: at(2),
    };
    world.store.stand_by(command).await.unwrap();
}

async fn advance(world: &World, listing: &ResaleView, now: Timestamp) -> bool {
    let command = AdvanceResale { resale: listing.id, until: at(1_000), now };
    world.store.advance_resale(command).await.unwrap()
}

pub(crate) fn take_command(world: &World, fan: &Fan, listing: &ResaleView) -> TakeResale {
    TakeResale {
        key: world.key(fan, "resale/take"),
        resale: listing.id,
        user: fan.id,
        amount: listing.price,
        reservation: ReservationId::new(world.id()),
        payment: PaymentId::new(world.id()),
        refund: RefundId::new(world.id()),
        now: at(10),
    }
}

async fn state(world: &World, offered: &OnOffer) -> ResaleState {
    world.store.resales_of(offered.seller.id, 1).await.unwrap()[0].state
}

async fn ticket_status(world: &World, offered: &OnOffer) -> TicketStatus {
    let ticket = offered.sold.confirmed.tickets[0].id;
    world.store.ticket(ticket, offered.seller.id).await.unwrap().unwrap().status
}

#[tokio::test]
async fn the_seat_changes_hands_at_the_price_paid() {
    let world = World::new().await;
    let offered = on_offer(&world, 20).await;
    let before = world.store.balance(offered.seller.id).await.unwrap();
    let again = list(&world, &offered.seller, &offered.sold, at(4)).await.unwrap();
    assert_eq!(again.id, offered.listing.id, "a ticket is listed once");
    assert_eq!(world.store.resales_for(offered.taker.id, at(4)).await.unwrap().len(), 1);
    let command = take_command(&world, &offered.taker, &offered.listing);
    let wrong = TakeResale { amount: won(FAR - 1), ..command.clone() };
    assert_eq!(refusal(world.store.take_resale(wrong).await), Refusal::AmountMismatch);
    let taken = world.store.take_resale(command.clone()).await.unwrap();
    let Idempotent::Fresh(resold) = taken else { panic!("{taken:?}") };
    assert_eq!(resold.sold.confirmed.tickets.len(), 1);
    let replay = world.store.take_resale(command).await.unwrap();
    assert!(matches!(replay, Idempotent::Replay(_)), "{replay:?}");
    let after = world.store.balance(offered.seller.id).await.unwrap();
    assert_eq!(after.get() - before.get(), FAR);
    assert!(world.store.balance(offered.taker.id).await.unwrap().is_zero());
    assert_eq!(ticket_status(&world, &offered).await, TicketStatus::Void);
    assert_eq!(state(&world, &offered).await, ResaleState::Sold);
    let sold = offered.sold.confirmed.reservation.id;
    for subject in [SupportSubject::Person(offered.seller.id), SupportSubject::Booking(sold)] {
        let told = lines(&world, subject).await;
        assert!(has(&told, TimelineKind::Resale, "LISTED"), "{told:?}");
        assert!(has(&told, TimelineKind::Resale, "SOLD"), "{told:?}");
        assert!(!has(&told, TimelineKind::Resale, "TAKEN"), "{told:?}");
    }
    let bought = resold.sold.confirmed.reservation.id;
    for subject in [SupportSubject::Person(offered.taker.id), SupportSubject::Booking(bought)] {
        let told = lines(&world, subject).await;
        assert!(has(&told, TimelineKind::Resale, "TAKEN"), "{told:?}");
    }
    world.finish().await;
}

#[tokio::test]
async fn of_takers_and_a_withdrawal_at_once_one_wins() {
    for seat in [20, 21, 22, 23] {
        let world = World::new().await;
        let offered = on_offer(&world, seat).await;
        let ticket = offered.sold.confirmed.tickets[0].id;
        let takes = (0..8).map(|_| take_command(&world, &offered.taker, &offered.listing));
        let takes = join_all(takes.map(|command| world.store.take_resale(command)));
        let withdraw = world.store.withdraw_resale(ticket, offered.seller.id, at(10));
        let (takes, withdrawn) = join(takes, withdraw).await;
        let n_taken = takes.iter().filter(|taken| taken.is_ok()).count();
        assert_eq!(n_taken + usize::from(withdrawn.unwrap()), 1, "{takes:?}");
        let (status, balance) = match n_taken {
            1 => (TicketStatus::Void, 0),
            _ => (TicketStatus::Valid, FAR),
        };
        assert_eq!(ticket_status(&world, &offered).await, status);
        assert_eq!(world.store.balance(offered.taker.id).await.unwrap().get(), balance);
        world.finish().await;
    }
}

#[tokio::test]
async fn a_ticket_is_used_or_resold_but_not_both() {
    for seat in [20, 21, 22, 23] {
        let world = World::new().await;
        let offered = on_offer(&world, seat).await;
        let ticket = offered.sold.confirmed.tickets[0].id;
        let view = world.store.ticket(ticket, offered.seller.id).await.unwrap().unwrap();
        let check_in = CheckIn {
            id: world.id(),
            actor: world.admin,
            ticket,
            code: view.code,
            gate: "1".into(),
            now: at(10),
        };
        let take = take_command(&world, &offered.taker, &offered.listing);
        let (used, taken) =
            join(world.store.check_in(check_in), world.store.take_resale(take)).await;
        assert_ne!(used.is_ok(), taken.is_ok(), "{used:?} {taken:?}");
        if used.is_ok() {
            assert!(matches!(refusal(taken), Refusal::TicketUsed { .. }));
            assert_eq!(world.store.balance(offered.taker.id).await.unwrap().get(), FAR);
            assert!(advance(&world, &offered.listing, at(11)).await);
            assert_eq!(state(&world, &offered).await, ResaleState::Ended);
        }
        world.finish().await;
    }
}

#[tokio::test]
async fn an_offer_that_lapses_goes_to_the_next_entry_and_then_waits() {
    let world = World::new().await;
    let offered = on_offer(&world, 20).await;
    let next = world.fan().await;
    stand_by(&world, &next, &offered.listing).await;
    assert!(!advance(&world, &offered.listing, at(999)).await, "the offer still stands");
    let command = AdvanceResale { resale: offered.listing.id, until: at(2_000), now: at(1_000) };
    assert!(world.store.advance_resale(command).await.unwrap());
    let late =
        TakeResale { now: at(1_000), ..take_command(&world, &offered.taker, &offered.listing) };
    assert_eq!(refusal(world.store.take_resale(late).await), Refusal::NotFound);
    assert_eq!(world.store.resales_for(next.id, at(1_001)).await.unwrap().len(), 1);
    let command = AdvanceResale { resale: offered.listing.id, until: at(3_000), now: at(2_000) };
    assert!(world.store.advance_resale(command).await.unwrap(), "no one else waits");
    assert_eq!(state(&world, &offered).await, ResaleState::Listed);
    assert!(!world.store.advance_resale(command).await.unwrap());
    assert_eq!(ticket_status(&world, &offered).await, TicketStatus::Valid);
    world.finish().await;
}
