-- The same season as million.sql, on PostgreSQL; as a superuser, because nothing is checked on the
-- way in. For measuring `podo verify`:
--
--   PODO_STORE_URL=postgres://… podo migrate
--   psql postgres://… -f crates/podo-adapters/benches/verify/million_postgres.sql
--   time PODO_STORE_URL=postgres://… podo verify

begin;
set local session_replication_role = replica;
set local search_path to common, user_service, event_service, reservation_service, payment_service;

create temporary table n on commit drop as
select i, lpad(to_hex(i), 32, '0')::uuid as id, (lpad(to_hex(1 + i / 50000), 26, '0') || '000000')::uuid as schedule,
       case when i % 20 = 0 then 'CANCELED' when i % 20 = 1 then 'EXPIRED' else 'CONFIRMED' end as status,
       to_timestamp(1800000000 + i / 1000.0) as t
  from generate_series(0, 999999) i;

insert into events (id, title, artist, description, venue_id, hall_id, status, created_at, updated_at)
select id, 'Season', 'All', '', id, id, 'OPEN', t, t from n where i = 0;
insert into event_schedules (id, event_id, play_sequence, starts_at, ends_at, sale_starts_at, sale_ends_at,
       status, seat_template, prices, n_seats, queue_settings, draw_seed, created_at, updated_at)
select schedule, lpad('', 32, '0')::uuid, i / 50000 + 1, t + interval '300 days', t + interval '301 days',
       t - interval '90 days', t + interval '290 days', 'UPCOMING', '{}', '{}', 50000,
       '{"mode":"AUTO","maxActive":1000,"admitPerSecond":100,"entryTtlSeconds":600}',
       decode(repeat('00', 32), 'hex'), t, t
  from n where i % 50000 = 0;
insert into seats (schedule_id, seat_index, number, grade, price, state, claim, fence)
select schedule, i % 50000, 'A-' || i, 'R', 100000, case status when 'CONFIRMED' then 'SOLD' else 'FREE' end,
       case status when 'CONFIRMED' then id end, 1 from n;
insert into reservations (id, user_id, schedule_id, status, amount, n_seats, hold_expires_at, place_number,
       booking_number, version, created_at, updated_at)
select id, id, schedule, status, 100000, 1, t + interval '5 minutes', i, 'B' || i,
       case status when 'CANCELED' then 3 else 2 end, t, t from n;
insert into reservation_history
select id, 1, 'HELD', t from n
union all select id, 2, case status when 'EXPIRED' then 'EXPIRED' else 'CONFIRMED' end, t from n
union all select id, 3, 'CANCELED', t from n where status = 'CANCELED';
insert into reservation_seats
select id, schedule, i % 50000, 'A-' || i, 'R', 100000, 1, status = 'CONFIRMED' from n;
insert into queue_history (schedule_id, place_number, user_id, state, activated_at, expires_at,
       extensions_left, created_at, updated_at)
select schedule, i, id, 'EXPIRED', t, t + interval '10 minutes', 2, t, t from n;
insert into payments (id, reservation_id, user_id, method, gateway, status, amount, captured, refunded,
       requested_at, created_at, updated_at)
select id, id, id, 'CARD', 'sandbox', case status when 'CONFIRMED' then 'CAPTURED' else 'REFUNDED' end,
       100000, 100000, case status when 'CONFIRMED' then 0 else 100000 end, t, t, t
  from n where status <> 'EXPIRED';
insert into sandbox_book (payment_id, payment_key, choice, amount, captured, refunded, created_at, updated_at)
select id, 'k' || id, 'APPROVE', amount, captured, refunded, created_at, updated_at from payments;
insert into refunds (id, payment_id, reservation_id, user_id, amount, status, reason, next_at, created_at,
       updated_at)
select id, id, id, user_id, 100000, 'REFUNDED', 'x', created_at, created_at, updated_at
  from payments where refunded > 0;
insert into tickets (id, reservation_id, user_id, schedule_id, seat_index, seat_number, grade, status, code,
       created_at, updated_at)
select id, id, id, schedule, i % 50000, 'A-' || i, 'R',
       case status when 'CONFIRMED' then 'VALID' else 'VOID' end, uuid_send(id), t, t
  from n where status <> 'EXPIRED';
insert into wallets select id, 5000, 1, t, t from n;
insert into wallet_ledger
select id, 1, 'WALLET', id, 'CHARGE', 5000, 5000, id, t from n
union all select id, 1, 'GATEWAY', id, 'CHARGE', -5000, null, id, t from n;
insert into idempotency_keys select id, 'payment/confirm', 'k', decode(repeat('00', 32), 'hex'), 200, '{}', t from n;
insert into outbox (id, aggregate_id, seq, topic, kind, key, payload, status, next_at, created_at, published_at)
select gen_random_uuid(), reservation_id, version, 'booking-completed', 'ReservationHeld', reservation_id, '{}',
       'PUBLISHED', created_at, created_at, created_at
  from reservation_history;

commit;
analyze;
