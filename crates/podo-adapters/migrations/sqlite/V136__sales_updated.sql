-- Dates that sold a moment ago are sampled once more.
create index sales_by_grade_updated on sales_by_grade (updated_at);
