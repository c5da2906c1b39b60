-- The entries of a period: the first and the last number of it.
create index audit_log_created on common.audit_log (created_at);
