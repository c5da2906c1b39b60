-- A job erases purchases when their records have been kept for long enough (payment_retention_years),
-- so its role may delete them. Whoever deletes, the database refuses what changed in the last five
-- years (without their leap days), by its own clock.
create function payment_service.record_is_kept() returns trigger language plpgsql as $$
begin
    raise exception 'records of purchases are kept for five years';
end;
$$;

create trigger record_is_kept before delete on reservation_service.reservations for each row
    when (old.updated_at > now() - interval '1825 days')
    execute function payment_service.record_is_kept();
create trigger record_is_kept before delete on payment_service.payments for each row
    when (old.updated_at > now() - interval '1825 days')
    execute function payment_service.record_is_kept();
create trigger record_is_kept before delete on payment_service.payment_history for each row
    when (old.created_at > now() - interval '1825 days')
    execute function payment_service.record_is_kept();
create trigger record_is_kept before delete on payment_service.refunds for each row
    when (old.updated_at > now() - interval '1825 days')
    execute function payment_service.record_is_kept();
create trigger record_is_kept before delete on payment_service.wallet_charges for each row
    when (old.updated_at > now() - interval '1825 days')
    execute function payment_service.record_is_kept();
