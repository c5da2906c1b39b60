-- Every refund policy of an event with the moment from which orders are made under it.
create table event_service.refund_policies (
    event_id uuid not null,
    since    timestamptz not null,
    policy   jsonb not null,
    primary key (event_id, since)
);

insert into event_service.refund_policies (event_id, since, policy)
select id, timestamptz 'epoch', refund_policy from event_service.events where refund_policy is not null;
