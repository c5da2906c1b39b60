-- Files of pictures. A row exists before the first of its files and until after the last one.
create table image_files (
    hash      text not null primary key,
    -- The widths, separated by commas.
    widths    text not null,
    stored_at integer not null,
    -- The cleanup removes the files: they can't be shown until that is done.
    removing  integer not null default 0
) without rowid;

create index image_files_age on image_files (stored_at);

-- The pictures of events. Slot 0 is the poster, 1 to 8 are the gallery.
create table event_images (
    event_id blob not null constraint event_images_event references events (id),
    slot     integer not null constraint event_images_slot check (slot between 0 and 8),
    hash     text not null constraint event_images_file references image_files (hash),
    widths   text not null,
    width    integer not null,
    height   integer not null,
    tone     text not null,
    alt      text not null,
    added_at integer not null,
    primary key (event_id, slot)
) without rowid;

create index event_images_hash on event_images (hash);
