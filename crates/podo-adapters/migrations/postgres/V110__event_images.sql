-- Files of pictures. A row exists before the first of its files and until after the last one.
create table event_service.image_files (
    hash      text not null primary key,
    -- The widths, separated by commas.
    widths    text not null,
    stored_at timestamptz not null,
    -- The cleanup removes the files: they can't be shown until that is done.
    removing  boolean not null default false
);

create index image_files_age on event_service.image_files (stored_at);

-- The pictures of events. Slot 0 is the poster, 1 to 8 are the gallery.
create table event_service.event_images (
    event_id uuid not null
             constraint event_images_event references event_service.events (id),
    slot     bigint not null constraint event_images_slot check (slot between 0 and 8),
    hash     text not null
             constraint event_images_file references event_service.image_files (hash),
    widths   text not null,
    width    bigint not null,
    height   bigint not null,
    tone     text not null,
    alt      text not null,
    added_at timestamptz not null,
    primary key (event_id, slot)
);

create index event_images_hash on event_service.event_images (hash);
