-- What a concert is, and from which age fans may attend; 0 means any age.
alter table event_service.events add column genre text not null default 'OTHER'
    constraint events_genre check (genre in ('POP', 'BALLAD', 'ROCK', 'INDIE', 'HIPHOP', 'JAZZ',
                                             'CLASSICAL', 'MUSICAL', 'FESTIVAL', 'OTHER'));
alter table event_service.events add column minimum_age bigint not null default 0
    constraint events_minimum_age check (minimum_age between 0 and 21);
