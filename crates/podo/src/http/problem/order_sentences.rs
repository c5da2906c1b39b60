//! The sentences about ticket types, promotion codes and what an order costs.

/// Code, Korean, English; sorted by code.
pub(crate) const ORDERS: &[(&str, &str, &str)] = &[
    (
        "CURRENCY_FIXED",
        "판매를 시작했거나 판매한 적이 있는 공연은 통화를 바꿀 수 없어요.",
        "The currency can't change, because a date of the event has been on sale.",
    ),
    (
        "CURRENCY_UNAVAILABLE",
        "이 통화로 결제받을 수 있는 결제사가 설정되어 있지 않아요.",
        "No payment gateway of this server charges that currency in this way.",
    ),
    (
        "DEPOSIT_TOO_LATE",
        "공연이 가까워 무통장입금을 할 수 없어요. 다른 결제 수단을 골라 주세요.",
        "The show is too close to wait for a deposit. Please choose another payment method.",
    ),
    (
        "INVALID_PRICE_CHANGE",
        "가격 변경은 지금이나 앞으로의 시각부터, 한 시각에 한 번만, 회차마다 50번까지 정할 수 있어요.",
        "A price change starts now or later, at a time of its own, and a date has at most 50.",
    ),
    (
        "INVALID_PRICE_OPTIONS",
        "권종이나 수수료 설정이 올바르지 않아요.",
        "A ticket type or a fee isn't valid.",
    ),
    (
        "INVALID_PROMOTION",
        "할인 코드 설정이 올바르지 않아요.",
        "The terms of the promotion code aren't valid.",
    ),
    (
        "NOTHING_TO_PAY",
        "결제할 금액이 없어요. 바로 예매를 확정해 주세요.",
        "There is nothing to pay. Please confirm the booking directly.",
    ),
    (
        "ORDER_TOO_EXPENSIVE",
        "한 번에 결제할 수 있는 금액을 넘었어요. 좌석을 나누어 예매해 주세요.",
        "That is more than one payment may move. Please book fewer seats at a time.",
    ),
    (
        "PRICE_CHANGE_BEGUN",
        "이미 시작된 가격 변경은 취소할 수 없어요.",
        "A price change that has begun can't be withdrawn.",
    ),
    ("PROMOTION_EXISTS", "이 회차에 이미 있는 코드예요.", "This date already has that code."),
    (
        "PROMOTION_MINIMUM",
        "할인 코드를 쓰려면 티켓 금액이 더 많아야 해요.",
        "Your tickets cost less than this promotion code asks for.",
    ),
    (
        "PROMOTION_NOT_BEGUN",
        "아직 사용 기간이 아닌 할인 코드예요.",
        "This promotion code isn't valid yet.",
    ),
    (
        "PROMOTION_OTHER_GRADE",
        "고른 좌석의 등급에는 쓸 수 없는 할인 코드예요.",
        "This promotion code is for seats of another grade.",
    ),
    ("PROMOTION_OVER", "사용 기간이 끝난 할인 코드예요.", "This promotion code has expired."),
    (
        "PROMOTION_USED",
        "이 할인 코드는 더 이상 사용할 수 없어요. 1인당 사용 횟수를 모두 썼어요.",
        "You have used this promotion code as often as one person may.",
    ),
    (
        "PROMOTION_USED_UP",
        "할인 코드가 모두 사용되었어요.",
        "All uses of this promotion code are gone.",
    ),
    (
        "PROMOTION_WRONG",
        "없는 할인 코드예요. 다시 확인해 주세요.",
        "This promotion code doesn't exist. Please check it.",
    ),
    (
        "TICKET_TYPE_LIMIT",
        "한 번에 살 수 있는 이 권종의 매수를 넘었어요.",
        "That is more of this ticket type than one order may have.",
    ),
    (
        "TICKET_TYPE_OTHER_GRADE",
        "이 좌석 등급에는 쓸 수 없는 권종이에요.",
        "That ticket type isn't for this grade.",
    ),
    (
        "TICKET_TYPE_UNKNOWN",
        "이 회차에 없는 권종이에요.",
        "This date doesn't have that ticket type.",
    ),
    (
        "WALLET_CURRENCY",
        "지갑과 통화가 달라서 지갑을 쓸 수 없어요.",
        "The wallet holds another currency, so it can't be used here.",
    ),
];
