//! I1–I6, I14, I19, I21, I25, I29, I30 and I32: seats, reservations and the entries behind them.

use crate::sql::engine::tx::Tx;
use crate::sql::operations::invariants::{Check, EXAMPLES_MAX, Names};
use podo_app::Result;
use podo_app::operations::port::invariants::Finding;
use podo_domain::booking::reservations::ReservationStatus;

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "I1",
        names: Names::Schedule,
        rule: "a seat has at most one active claim",
        population: "select count(*) as n from reservation_seats where active",
        broken: "select schedule_id, seat_index from reservation_seats where active
                  group by schedule_id, seat_index having count(*) > 1",
    },
    Check {
        id: "I2",
        names: Names::Other,
        rule: "a seat's state agrees with the reservation that claims it",
        population: "select count(*) as n from seats",
        broken: "select s.schedule_id, s.seat_index, s.state, r.status
                   from seats s
                   left join reservation_seats c
                     on c.schedule_id = s.schedule_id and c.seat_index = s.seat_index and c.active
                   left join reservations r on r.id = c.reservation_id
                   left join allocation_seats k
                     on k.schedule_id = s.schedule_id and k.seat_index = s.seat_index
                  where not coalesce(
                        (s.state = 'FREE' and c.reservation_id is null)
                        or (s.state = 'KEPT' and c.reservation_id is null
                            and k.allocation_id = s.claim)
                        or (c.reservation_id = s.claim and c.fence = s.fence
                            and r.status = case s.state when 'HELD' then 'HELD'
                                                        when 'PAYING' then 'PAYING'
                                                        when 'SOLD' then 'CONFIRMED' end),
                        false)",
    },
    Check {
        id: "I3",
        names: Names::Other,
        rule: "a reservation has 1–10 seats and costs the sum of their prices and fees and its own \
               fee; one that is over has none",
        population: "select count(*) as n from reservations",
        broken: "select r.id, r.status, r.amount
                   from reservations r
                   left join reservation_seats c on c.reservation_id = r.id
                  group by r.id, r.status, r.amount, r.n_seats, r.order_fee
                 having count(c.seat_index) < r.n_seats
                     or coalesce(sum(c.price + c.fee), 0) + r.order_fee < r.amount
                     or (r.status <> 'CONFIRMED' and r.status <> 'CANCELED'
                         and (count(c.seat_index) <> r.n_seats
                              or sum(c.price + c.fee) + r.order_fee <> r.amount))
                     or sum(case when c.active then 1 else 0 end)
                        <> case when r.status in ('HELD', 'PAYING', 'CONFIRMED')
                                then r.n_seats else 0 end
                     or sum(case when c.active then c.price + c.fee else 0 end)
                        <> case when r.status in ('HELD', 'PAYING', 'CONFIRMED')
                                then r.amount - r.order_fee else 0 end",
    },
    Check {
        id: "I4",
        names: Names::Other,
        rule: "no fan has more seats of a schedule than allowed",
        population: "select count(*) as n from reservations",
        broken: "select r.user_id, r.schedule_id, cast(sum(r.n_seats) as bigint)
                   from reservations r join event_schedules s on s.id = r.schedule_id
                  where r.channel = 'FAN'
                    and (r.status in ('PAYING', 'CONFIRMED')
                         or (r.status = 'HELD' and r.hold_expires_at > $1))
                  group by r.user_id, r.schedule_id, s.seats_per_person
                 having sum(r.n_seats) > s.seats_per_person",
    },
    Check {
        id: "I6",
        names: Names::Other,
        rule: "seats are held only while the schedule is on sale, and never more than there are",
        population: "select count(*) as n from reservations",
        broken: "select r.id
                   from reservations r join event_schedules s on s.id = r.schedule_id
                  where r.channel = 'FAN'
                    and (r.created_at < s.sale_starts_at or r.created_at >= s.sale_ends_at)
                  union all
                 select s.id
                   from event_schedules s join reservations r on r.schedule_id = s.id
                  where r.status in ('HELD', 'PAYING', 'CONFIRMED')
                  group by s.id, s.n_seats having sum(r.n_seats) > s.n_seats",
    },
    Check {
        id: "I19",
        names: Names::Other,
        rule: "every hold was allowed by a live entry of the same fan, by the standby list or by a \
               draw",
        population: "select count(*) as n from reservations",
        broken: "select r.id, r.place_number
                   from reservations r
                   left join queue_history q
                     on q.schedule_id = coalesce(r.phase_id, r.schedule_id)
                    and q.place_number = r.place_number
                   left join standbys w on w.reservation_id = r.id and w.user_id = r.user_id
                   left join draw_applications d
                     on d.reservation_id = r.id and d.user_id = r.user_id
                  where w.id is null and d.user_id is null and r.channel = 'FAN'
                    and (q.user_id is null or q.user_id <> r.user_id
                         or r.created_at >= q.expires_at)",
    },
    Check {
        id: "I25",
        names: Names::Other,
        rule: "seats of a phase belong to fans who were eligible for it, within its window and limit",
        population: "select count(*) as n from reservations",
        broken: "select r.id, r.phase_id
                   from reservations r
                   left join sale_phases p on p.id = r.phase_id
                   left join phase_eligibilities e
                     on e.phase_id = r.phase_id and e.user_id = r.user_id
                  where r.phase_id is not null
                    and (p.id is null or p.schedule_id <> r.schedule_id
                         or r.created_at < p.starts_at or r.created_at >= p.ends_at
                         or (p.audience <> 'EVERYBODY'
                             and (e.user_id is null or r.created_at < e.created_at)))
                  union all
                 select r.user_id, r.phase_id
                   from reservations r join sale_phases p on p.id = r.phase_id
                  where r.status in ('PAYING', 'CONFIRMED')
                     or (r.status = 'HELD' and r.hold_expires_at > $1)
                  group by r.user_id, r.phase_id, p.seats_per_person
                 having sum(r.n_seats) > p.seats_per_person",
    },
    Check {
        id: "I29",
        names: Names::Schedule,
        rule: "seats of an allocation that isn't released are never sold to the public",
        population: "select count(*) as n from allocation_seats",
        broken: "select a.schedule_id, a.seat_index, s.state
                   from allocation_seats a
                   join allocations k on k.id = a.allocation_id
                   left join seats s
                     on s.schedule_id = a.schedule_id and s.seat_index = a.seat_index
                   left join reservations r on r.id = s.claim
                  where k.schedule_id <> a.schedule_id or k.released_at is not null
                     or not coalesce((s.state = 'KEPT' and s.claim = a.allocation_id)
                                     or (s.state = 'SOLD' and r.channel <> 'FAN'), false)",
    },
    Check {
        id: "I30",
        names: Names::Other,
        rule: "a draw offers seats in its order, to its winners only, and within the quantities",
        population: "select count(*) as n from draw_applications",
        broken: "select g.phase_id, g.grade, g.n_out
                   from draw_grades g join draws d on d.phase_id = g.phase_id
                  where g.n_out > g.quantity
                     or (d.forgotten_at is null
                         and g.n_out <> coalesce((select cast(sum(a.n_seats) as bigint)
                                                    from draw_applications a
                                                   where a.phase_id = g.phase_id
                                                     and a.grade = g.grade
                                                     and a.state in ('OFFERED', 'TAKEN')), 0))
                  union all
                 select e.phase_id, e.grade, e.place
                   from draw_applications e
                   join (select phase_id, grade, max(place) as place from draw_applications
                          where state in ('OFFERED', 'TAKEN', 'LAPSED')
                          group by phase_id, grade) last
                     on last.phase_id = e.phase_id and last.grade = e.grade
                  where e.state = 'DRAWN' and e.place < last.place
                  union all
                 select r.phase_id, r.status, r.n_seats
                   from reservations r join sale_phases p on p.id = r.phase_id
                  where p.audience = 'DRAWN'
                    and not exists (select 1 from draw_applications a
                                     where a.reservation_id = r.id and a.user_id = r.user_id
                                       and a.phase_id = r.phase_id)
                  union all
                 select d.phase_id, 'late', d.n_applied
                   from draws d
                  where d.n_ranked > d.n_applied
                     or (d.drawn_at is not null
                         and exists (select 1 from draw_applications a
                                      where a.phase_id = d.phase_id and a.place is null))",
    },
    Check {
        id: "I32",
        names: Names::Other,
        rule: "a ticket is for a seat of its booking, and a seat has one ticket",
        population: "select count(*) as n from tickets where status <> 'VOID'",
        broken: "select t.reservation_id, t.seat_number, t.grade
                   from tickets t
                   left join reservation_seats c
                     on c.reservation_id = t.reservation_id and c.seat_index = t.seat_index
                    and c.active
                  where t.status <> 'VOID'
                    and (c.reservation_id is null or c.number <> t.seat_number
                         or c.grade <> t.grade)
                  union all
                 select reservation_id, cast(seat_index as varchar), cast(count(*) as varchar)
                   from tickets where status <> 'VOID'
                  group by reservation_id, seat_index having count(*) > 1",
    },
    Check {
        id: "I21",
        names: Names::Other,
        rule: "a session has at most one live refresh token",
        population: "select count(*) as n from auth_tokens",
        broken: "select session_id from auth_tokens where spent_at is null and revoked_at is null
                  group by session_id having count(*) > 1",
    },
];

/// I15, for notifications since `$1`: older marks may have been deleted.
pub(crate) const LETTERS: Check = Check {
    id: "I15",
    names: Names::Other,
    rule: "a notification was written in the transaction that marked its message, once",
    population: "select count(*) as n from mailbox",
    broken: "select m.message_id, m.channel
               from mailbox m
               left join processed_messages p on p.message_id = m.message_id
              where p.message_id is null and m.created_at >= $1",
};

/// I14, for changes since `$1`: older messages may have been deleted.
pub(crate) const MESSAGES: Check = Check {
    id: "I14",
    names: Names::Other,
    rule: "every change of a reservation has its message",
    population: "select count(*) as n from reservation_history",
    broken: "select h.reservation_id, h.version
               from reservation_history h
               left join outbox o on o.aggregate_id = h.reservation_id and o.seq = h.version
              where o.id is null and h.created_at >= $1",
};

/// I5: history follows the state machine's edges, without gaps, and ends in the row's state.
pub(crate) async fn check_edges(tx: &mut dyn Tx) -> Result<Finding> {
    let counted = tx.row("select count(*) as n from reservation_history", &[]).await?;
    let steps = "select a.status as from_status, b.status as to_status
                   from reservation_history a
                   join reservation_history b
                     on b.reservation_id = a.reservation_id and b.version = a.version + 1
                  group by a.status, b.status";
    let mut examples = Vec::new();
    for row in tx.query(steps, &[]).await? {
        let from = row.parse("from_status", ReservationStatus::parse)?;
        let to = row.parse("to_status", ReservationStatus::parse)?;
        if !from.may_become(to) {
            examples.push(format!("{} → {}", from.as_str(), to.as_str()));
        }
    }
    let ends = "select r.id, r.status, r.version
                  from reservations r
                  left join reservation_history h
                    on h.reservation_id = r.id and h.version = r.version
                 where h.status is null or h.status <> r.status
                    or r.version <> (select count(*) from reservation_history c
                                      where c.reservation_id = r.id)";
    examples.extend(
        tx.query(ends, &[]).await?.iter().map(crate::sql::operations::invariants::describe),
    );
    let n_broken = examples.len() as u64;
    examples.truncate(EXAMPLES_MAX);
    Ok(Finding {
        id: "I5",
        rule: "reservations change only along the edges of their machine",
        n_checked: counted.map(|row| row.get("n")).transpose()?.unwrap_or(0),
        n_broken,
        stops: Vec::new(),
        examples,
    })
}
