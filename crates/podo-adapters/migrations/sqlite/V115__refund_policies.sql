-- Every refund policy of an event with the moment from which orders are made under it.
create table refund_policies (
    event_id blob not null,
    since    integer not null,
    policy   text not null,
    primary key (event_id, since)
) without rowid;

insert into refund_policies (event_id, since, policy)
select id, 0, refund_policy from events where refund_policy is not null;
