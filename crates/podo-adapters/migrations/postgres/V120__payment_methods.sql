-- How the fans of an event may pay.
alter table event_service.events
    add column payment_methods text not null default 'CARD,WALLET';

-- Existing rows satisfy the wider constraint, so they aren't read again.
alter table payment_service.payments drop constraint payments_method;
alter table payment_service.payments add constraint payments_method
    check (method in ('CARD', 'KAKAO_PAY', 'NAVER_PAY', 'TOSS_PAY', 'PAYCO', 'SAMSUNG_PAY', 'TRANSFER',
                      'VIRTUAL_ACCOUNT', 'WALLET', 'BOX_OFFICE')) not valid;

-- What the gateway says was used: a fan may pay with another method in the gateway's window.
alter table payment_service.payments add column paid_with text
    constraint payments_paid_with check (paid_with in ('CARD', 'KAKAO_PAY', 'NAVER_PAY', 'TOSS_PAY',
                                                       'PAYCO', 'SAMSUNG_PAY', 'TRANSFER',
                                                       'VIRTUAL_ACCOUNT'));
