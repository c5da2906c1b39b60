-- What organisers moved alone: of a payment, of a wallet in a day, and each of them in a day. The sums
-- decide when a second organiser is needed. `day` counts days in Seoul; 0 for a payment.
create table moved_alone (
    kind       text not null
               constraint moved_alone_kind check (kind in ('PAYMENT', 'WALLET', 'ORGANISER')),
    subject_id blob not null,
    day        integer not null,
    amount     integer not null constraint moved_alone_amount check (amount >= 0),
    updated_at integer not null,
    primary key (kind, subject_id, day)
) without rowid;

-- Webhooks are forgotten by their age.
create index webhook_events_created on webhook_events (created_at);
