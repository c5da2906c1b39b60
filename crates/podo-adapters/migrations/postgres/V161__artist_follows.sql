-- Fans who want to be reminded of every opening of an artist.
create table event_service.artist_follows (
    artist     text not null,
    user_id    uuid not null,
    created_at timestamptz not null,
    constraint artist_follows_pkey primary key (artist, user_id)
);

create index artist_follows_user on event_service.artist_follows (user_id, created_at);
