-- Messages are forgotten by their ids, which begin with the time at which they were made.
drop index common.outbox_published;
drop index common.processed_messages_age;
