-- What is settled is forgotten by age.
create index notifications_age on notifications (updated_at)
    where status in ('SENT', 'FAILED', 'UNKNOWN');
create index dead_letters_age on dead_letters (updated_at) where status in ('REPLAYED', 'DROPPED');
