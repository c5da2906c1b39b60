//! The sentences about draw sales.

/// Code, Korean, English; sorted by code.
pub(crate) const DRAWS: &[(&str, &str, &str)] = &[
    (
        "DRAW_BEGUN",
        "이미 응모를 시작해서 바꿀 수 없어요. 응모 기간과 좌석 수는 추첨 전까지 늘릴 수 있어요.",
        "Fans can already apply, so this can't be changed. The window and the quantities may grow until the draw.",
    ),
    ("DRAW_CLOSED", "응모가 끝났어요.", "Applications are closed."),
    ("DRAW_NOT_OPEN", "아직 응모할 수 없어요.", "Applications aren't open yet."),
    (
        "DRAW_OFFERED",
        "이미 좌석을 잡아 두었어요. 필요 없으면 예매 내역에서 좌석을 돌려주세요.",
        "Seats are already held for you. If you don't want them, release them in your bookings.",
    ),
    (
        "DRAW_ONLY",
        "추첨에 당첨된 분에게만 좌석을 드려요. 대기실이 따로 없어요.",
        "These seats go to winners of the draw only. There is no waiting room.",
    ),
    ("DRAW_PENDING", "아직 추첨하지 않았어요.", "The draw hasn't taken place yet."),
    ("INVALID_DRAW", "추첨 설정이 올바르지 않아요.", "The terms of the draw aren't valid."),
];
