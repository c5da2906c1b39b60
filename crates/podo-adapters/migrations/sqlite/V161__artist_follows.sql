-- Fans who want to be reminded of every opening of an artist.
create table artist_follows (
    artist     text not null,
    user_id    blob not null,
    created_at integer not null,
    constraint artist_follows_pkey primary key (artist, user_id)
);

create index artist_follows_user on artist_follows (user_id, created_at);
