-- Log-ins by month. Partitions are ranges of ids: an id is a UUID of version 7, which begins with its
-- time, and every statement that reads log-ins bounds the id or needs few rows. So the primary key
-- stays what it is, statements of this version and of the one before find their months, and the
-- indexes of the old table fit. Rows of no month (of a clock that is far off) go to
-- `login_history_other`.

create function user_service.login_id_at(moment timestamp) returns uuid
    language sql immutable set search_path = pg_catalog, pg_temp
    return (lpad(to_hex(greatest(extract(epoch from moment) * 1000, 0)::bigint), 12, '0')
            || repeat('0', 20))::uuid;

-- Rows that V20 does not bound move by hand. The scan of the check lets people log in; what follows
-- needs the table for itself and reads no row.
create temporary table stray_logins on commit drop as
select l.* from user_service.login_history l
 where l.id >= (select substring(pg_get_constraintdef(c.oid) from '[0-9a-f-]{36}')::uuid
                  from pg_constraint c where c.conname = 'login_history_bound');
delete from user_service.login_history where id in (select id from stray_logins);
alter table user_service.login_history validate constraint login_history_bound;

alter table user_service.login_history rename to login_history_first;
alter index user_service.login_history_pkey rename to login_history_first_pkey;
alter index user_service.login_history_user rename to login_history_first_user;
alter index user_service.login_history_email rename to login_history_first_email;
alter index user_service.login_history_networks rename to login_history_first_networks;

create table user_service.login_history (
    id         uuid not null primary key,
    user_id    uuid,
    session_id uuid,
    email_hash bytea not null,
    ip         text,
    agent      text,
    method     text not null
               constraint login_history_method check (method in ('EMAIL', 'KAKAO', 'NAVER', 'GOOGLE')),
    success    boolean not null,
    reason     text,
    created_at timestamptz not null,
    network    text,
    budget     text
) partition by range (id);

create index login_history_user on user_service.login_history (user_id, id);
create index login_history_email on user_service.login_history (email_hash, id);
create index login_history_networks on user_service.login_history (email_hash, network, id)
    where success;
create table user_service.login_history_other partition of user_service.login_history default;

-- The months that there are; of the first one `lower_id` is null.
create view user_service.login_months as
select c.relname::text as name,
       substring(b.range from 'FROM \(''([0-9a-f-]{36})''\)')::uuid as lower_id,
       substring(b.range from 'TO \(''([0-9a-f-]{36})''\)')::uuid as upper_id
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
 cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as range) b
 where i.inhparent = 'user_service.login_history'::regclass and b.range <> 'DEFAULT';

-- Drops the months in which everything is older than `before`, makes those of `moment` and of the two
-- after it, and deletes at most `rows_max` rows of other partitions that are as old. Services own no
-- table, so the function acts with the rights of its owner, on these partitions alone; whoever calls
-- it, it leaves the last three months.
create function user_service.keep_login_months(moment timestamptz, before timestamptz, rows_max bigint,
                                               out made bigint, out dropped bigint, out deleted bigint)
    language plpgsql security definer
    set search_path = pg_catalog, pg_temp
    -- People who log in wait behind it while it waits for a lock.
    set lock_timeout = '500ms'
as $$
declare
    oldest uuid := user_service.login_id_at(
        date_trunc('month', least(before, now() - interval '90 days') at time zone 'utc'));
    month timestamp;
    month_start uuid;
    month_end uuid;
    part text;
begin
    lock table user_service.login_history in share update exclusive mode;
    made := 0;
    dropped := 0;
    for part in
        select m.name from user_service.login_months m where m.upper_id <= oldest
         order by m.upper_id limit 12
    loop
        execute format('alter table user_service.login_history detach partition user_service.%I', part);
        execute format('drop table user_service.%I', part);
        dropped := dropped + 1;
    end loop;
    for month in
        select date_trunc('month', moment at time zone 'utc') + make_interval(months => ahead)
          from generate_series(0, 2) ahead
    loop
        month_start := user_service.login_id_at(month);
        month_end := user_service.login_id_at(month + interval '1 month');
        continue when exists (select from user_service.login_months m
                               where coalesce(m.lower_id <= month_start, true)
                                 and month_end <= m.upper_id);
        part := 'login_history_' || to_char(month, 'YYYY_MM');
        execute format('create table user_service.%I (like user_service.login_history
                          including defaults including constraints)', part);
        execute format('with stray as (delete from user_service.login_history_other
                                        where id >= %L and id < %L returning *)
                        insert into user_service.%I select * from stray', month_start, month_end, part);
        execute format('alter table user_service.login_history
                          attach partition user_service.%I for values from (%L) to (%L)',
                       part, month_start, month_end);
        made := made + 1;
    end loop;
    delete from user_service.login_history where id in
        (select id from user_service.login_history where id < oldest order by id limit rows_max);
    get diagnostics deleted = row_count;
end;
$$;

revoke all on function user_service.keep_login_months(timestamptz, timestamptz, bigint) from public;

-- Owner and rights are those of the table before, so that services go on between this and the grants.
do $$
declare
    before record;
    given record;
    bound uuid;
    thing text;
begin
    select c.relowner::regrole as owner, c.relacl as acl, c.relowner into before
      from pg_class c where c.oid = 'user_service.login_history_first'::regclass;
    select substring(pg_get_constraintdef(c.oid) from '[0-9a-f-]{36}')::uuid into bound
      from pg_constraint c where c.conname = 'login_history_bound';
    if exists (select from user_service.login_history_first) then
        execute format('alter table user_service.login_history attach partition
                        user_service.login_history_first for values from (minvalue) to (%L)', bound);
        alter table user_service.login_history_first drop constraint login_history_bound;
    else
        drop table user_service.login_history_first;
    end if;
    for given in
        select case a.grantee when 0 then 'public' else a.grantee::regrole::text end as grantee,
               a.privilege_type, case when a.is_grantable then ' with grant option' else '' end as more
          from aclexplode(before.acl) a where a.grantee <> before.relowner
    loop
        execute format('grant %s on user_service.login_history to %s%s', given.privilege_type,
                       given.grantee, given.more);
    end loop;
    foreach thing in array array[
        'table user_service.login_history', 'table user_service.login_history_other',
        'view user_service.login_months', 'function user_service.login_id_at(timestamp)',
        'function user_service.keep_login_months(timestamptz, timestamptz, bigint)']
    loop
        execute format('alter %s owner to %s', thing, before.owner);
    end loop;
end;
$$;

insert into user_service.login_history select * from stray_logins;
select user_service.keep_login_months(now(), to_timestamp(0), 0);
