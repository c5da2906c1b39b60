-- Log-ins move into a partition per month (V21), without being copied: the table as it is becomes the
-- first partition. Ids begin with their time, so its rows lie below the month after next. Not valid:
-- this looks at no row, and V21 checks them while people log in.
do $$
declare
    after_next timestamp := date_trunc('month', now() at time zone 'utc') + interval '2 months';
begin
    execute format(
        'alter table user_service.login_history
           add constraint login_history_bound check (id < %L) not valid',
        (lpad(to_hex((extract(epoch from after_next) * 1000)::bigint), 12, '0')
         || repeat('0', 20))::uuid);
end;
$$;
