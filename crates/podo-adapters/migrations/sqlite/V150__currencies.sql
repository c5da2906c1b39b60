-- An event is sold in one currency; its orders and payments keep it. Amounts are in minor units.
alter table events add column currency text not null default 'KRW'
    constraint events_currency check (length(currency) = 3);
alter table reservations add column currency text not null default 'KRW'
    constraint reservations_currency check (length(currency) = 3);
alter table payments add column currency text not null default 'KRW'
    constraint payments_currency check (length(currency) = 3);

-- A wallet has the currency of the server when its first money arrived.
alter table wallets add column currency text not null default 'KRW'
    constraint wallets_currency check (length(currency) = 3);
alter table wallet_charges add column currency text not null default 'KRW'
    constraint wallet_charges_currency check (length(currency) = 3);
