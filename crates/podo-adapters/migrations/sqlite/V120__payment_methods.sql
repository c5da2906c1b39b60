-- How the fans of an event may pay.
alter table events add column payment_methods text not null default 'CARD,WALLET';

-- SQLite can't change a constraint: the column is replaced by one that knows more methods.
alter table payments add column paid_by text not null default 'CARD'
    constraint payments_method check (paid_by in ('CARD', 'KAKAO_PAY', 'NAVER_PAY', 'TOSS_PAY', 'PAYCO',
                                                  'SAMSUNG_PAY', 'TRANSFER', 'VIRTUAL_ACCOUNT',
                                                  'WALLET', 'BOX_OFFICE'));
update payments set paid_by = method;
alter table payments drop column method;
alter table payments rename column paid_by to method;

-- What the gateway says was used: a fan may pay with another method in the gateway's window.
alter table payments add column paid_with text
    constraint payments_paid_with check (paid_with in ('CARD', 'KAKAO_PAY', 'NAVER_PAY', 'TOSS_PAY',
                                                       'PAYCO', 'SAMSUNG_PAY', 'TRANSFER',
                                                       'VIRTUAL_ACCOUNT'));
