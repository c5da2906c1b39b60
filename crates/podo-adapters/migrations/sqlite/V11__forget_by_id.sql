-- Messages are forgotten by their ids, which begin with the time at which they were made.
drop index outbox_published;
drop index processed_messages_age;
