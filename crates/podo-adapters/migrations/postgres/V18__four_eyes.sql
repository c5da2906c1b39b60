-- What organisers moved alone: of a payment, of a wallet in a day, and each of them in a day. The sums
-- decide when a second organiser is needed. `day` counts days in Seoul; 0 for a payment.
create table payment_service.moved_alone (
    kind       text not null
               constraint moved_alone_kind check (kind in ('PAYMENT', 'WALLET', 'ORGANISER')),
    subject_id uuid not null,
    day        bigint not null,
    amount     bigint not null constraint moved_alone_amount check (amount >= 0),
    updated_at timestamptz not null,
    primary key (kind, subject_id, day)
);

-- Webhooks are forgotten by their age.
create index webhook_events_created on payment_service.webhook_events (created_at);
