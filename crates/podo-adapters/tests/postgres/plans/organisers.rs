//! The lists of the control room.

use crate::world::{World, at};
use podo_app::operations::port::admin_search::{
    AdminSearch, Look, PaymentSearch, PersonSearch, ReservationSearch,
};
use podo_app::operations::port::audit::{AuditLog, AuditQuery};
use podo_app::payments::port::sales::Sales;
use podo_app::store::Order;
use podo_app::waiting_room::port::history::{Places, QueueHistory};
use podo_domain::UserId;
use uuid::Uuid;

/// Organisers' lists, from both ends and of a period.
pub(super) async fn lists(world: &World, user: UserId) {
    let store = &world.store;
    for order in [Order::Newest, Order::Oldest] {
        let cursor = Some(Uuid::from_u128(1 << 120));
        let period = (Some(at(-86_400)), Some(at(86_400)));
        for (from, to) in [(None, None), period] {
            let look = Look { order, from, to, cursor, limit: 20 };
            store.find_payments(PaymentSearch::default(), look).await.unwrap();
            store.find_reservations(ReservationSearch::default(), look).await.unwrap();
            store.find_people(PersonSearch::default(), look).await.unwrap();
            store.all_notifications(look).await.unwrap();
            let of_fan = ReservationSearch { user: Some(user), ..Default::default() };
            store.find_reservations(of_fan, look).await.unwrap();
        }
        let (schedule, cursor) = (world.schedule, Some(50));
        let asked = Places { schedule, fan: None, order, cursor, limit: 20 };
        store.places_in(asked).await.unwrap();
    }
    for order in [Order::Newest, Order::Oldest] {
        let asked = AuditQuery {
            actor: None,
            action: None,
            subject: None,
            from: at(-86_400),
            to: at(86_400),
            order,
            cursor: Some(100),
            limit: 20,
        };
        store.audit_entries(asked).await.unwrap();
    }
    store.owners_of(vec![user.uuid()]).await.unwrap();
    store.events_sold(vec![world.event]).await.unwrap();
}
