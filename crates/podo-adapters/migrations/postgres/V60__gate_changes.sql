-- Devices at the gate ask which tickets of a date changed since they asked last.
create index tickets_changed on payment_service.tickets (schedule_id, updated_at, id);
