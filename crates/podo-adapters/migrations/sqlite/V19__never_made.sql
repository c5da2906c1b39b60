-- Payments that ended because the gateway did not know them are looked up again for two hours.
create index payments_never_made on payments (asked_at)
    where status = 'FAILED' and failure_reason = 'NOT_FOUND';
