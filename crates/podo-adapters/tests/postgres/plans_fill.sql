-- A platform that has run for a while: thousands of rows in every growing table. Ids are hashes of
-- numbers, so that rows can refer to each other. Foreign keys and triggers would only cost time.

set session_replication_role = replica;
set search_path to common, user_service, event_service, reservation_service, payment_service;

create temporary table n as
select i, md5('user' || i % 5000)::uuid as user_id, md5('schedule' || i % 20)::uuid as schedule_id,
       md5('reservation' || i)::uuid as reservation_id, md5('payment' || i)::uuid as payment_id,
       i / 20 as seat_index, timestamptz '2026-01-01' + i * interval '1 minute' as t
  from generate_series(1, 20000) i;

insert into users (id, email, email_hash, password_hash, name, role, status, last_login_at, created_at,
    updated_at)
select user_id, 'sealed', sha256(int8send(i)), 'argon2id', 'sealed', 'USER', 'ACTIVE', t, t, t
  from n where i <= 5000;

update users set name_indexed = true, email_indexed = true, phone_hash = sha256(email_hash);

insert into name_prefixes select sha256(int8send(i)), user_id from n where i <= 5000;

insert into issued_orders (id, schedule_id, actor_id, tender, name, created_at)
select reservation_id, schedule_id, user_id, 'CASH', '\x00', t from n;
insert into issued_lookups select sha256(int8send(i)), reservation_id from n;
insert into reseats
    (id, reservation_id, version, moved, reason, actor_id, created_at, waived, schedule_id)
select gen_random_uuid(), reservation_id, 3, 'A-1 → A-6', 'camera', user_id, t,
       case when i % 50 = 0 then 50000 end, schedule_id from n;

insert into support_notes
select (lpad(to_hex(extract(epoch from t)::bigint * 1000), 12, '0') || substr(md5('n' || i), 13))::uuid,
       user_id, reservation_id, user_id, '\x00', t from n where i <= 5000;

insert into auth_tokens (id, user_id, session_id, refresh_hash, issued_at, expires_at, spent_at)
select gen_random_uuid(), user_id, md5('session' || i / 4)::uuid, sha256(int8send(i)), t,
       t + interval '7 days', case when i % 4 = 0 then null else t end from n;

insert into login_history (id, user_id, email_hash, method, success, created_at)
select (lpad(to_hex(extract(epoch from t)::bigint * 1000), 12, '0') || substr(md5('l' || i), 13))::uuid,
       user_id, sha256(int8send(i)), 'EMAIL', true, t from n;

insert into events (id, title, artist, description, venue_id, hall_id, status, created_at, updated_at)
select md5('event' || i)::uuid, 'Podo ' || i, 'The Grapes', '', v.id, h.id, 'ENDED', t, t
  from n, venues v, halls h where i <= 5000;

insert into image_files (hash, widths, stored_at)
select md5(e.id::text), '320,640', now() from events e;
insert into event_images (event_id, slot, hash, widths, width, height, tone, alt, added_at)
select e.id, slot, md5(e.id::text), '320,640', 640, 853, '#101820', 'a poster', now()
  from events e, generate_series(0, 3) slot;

insert into refund_policies (event_id, since, policy)
select e.id, timestamptz '2026-01-01' + n * interval '1 day', '{"steps": []}'
  from events e, generate_series(0, 3) n;
insert into events_search (id, words) select id, lower(title || ' ' || artist) from events
    on conflict do nothing;

insert into event_schedules (id, event_id, play_sequence, starts_at, ends_at, sale_starts_at,
    sale_ends_at, status, seat_template, prices, n_seats, queue_settings, draw_seed, created_at,
    updated_at)
select md5('schedule' || i)::uuid, md5('event' || i)::uuid, 1, o.t + interval '40 days',
       o.t + interval '41 days', o.t, o.t + interval '30 days', 'ENDED', '{}', '{}', 1000, '{}', '\x00', o.t, o.t
  from (select i, timestamptz '2015-01-01' + i * interval '12 hours' as t from n where i <= 5000) o;

insert into sale_phases (id, schedule_id, name, name_en, starts_at, ends_at, audience,
    seats_per_person, inventory, draw_seed, created_at, updated_at)
select md5('phase' || i)::uuid, md5('schedule' || i)::uuid, 'P', 'P', o.t, o.t + interval '1 day', 'CODE',
       2, '{}', decode(repeat('00', 32), 'hex'), o.t, o.t
  from (select i, timestamptz '2015-01-01' + i * interval '12 hours' as t from n where i <= 5000) o;

insert into phase_codes
select md5('phase' || i)::uuid, decode(md5('code' || i), 'hex'), 1, 0, t from n where i <= 5000;
insert into phase_members
select md5('phase' || i)::uuid, decode(md5('member' || i), 'hex'), gen_random_uuid(), t from n where i <= 5000;
insert into phase_eligibilities
select md5('phase' || i)::uuid, user_id, 'CODE', null, t from n where i <= 5000;

insert into draws (phase_id, apply_from, apply_until, seats_max, offer_minutes, n_applied, closed_at,
    n_ranked, drawn_at, n_told, told_at, forgotten_at, created_at, updated_at)
select md5('phase' || i)::uuid, t, t + interval '1 hour', 2, 60, 20000, t, 20000, t, 20000, t, t, t, t
  from n where i <= 5000;
insert into draw_grades select md5('phase' || i)::uuid, 'VIP', 100, 50 from n where i <= 5000;
insert into draw_applications
select md5('phase' || i % 500)::uuid, md5('fan' || i)::uuid, i / 500, 'VIP', 1, 'LAPSED', i / 500, false,
       reservation_id, t, t from n;

insert into seats (schedule_id, seat_index, number, grade, price, state, claim, fence)
select schedule_id, seat_index, 'A-' || seat_index, 'R', 100000, 'SOLD', reservation_id, 1 from n;

insert into allocations (id, schedule_id, name, kind, released_at, created_at, updated_at)
select md5('allocation' || i)::uuid, md5('schedule' || i)::uuid, 'Artist', 'ARTIST', t, t, t
  from n where i <= 5000;
insert into allocation_seats
select md5('schedule' || i % 5000)::uuid, 100000 + i / 5000, md5('allocation' || i % 5000)::uuid from n;

insert into reservations (id, user_id, schedule_id, status, amount, n_seats, hold_expires_at,
    place_number, booking_number, version, created_at, updated_at)
select reservation_id, user_id, schedule_id, 'CONFIRMED', 100000, 1, t, i, 'B-' || i, 2, t, t from n;

insert into reservation_history select reservation_id, v, 'CONFIRMED', t from n, (values (1), (2)) as w (v);

insert into reservation_seats
select reservation_id, schedule_id, seat_index, 'A-' || seat_index, 'R', 100000, 1, true from n;

insert into standbys (id, user_id, schedule_id, grade, n_seats, state, reservation_id, created_at,
    updated_at)
select gen_random_uuid(), user_id, schedule_id, 'R', 1,
       case when i % 2000 = 0 then 'WAITING' else 'TAKEN' end, reservation_id, t, t from n;

insert into queue_blocks (schedule_id, numbers_from, numbers_to, indexes_from, indexes_to, updated_at)
select gen_random_uuid(), 0, n, 0, 0, now() from generate_series(1, 20000) n;

insert into queue_history (schedule_id, place_number, user_id, state, activated_at, expires_at,
    extensions_left, created_at, updated_at)
select schedule_id, i, user_id, 'EXPIRED', t, t, 2, t, t from n;

insert into payments (id, reservation_id, user_id, method, status, amount, captured, requested_at,
    asked_at, created_at, updated_at)
select payment_id, reservation_id, user_id, 'CARD', 'CAPTURED', 100000, 100000, t, t, t, t from n;

insert into payment_history select payment_id, v, 'CAPTURED', 100000, t from n, (values (1), (2)) as w (v);

insert into refunds (id, payment_id, reservation_id, user_id, amount, status, reason, next_at,
    created_at, updated_at)
select gen_random_uuid(), payment_id, reservation_id, user_id, 100000, 'REFUNDED', 'FAN', t, t, t from n;

insert into deposits (payment_id, due_at, bank, account_number, holder, issued_at, received,
    watch_until, created_at, updated_at)
select payment_id, t, 'SHINHAN', '562', 'x', t, 100000, t, t, t from n where i % 10 = 0;

insert into refund_accounts (id, user_id, account, created_at, updated_at)
select payment_id, user_id, '\x01', t, t from n where i % 10 = 0;

insert into refund_runs (schedule_id, status, n_reservations, created_at, updated_at)
select md5('schedule' || i)::uuid, 'DONE', 1, t, t from n;

insert into webhook_events (gateway, id, kind, payment_id, status, next_at, created_at, updated_at)
select 'toss', i::text, 'DONE', payment_id, 'DONE', t, t, t from n;

insert into wallets select user_id, 0, 4, t, t from n where i <= 5000;

insert into wallet_ledger
select user_id, (i - 1) / 5000 + 1, account, gen_random_uuid(), 'CHARGE', 1, 1, null, t
  from n, (values ('WALLET'), ('HOUSE')) as w (account);

insert into tickets
select gen_random_uuid(), reservation_id, user_id, schedule_id, seat_index, 'A-' || seat_index, 'R',
       'VALID', '\x00', null, t, t from n;

insert into transfer_history
select gen_random_uuid(), reservation_id, reservation_id, 'OFFERED', user_id, user_id, t from n
 where i <= 5000;

insert into resends select gen_random_uuid(), reservation_id, user_id, t from n where i <= 5000;

insert into check_ins
select gen_random_uuid(), id, schedule_id, '1', 'ADMITTED', user_id, null, created_at, created_at
  from tickets limit 5000;

insert into announcements (id, schedule_id, kind, about_at, last_seat, last_user, done_at, created_at)
select md5('announcement' || i)::uuid, md5('schedule' || i)::uuid, 'SHOW_REMINDER', t, 0, user_id, t, t
  from n;

insert into audit_log select i + 1000000, user_id, 'read', '/api/admin/users', '{}', t, '\x00' from n;
insert into artist_follows select 'artist ' || i % 50, user_id, t from n where i <= 5000;
insert into sale_reminders select md5('schedule' || i)::uuid, user_id, t from n;

insert into accepted_changes select reservation_id, md5('announcement' || i)::uuid, t from n;

insert into sandbox_book (payment_id, payment_key, choice, amount, created_at, updated_at)
select payment_id, 'key', 'APPROVE', 100000, t, t from n;

insert into wallet_charges (id, user_id, gateway, status, amount, captured, created_at, updated_at)
select gen_random_uuid(), user_id, 'sandbox', 'CAPTURED', 100000, 100000, t, t from n;

insert into sales_by_grade select md5('schedule' || i)::uuid, 'R', 1, 100000, t from n;

insert into idempotency_keys
select user_id, 'payment/confirm', 'key-' || i, '\x00', 200, '{}', t from n;

insert into outbox
select (lpad(to_hex(extract(epoch from t)::bigint * 1000), 12, '0')
        || substr(md5(i || '/' || v), 13))::uuid, reservation_id, v, 'reservations', 'ReservationHeld', schedule_id, '{}',
       'PUBLISHED', 0, t, null, t, t from n, (values (1), (2)) as w (v);

insert into processed_messages
select (lpad(to_hex(extract(epoch from t)::bigint * 1000), 12, '0') || substr(md5(i::text), 13))::uuid,
       'notifications', t from n;

insert into mailbox select reservation_id, 'MAILBOX', user_id, 'Hello', 'Fan', t from n;

insert into dead_letters
select reservation_id, reservation_id, 'booking', 'seat-sync', 'ReservationHeld', 'k', '{}', 'broken', 3,
       'REPLAYED', t, t from n;

insert into notifications
select reservation_id, 'EMAIL', user_id, user_id, 'Hello', 'Fan', 'SENT', 1, t, null, t, t from n;

insert into job_failures
select 'settle', reservation_id, 1, t, 'away', t, t from n limit 20000;

insert into webhook_endpoints
select reservation_id, 'https://podo.example/hook', '\x00', null, 'ReservationConfirmed', 'ACTIVE', t, t
  from n limit 1;

insert into webhook_deliveries
select n.reservation_id, e.id, n.reservation_id, 'ReservationConfirmed', '{}', 'DELIVERED', 1, t, 200, null,
       t, t
  from n, webhook_endpoints e;

insert into resales
select reservation_id, reservation_id, reservation_id, schedule_id, 0, 'R', user_id, 100000, 'WITHDRAWN',
       null, null, null, null, null, t, t
  from n;

analyze;
