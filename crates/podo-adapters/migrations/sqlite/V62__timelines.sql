-- Support lists what a person proved for sale phases, and the tickets that they took from others.
create index phase_eligibilities_user on phase_eligibilities (user_id);
create index resales_sold_as on resales (sold_as) where sold_as is not null;
