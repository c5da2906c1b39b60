//! The sentences about seats that organisers keep from sale, and about orders of the box office.

/// Code, Korean, English; sorted by code.
pub(crate) const ALLOCATIONS: &[(&str, &str, &str)] = &[
    (
        "ALLOCATION_EXISTS",
        "이 회차에 같은 이름의 보류석이 있어요.",
        "This date already has an allocation of that name.",
    ),
    (
        "ALLOCATION_RELEASED",
        "이미 판매로 풀린 보류석이에요.",
        "This allocation has already been released to sale.",
    ),
    (
        "DESK_ORDER",
        "현장에서 발권한 주문이라 알림을 보낼 계정이 없어요. 티켓을 인쇄해 주세요.",
        "The order was issued at the box office, and its customer has no account. Print the tickets \
         instead.",
    ),
    ("INVALID_ALLOCATION", "보류석 설정이 올바르지 않아요.", "The allocation isn't valid."),
    (
        "INVALID_SEAT_LIST",
        "좌석 목록에 잘못된 줄이 있어요. 아무 좌석도 바뀌지 않았어요.",
        "The list of seats has wrong lines. No seat was changed.",
    ),
    (
        "KEPT_SEATS_SOLD",
        "이미 발권된 좌석은 풀 수 없어요.",
        "Seats that have an order can't be released.",
    ),
    (
        "RESEAT_OTHER_PRICE",
        "새 좌석의 가격이 달라요. 차액을 받지도 돌려주지도 않기로 해야 옮길 수 있어요.",
        "The new seat has another price. Waive the difference to move the booking.",
    ),
    (
        "SEATS_NOT_FREE",
        "선점됐거나 팔렸거나 다른 보류석인 좌석이 있어요.",
        "Some of the seats are held, sold or kept by another allocation.",
    ),
    (
        "SEATS_NOT_KEPT",
        "이 보류석에 없는 좌석이 있어요.",
        "The allocation doesn't keep some of these seats.",
    ),
];
