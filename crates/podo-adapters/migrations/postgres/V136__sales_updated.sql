-- Dates that sold a moment ago are sampled once more.
create index sales_by_grade_updated on reservation_service.sales_by_grade (updated_at);
