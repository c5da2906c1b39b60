//! I7–I13, I26–I28, I31, I33 and I34: payments, refunds, wallets, the gateway's book, idempotency
//! keys, resales, order lines, promotion codes, settlements, deposits and currencies.

use crate::sql::operations::invariants::{Check, Names};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "I7",
        names: Names::Payment,
        rule: "refunds, made and due, equal their rows and never exceed what was captured",
        population: "select count(*) as n from payments",
        broken: "select id, status, amount, captured, refunded from payments
                  where refunded < 0 or promised < 0 or refunded + promised > captured
                     or promised <> coalesce((select sum(f.amount) from refunds f
                                               where f.payment_id = payments.id
                                                 and f.status = 'DUE'), 0)
                     or refunded <> coalesce((select sum(f.amount) from refunds f
                                               where f.payment_id = payments.id
                                                 and f.status = 'REFUNDED'), 0)
                     or (promised > 0) <> (status = 'REFUND_DUE')
                     or (captured not in (0, amount) and status not in ('REFUND_DUE', 'REFUNDED')
                         and not (method = 'VIRTUAL_ACCOUNT' and captured > amount
                                  and refunded + promised >= captured - amount))
                     or ((captured > 0) <> (status in ('CAPTURED', 'PARTIALLY_REFUNDED',
                                                       'REFUND_DUE', 'REFUNDED'))
                         and not (amount = 0 and captured = 0
                                  and status in ('CAPTURED', 'REFUNDED')))",
    },
    Check {
        id: "I8",
        names: Names::Reservation,
        rule: "charged money is a ticket, a fee, or on its way back",
        population: "select count(*) as n from reservations",
        broken: "select r.id, r.status, r.amount
                   from reservations r
                  where case when r.status = 'CONFIRMED' then r.amount else 0 end
                        + coalesce((select sum(f.fee) from refunds f
                                     where f.reservation_id = r.id), 0)
                        <> coalesce((select sum(p.captured - p.refunded) from payments p
                                      where p.reservation_id = r.id), 0)
                         - coalesce((select sum(f.amount) from refunds f
                                      where f.reservation_id = r.id and f.status = 'DUE'), 0)
                     or case when r.status = 'CONFIRMED' then r.n_seats else 0 end
                        <> (select count(*) from tickets t
                             where t.reservation_id = r.id and t.status <> 'VOID')",
    },
    Check {
        id: "I9",
        names: Names::Reservation,
        rule: "a reservation has at most one live and one captured payment",
        population: "select count(*) as n from payments",
        broken: "select reservation_id from payments
                  where status in ('READY', 'REQUESTED', 'UNKNOWN', 'AWAITING_DEPOSIT')
                  group by reservation_id having count(*) > 1
                  union all
                 select reservation_id from payments
                  where status in ('CAPTURED', 'PARTIALLY_REFUNDED')
                  group by reservation_id having count(*) > 1",
    },
    Check {
        id: "I10",
        names: Names::Other,
        rule: "a wallet is the sum of its ledger, never negative, and every movement sums to zero",
        population: "select count(*) as n from wallets",
        broken: "select w.user_id, w.balance
                   from wallets w
                  where w.balance < 0
                     or w.balance <> (select coalesce(sum(l.amount), 0) from wallet_ledger l
                                       where l.user_id = w.user_id and l.account = 'WALLET')
                     or w.version <> (select count(*) from wallet_ledger l
                                       where l.user_id = w.user_id and l.account = 'WALLET')
                  union all
                 select user_id, version from wallet_ledger
                  group by user_id, version having sum(amount) <> 0
                  union all
                 select a.user_id, a.version
                   from wallet_ledger a
                   left join wallet_ledger b
                     on b.user_id = a.user_id and b.account = 'WALLET' and b.version = a.version - 1
                  where a.account = 'WALLET'
                    and a.balance_after <> coalesce(b.balance_after, 0) + a.amount",
    },
    Check {
        id: "I11",
        names: Names::Payment,
        rule: "our book and the sandbox gateway's book agree on settled payments",
        population: "select count(*) as n from sandbox_book",
        broken: "select p.id, p.captured, b.captured
                   from payments p
                   join sandbox_book b on b.payment_id = p.id
                  where p.status not in ('READY', 'REQUESTED', 'UNKNOWN', 'AWAITING_DEPOSIT')
                    and (case when p.method = 'VIRTUAL_ACCOUNT' then p.captured > b.captured
                              else p.captured <> b.captured end
                         or coalesce((select sum(f.amount) from refunds f
                                       where f.payment_id = p.id and f.status = 'REFUNDED'
                                         and f.destination = 'ORIGINAL'
                                         and not f.by_hand), 0) > b.refunded)",
    },
    Check {
        id: "I12",
        names: Names::Payment,
        rule: "no gateway charged without our intent stored first",
        population: "select count(*) as n from sandbox_book",
        broken: "select b.payment_id from sandbox_book b
                  where b.captured > 0
                    and not exists (select 1 from payments p
                                     where p.id = b.payment_id
                                       and p.requested_at is not null)
                    and not exists (select 1 from wallet_charges c
                                     where c.id = b.payment_id
                                       and c.requested_at is not null)",
    },
    Check {
        id: "I13",
        names: Names::Other,
        rule: "a key without an answer belongs to a payment that is still open",
        population: "select count(*) as n from idempotency_keys",
        broken: "select k.user_id, k.endpoint, k.key from idempotency_keys k
                  where k.status is null
                    and not exists (select 1 from payments p
                                     where p.user_id = k.user_id and p.confirm_key = k.key
                                       and p.status in ('REQUESTED', 'UNKNOWN'))
                    and not exists (select 1 from wallet_charges c
                                     where c.user_id = k.user_id and c.confirm_key = k.key
                                       and c.status in ('REQUESTED', 'UNKNOWN'))",
    },
    Check {
        id: "I26",
        names: Names::Other,
        rule: "a ticket sold again is void, was refunded in full, and cost its taker no more",
        population: "select count(*) as n from resales",
        broken: "select z.id, z.state, z.price
                   from resales z
                  where z.state = 'SOLD'
                    and (exists (select 1 from tickets t
                                  where t.id = z.ticket_id and t.status <> 'VOID')
                         or exists (select 1 from reservation_seats c
                                     where c.reservation_id = z.sold_as
                                       and (c.seat_index <> z.seat_index
                                            or c.price + c.fee > z.price))
                         or (exists (select 1 from reservations r where r.id = z.reservation_id)
                             and not exists (select 1 from refunds f
                                              where f.id = z.refund_id and f.amount = z.price
                                                and (f.fee = 0
                                                     or exists (select 1 from reservations o
                                                                 where o.id = z.reservation_id
                                                                   and o.fees is not null)))))",
    },
    Check {
        id: "I27",
        names: Names::Reservation,
        rule: "a seat costs its list price less its discounts, and free tickets have no fee",
        population: "select count(*) as n from reservation_seats where list_price is not null",
        broken: "select c.reservation_id, c.seat_index, c.price
                   from reservation_seats c
                  where coalesce(c.list_price, c.price) <> c.price + c.type_off + c.code_off
                     or c.type_off < 0 or c.code_off < 0 or c.price < 0
                     or (c.price = 0 and c.fee <> 0)
                  union all
                 select r.id, r.n_seats, r.order_fee
                   from reservations r
                  where r.status in ('HELD', 'PAYING', 'CONFIRMED') and r.order_fee > 0
                    and not exists (select 1 from reservation_seats c
                                     where c.reservation_id = r.id and c.active
                                       and c.price > 0)",
    },
    Check {
        id: "I28",
        names: Names::Other,
        rule: "the uses of a promotion code are its live orders, and not more than its limit",
        population: "select count(*) as n from promotion_codes",
        broken: "select k.id, k.code, k.n_used
                   from promotion_codes k
                  where k.n_used > k.uses_max
                     or k.n_used <> (select count(*) from reservations r
                                      where r.promotion_id = k.id
                                        and r.status in ('HELD', 'PAYING', 'CONFIRMED'))",
    },
    Check {
        id: "I31",
        names: Names::Payment,
        rule: "the lines of an order are what was charged for it, so settlements add up",
        population: "select count(*) as n from payments where captured > 0",
        broken: "select p.id, p.captured
                   from payments p
                   join reservations r on r.id = p.reservation_id
                  where p.captured > 0
                    and exists (select 1 from payment_history h
                                 where h.payment_id = p.id and h.status = 'CAPTURED')
                    and case when p.method = 'VIRTUAL_ACCOUNT' then p.amount else p.captured end
                        - (select coalesce(sum(c.price + c.fee), 0)
                             from reservation_seats c
                            where c.reservation_id = p.reservation_id)
                        not between r.order_fee
                                and case when r.order_fee > 0 then r.order_fee else p.captured end",
    },
    Check {
        id: "I33",
        names: Names::Payment,
        rule: "an awaited deposit has an account and a deadline, and keeps its seats",
        population: "select count(*) as n from deposits",
        broken: "select p.id, p.status, r.status
                   from payments p
                   join reservations r on r.id = p.reservation_id
                   left join deposits d on d.payment_id = p.id
                  where p.status = 'AWAITING_DEPOSIT'
                    and (r.status <> 'PAYING' or d.issued_at is null or d.close_at is null
                         or d.ask_at is null)
                  union all
                 select p.id, p.status, 'CLOSING'
                   from deposits d join payments p on p.id = d.payment_id
                  where d.close_at is not null and p.status <> 'AWAITING_DEPOSIT'",
    },
    Check {
        id: "I34",
        names: Names::Reservation,
        rule: "an order and its payments are in the currency of its event, a wallet pays in its own",
        population: "select count(*) as n from reservations",
        broken: "select r.id, r.currency, e.currency
                   from reservations r
                   join event_schedules s on s.id = r.schedule_id
                   join events e on e.id = s.event_id
                  where r.currency <> e.currency
                  union all
                 select r.id, r.currency, p.currency
                   from payments p join reservations r on r.id = p.reservation_id
                  where p.currency <> r.currency
                  union all
                 select p.reservation_id, p.currency, w.currency
                   from payments p join wallets w on w.user_id = p.user_id
                  where p.currency <> w.currency
                    and ((p.method = 'WALLET' and p.captured > 0)
                         or exists (select 1 from refunds f
                                     where f.payment_id = p.id and f.destination = 'WALLET'
                                       and f.status = 'REFUNDED'))",
    },
];
