-- A store after a big season: a million reservations on twenty dates, nine in ten sold, the rest
-- given back or expired. For measuring `podo verify`:
--
--   podo migrate --data season
--   sqlite3 season/podo.db < crates/podo-adapters/benches/verify/million.sql
--   time podo verify --data season

pragma foreign_keys = off;
pragma synchronous = off;
begin;

create temp table n as
  with recursive n(i) as (select 0 union all select i + 1 from n where i < 999999)
  select i, cast(printf('%016d', i) as blob) as id,
         cast(printf('s%015d', i / 50000) as blob) as schedule,
         case when i % 20 = 0 then 'CANCELED' when i % 20 = 1 then 'EXPIRED' else 'CONFIRMED' end as status,
         1800000000000 + i as at
    from n;

insert into events (id, title, artist, description, venue_id, hall_id, status, created_at, updated_at)
select cast('e000000000000000' as blob), 'Season', 'All', '', cast('v000000000000000' as blob),
       cast('h000000000000000' as blob), 'OPEN', 0, 0;
insert into event_schedules (id, event_id, play_sequence, starts_at, ends_at, sale_starts_at, sale_ends_at,
       status, seat_template, prices, n_seats, queue_settings, draw_seed, created_at, updated_at)
select distinct schedule, cast('e000000000000000' as blob), i / 50000 + 1, 1900000000000, 1900003600000,
       1700000000000, 1890000000000, 'UPCOMING', '{}', '{}', 50000,
       '{"mode":"AUTO","maxActive":1000,"admitPerSecond":100,"entryTtlSeconds":600}', zeroblob(32), 0, 0
  from n where i % 50000 = 0;
insert into seats (schedule_id, seat_index, number, grade, price, state, claim, fence)
select schedule, i % 50000, 'A-' || i, 'R', 100000, case status when 'CONFIRMED' then 'SOLD' else 'FREE' end,
       case status when 'CONFIRMED' then id end, 1 from n;
insert into reservations (id, user_id, schedule_id, status, amount, n_seats, hold_expires_at, place_number,
       booking_number, version, created_at, updated_at)
select id, id, schedule, status, 100000, 1, at + 300000, i, 'B' || i,
       case status when 'CANCELED' then 3 else 2 end, at, at from n;
insert into reservation_history select id, 1, 'HELD', at from n;
insert into reservation_history select id, 2, case status when 'EXPIRED' then 'EXPIRED' else 'CONFIRMED' end, at from n;
insert into reservation_history select id, 3, 'CANCELED', at from n where status = 'CANCELED';
insert into reservation_seats
select id, schedule, i % 50000, 'A-' || i, 'R', 100000, 1, status = 'CONFIRMED' from n;
insert into queue_history (schedule_id, place_number, user_id, state, activated_at, expires_at,
       extensions_left, created_at, updated_at)
select schedule, i, id, 'EXPIRED', at, at + 600000, 2, at, at from n;
insert into payments (id, reservation_id, user_id, method, gateway, status, amount, captured, refunded,
       requested_at, created_at, updated_at)
select id, id, id, 'CARD', 'sandbox', case status when 'CONFIRMED' then 'CAPTURED' else 'REFUNDED' end,
       100000, 100000, case status when 'CONFIRMED' then 0 else 100000 end, at, at, at
  from n where status <> 'EXPIRED';
insert into sandbox_book (payment_id, payment_key, choice, amount, captured, refunded, created_at, updated_at)
select id, 'k' || id, 'APPROVE', amount, captured, refunded, created_at, updated_at from payments;
insert into refunds (id, payment_id, reservation_id, user_id, amount, status, reason, next_at, created_at, updated_at)
select id, id, id, user_id, 100000, 'REFUNDED', 'x', 0, created_at, updated_at from payments where refunded > 0;
insert into tickets (id, reservation_id, user_id, schedule_id, seat_index, seat_number, grade, status, code,
       created_at, updated_at)
select id, id, id, schedule, i % 50000, 'A-' || i, 'R',
       case status when 'CONFIRMED' then 'VALID' else 'VOID' end, id, at, at from n where status <> 'EXPIRED';
insert into wallets select id, 5000, 1, at, at from n;
insert into wallet_ledger
select id, 1, 'WALLET', id, 'CHARGE', 5000, 5000, id, at from n
union all select id, 1, 'GATEWAY', id, 'CHARGE', -5000, null, id, at from n;
insert into idempotency_keys select id, 'payment/confirm', 'k', zeroblob(32), 200, '{}', at from n;
insert into outbox (id, aggregate_id, seq, topic, kind, key, payload, status, next_at, created_at, published_at)
select cast(printf('o%07d%d-------', version + 0, 0) as blob) || reservation_id, reservation_id, version,
       'booking-completed', 'x', reservation_id, '{}', 'PUBLISHED', 0, created_at, created_at
  from reservation_history;

commit;
