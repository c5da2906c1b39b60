-- The grants of each service. Runs after every migration and is idempotent: it first revokes what
-- an earlier version granted, so a role has exactly the grants below.

revoke all on all tables in schema user_service, event_service, reservation_service,
    payment_service, common
    from podo_user, podo_event, podo_sales, podo_worker, podo_readonly;

revoke all on all functions in schema user_service
    from podo_user, podo_event, podo_sales, podo_worker, podo_readonly;

-- Every node reads the schema's version before it starts.
grant usage on schema common to podo_user, podo_event, podo_sales, podo_worker, podo_readonly;
grant select on common.refinery_schema_history
    to podo_user, podo_event, podo_sales, podo_worker, podo_readonly;

-- ── user: accounts, sessions, log-ins ───────────────────────────────────────────────────────────

grant usage on schema user_service to podo_user;
grant select, insert, update on user_service.users, user_service.auth_tokens to podo_user;
grant select, insert, delete on user_service.login_history, user_service.social_accounts to podo_user;
grant select, insert, update, delete on user_service.notification_settings, user_service.devices,
    user_service.sign_ups, user_service.team_members, user_service.invitations to podo_user;
-- Keys are never deleted: the audit log names them.
grant select, insert, update on user_service.api_keys to podo_user;
grant select, insert, delete on user_service.name_prefixes, user_service.support_notes to podo_user;
grant update (body) on user_service.support_notes to podo_user;
-- Versions and consents are append-only.
grant select, insert on user_service.legal_pages, user_service.consents to podo_user;
grant insert on common.outbox to podo_user;
-- An account that couldn't be erased is skipped during its back-off.
grant select on common.job_failures to podo_user;
-- One role re-encrypts every encrypted field.
grant usage on schema reservation_service to podo_user;
grant select (id, appeal), update (appeal, updated_at) on reservation_service.bot_signals to podo_user;
grant usage on schema event_service to podo_user;
grant select (id, secret, previous_secret), update (secret, previous_secret, updated_at)
    on event_service.webhook_endpoints to podo_user;
grant select (id, secret, previous_secret), update (secret, previous_secret, updated_at)
    on event_service.phase_webhooks to podo_user;
grant usage on schema payment_service to podo_user;
grant select (id, email, created_at), update (email) on payment_service.ticket_claims to podo_user;
grant select (id, name, phone, note, created_at), update (name, phone, note)
    on reservation_service.issued_orders to podo_user;
grant select (id, account), update (account) on payment_service.refund_accounts to podo_user;
-- A change of role adds an audit entry.
grant select, insert on common.audit_log to podo_user;

-- ── event: the catalog and the seats' description ───────────────────────────────────────────────

grant usage on schema event_service to podo_event;
grant select, insert, update, delete on all tables in schema event_service to podo_event;
grant insert on common.outbox to podo_event;
-- The chain is append-only.
grant select, insert on common.audit_log to podo_event;

-- ── sales: reservations and payments, one transaction ───────────────────────────────────────────

grant usage on schema event_service, reservation_service, payment_service to podo_sales;
grant select on event_service.venues, event_service.events, event_service.event_schedules,
    event_service.seats, event_service.refund_policies to podo_sales;
-- Who has a seat, never its label or price.
grant update (state, claim, fence, expires_at) on event_service.seats to podo_sales;
grant select, insert, update on reservation_service.reservations,
    reservation_service.reservation_seats, reservation_service.queue_history,
    reservation_service.queue_blocks, reservation_service.standbys, reservation_service.bot_signals to podo_sales;
grant select, insert, update on payment_service.payments, payment_service.refunds,
    payment_service.wallets, payment_service.tickets, payment_service.sandbox_book,
    payment_service.wallet_charges, payment_service.webhook_events, payment_service.resales,
    payment_service.deposits, payment_service.refund_accounts to podo_sales;
grant select, insert on payment_service.check_ins, payment_service.transfer_history,
    reservation_service.resends to podo_sales;
-- A double whose second guest was sent back out.
grant update (reason) on payment_service.check_ins to podo_sales;
grant select, insert, delete on payment_service.refund_approvals, payment_service.ticket_claims
    to podo_sales;
grant select, insert, update on payment_service.moved_alone to podo_sales;
grant select, update on payment_service.refund_runs to podo_sales;
grant select, insert on common.audit_log to podo_sales;
-- Ledgers are append-only.
grant select, insert on reservation_service.reservation_history, payment_service.payment_history,
    payment_service.wallet_ledger to podo_sales;
grant select, insert, update on common.idempotency_keys to podo_sales;
grant insert on common.outbox to podo_sales;
grant select on common.mailbox to podo_sales;
grant select (id, name) on event_service.halls to podo_sales;
-- A fan accepts a change of the show, or cancels because of it.
grant select on event_service.announcements to podo_sales;
grant select, insert on reservation_service.accepted_changes to podo_sales;
grant select, insert on reservation_service.queue_log to podo_sales;
-- A hold checks its phase; a fan becomes eligible by a code or a member list.
grant select on event_service.sale_phases, event_service.phase_codes, event_service.phase_members
    to podo_sales;
grant update (n_used) on event_service.phase_codes to podo_sales;
-- A phase with a webhook ignores its member list.
grant select (id) on event_service.phase_webhooks to podo_sales;
-- An order uses a promotion code, or gives the use back.
grant select, update (n_used, updated_at) on event_service.promotion_codes to podo_sales;
grant select, insert on event_service.phase_eligibilities to podo_sales;
-- Fans apply for a draw; an offer to a winner counts against the quantity.
grant select, insert, update on event_service.draw_applications to podo_sales;
grant select on event_service.draws, event_service.draw_grades to podo_sales;
grant update (n_applied, updated_at) on event_service.draws to podo_sales;
grant update (n_out) on event_service.draw_grades to podo_sales;
-- Seats are kept and released where they are sold.
grant select, insert, update on event_service.allocations to podo_sales;
grant select, insert, delete on event_service.allocation_seats to podo_sales;
grant select, insert on reservation_service.issued_orders, reservation_service.issued_lookups,
    reservation_service.reseats to podo_sales;

-- ── worker: what the jobs do ────────────────────────────────────────────────────────────────────

grant usage on schema event_service, reservation_service, payment_service to podo_worker;
grant select on event_service.venues, event_service.events, event_service.event_schedules,
    event_service.seats, event_service.sale_phases to podo_worker;
-- The draw itself, and what becomes of its offers.
grant select, update on event_service.draws, event_service.draw_grades,
    event_service.draw_applications to podo_worker;
grant delete on event_service.draw_applications to podo_worker;
-- Only the monthly partitions of log-ins, which the worker creates and drops.
grant usage on schema user_service to podo_worker;
grant execute on function user_service.keep_login_months(timestamptz, timestamptz, bigint)
    to podo_worker;
grant update (state, claim, fence, expires_at) on event_service.seats to podo_worker;
grant select, update (n_used, updated_at) on event_service.promotion_codes to podo_worker;
grant select on event_service.allocations, event_service.allocation_seats to podo_worker;
-- A seat that comes back to its allocation.
grant update (updated_at) on event_service.allocations to podo_worker;
grant select (id), delete on reservation_service.issued_orders to podo_worker;
grant select (reservation_id), delete on reservation_service.issued_lookups to podo_worker;
grant select, delete on reservation_service.reseats to podo_worker;
grant select, update on reservation_service.reservations, reservation_service.reservation_seats,
    reservation_service.queue_history, reservation_service.standbys to podo_worker;
grant select, update on payment_service.payments, payment_service.wallet_charges,
    payment_service.webhook_events, payment_service.deposits to podo_worker;
-- A refund is sent to the account, whose fields are encrypted.
grant select, delete on payment_service.refund_accounts to podo_worker;
grant delete on payment_service.webhook_events to podo_worker;
-- Reminders and changes go to the owners of tickets.
grant select, insert, update, delete on event_service.announcements to podo_worker;
grant select, delete on event_service.sale_reminders to podo_worker;
grant select on event_service.artist_follows to podo_worker;
-- An erased account follows no one.
grant select, delete on event_service.artist_follows to podo_user;
-- Tickets of a canceled date end; no job reads their codes.
grant select (reservation_id, user_id, schedule_id, seat_index, status, used_at, updated_at),
    update (status, updated_at) on payment_service.tickets to podo_worker;
grant select, insert, update on payment_service.wallets, payment_service.refunds,
    payment_service.refund_runs to podo_worker;
grant select, insert on reservation_service.reservation_history, payment_service.payment_history,
    payment_service.wallet_ledger to podo_worker;
grant select, delete on common.idempotency_keys to podo_worker;
grant select, delete on reservation_service.queue_log to podo_worker;
grant select, insert on reservation_service.sale_samples to podo_worker;
grant select, insert, update, delete on common.outbox to podo_worker;
grant select, insert, delete on common.processed_messages to podo_worker;
grant insert on common.mailbox to podo_worker;
grant select, insert, update on common.dead_letters, common.job_runs, common.notifications
    to podo_worker;
grant delete on common.dead_letters, common.notifications to podo_worker;
grant select, insert, update on reservation_service.booked, reservation_service.sales_by_grade
    to podo_worker;
grant select, update on event_service.webhook_endpoints to podo_worker;
grant select, insert, update, delete on event_service.webhook_deliveries to podo_worker;
grant select, insert, update on common.leases to podo_worker;
grant select, insert, update, delete on common.job_failures to podo_worker;
-- Deletes records whose retention period is over; triggers protect younger records from every role.
grant delete on payment_service.deposits, reservation_service.reservations, reservation_service.reservation_seats,
    reservation_service.reservation_history, reservation_service.standbys,
    reservation_service.booked, payment_service.payments, payment_service.payment_history,
    payment_service.refunds, payment_service.refund_approvals, payment_service.moved_alone,
    payment_service.wallet_charges, payment_service.tickets, payment_service.check_ins,
    payment_service.sandbox_book, payment_service.transfer_history, payment_service.ticket_claims,
    payment_service.resales,
    reservation_service.accepted_changes, reservation_service.resends, common.mailbox
    to podo_worker;
grant select (ticket_id) on payment_service.check_ins, payment_service.ticket_claims to podo_worker;
grant select (id) on payment_service.tickets to podo_worker;
grant select (id, reservation_id, state) on payment_service.resales to podo_worker;
grant select (reservation_id) on reservation_service.accepted_changes,
    reservation_service.resends, payment_service.transfer_history to podo_worker;
grant select (payment_id) on payment_service.refund_approvals, payment_service.sandbox_book
    to podo_worker;
grant select (kind, subject_id) on payment_service.moved_alone to podo_worker;
grant select (message_id, channel, user_id) on common.mailbox to podo_worker;
-- The hourly check stores its findings and stops the sale of a date with a broken money invariant.
grant select, insert, delete on common.verifications to podo_worker;
grant update (stopped_at, stopped_why, updated_at) on event_service.event_schedules to podo_worker;
grant select, insert on common.audit_log to podo_worker;

-- ── read-only: lists, reports, the invariants; nothing personal and no secret of a session ──────

grant usage on schema user_service, event_service, reservation_service, payment_service
    to podo_readonly;
grant select (id, role, status, created_at, updated_at, last_login_at, deleted_at)
    on user_service.users to podo_readonly;
grant select (id, user_id, session_id, issued_at, expires_at, spent_at, revoked_at)
    on user_service.auth_tokens to podo_readonly;
grant select on all tables in schema event_service, reservation_service, payment_service, common
    to podo_readonly;
-- Hashes of codes and members identify people to those who have the key.
revoke select on event_service.phase_codes, event_service.phase_members from podo_readonly;
revoke select on event_service.webhook_endpoints, event_service.phase_webhooks,
    payment_service.ticket_claims, reservation_service.issued_orders,
    reservation_service.issued_lookups, payment_service.refund_accounts from podo_readonly;
grant select (id, created_at, updated_at) on payment_service.refund_accounts to podo_readonly;
grant select (id, url, kinds, status, created_at, updated_at)
    on event_service.webhook_endpoints to podo_readonly;
grant select (id, url, created_at, updated_at) on event_service.phase_webhooks to podo_readonly;
