//! The refund policy in words, with the dates of one show.

use crate::http::language::Language;
use crate::routes::no_js::html::money;
use podo_domain::payments::refund_policy::{
    Grace, GraceUnit, LastMoment, RefundPeriod, RefundPolicy,
};
use podo_domain::{Currency, Won};

/// List items, from the earliest to the latest.
pub(crate) fn lines(
    language: Language,
    currency: Currency,
    policy: &RefundPolicy,
    periods: &[RefundPeriod],
) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(policy.grace.map(|grace| grace_words(language, grace)));
    if periods.is_empty() {
        let free = language.say(
            "공연 시작 전까지 취소 수수료가 없어요.",
            "Free cancellation until the show starts.",
        );
        lines.push(free.to_owned());
    } else {
        lines.extend(periods.iter().map(|period| period_words(language, currency, period)));
    }
    lines.extend(policy.last_moment.map(|last| last_words(language, last)));
    let is_until_the_show = policy.steps.last().is_none_or(|last| last.days_before == 0);
    if !is_until_the_show {
        lines.push(language.say("그 뒤에는 취소할 수 없음", "Later: no refunds").to_owned());
    }
    lines.iter().map(|line| format!("<li>{line}</li>")).collect()
}

fn period_words(language: Language, currency: Currency, period: &RefundPeriod) -> String {
    let until = &period.until;
    let Some(from) = &period.from else {
        return match language {
            Language::Korean => format!("{until}까지 취소 수수료 없음"),
            Language::English => format!("Until {until}: canceling is free"),
            Language::Japanese => format!("{until}まで：キャンセル無料"),
            Language::Chinese => format!("{until}前：免费取消"),
        };
    };
    let dates = if from == until { from.clone() } else { format!("{from} – {until}") };
    let fee = fee_words(language, currency, period.fee_percent, period.fee_amount);
    match language {
        Language::Korean => format!("{dates} 취소 수수료 {fee}"),
        Language::English => format!("{dates}: a fee of {fee}"),
        Language::Japanese => format!("{dates}：キャンセル料 {fee}"),
        Language::Chinese => format!("{dates}：手续费 {fee}"),
    }
}

fn fee_words(language: Language, currency: Currency, percent: u32, amount: Option<Won>) -> String {
    let Some(amount) = amount else { return format!("{percent}%") };
    let amount = money(amount, currency, language);
    match language {
        Language::Korean => format!("한 장에 {amount} (티켓 금액의 {percent}%까지)"),
        Language::English => format!("{amount} a ticket ({percent}% of its price at most)"),
        Language::Japanese => format!("1枚につき{amount}（チケット代金の{percent}%まで）"),
        Language::Chinese => format!("每张{amount}（最高为票价的{percent}%）"),
    }
}

fn grace_words(language: Language, grace: Grace) -> String {
    let Grace { unit, length, days_before, refunds_fees } = grace;
    match language {
        Language::Korean => {
            let time = match (unit, length) {
                (GraceUnit::Hours, hours) => format!("예매 후 {hours}시간 안에는"),
                (GraceUnit::Days, 0) => "예매한 날 자정까지는".to_owned(),
                (GraceUnit::Days, days) => format!("예매 후 {days}일 안에는"),
            };
            let show = match days_before {
                0 => String::new(),
                days => format!(" 공연 {days}일 전까지"),
            };
            let fees = if refunds_fees { " 예매 수수료도 돌려드려요." } else { "" };
            format!("{time}{show} 취소 수수료가 없어요.{fees}")
        }
        Language::English => {
            let time = match (unit, length) {
                (GraceUnit::Hours, hours) => format!("within {hours} hours of booking"),
                (GraceUnit::Days, 0) => "on the day of booking".to_owned(),
                (GraceUnit::Days, days) => format!("within {days} days of booking"),
            };
            let show = match days_before {
                0 => String::new(),
                days => format!(", up to {days} days before the show"),
            };
            let fees = if refunds_fees { " Booking fees are refunded too." } else { "" };
            format!("Free cancellation {time}{show}.{fees}")
        }
        Language::Japanese => {
            let time = match (unit, length) {
                (GraceUnit::Hours, hours) => format!("予約後{hours}時間以内"),
                (GraceUnit::Days, 0) => "予約した当日".to_owned(),
                (GraceUnit::Days, days) => format!("予約後{days}日以内"),
            };
            let show = match days_before {
                0 => String::new(),
                days => format!("、公演{days}日前まで"),
            };
            let fees = if refunds_fees { "予約手数料も返金します。" } else { "" };
            format!("{time}{show}はキャンセル無料です。{fees}")
        }
        Language::Chinese => {
            let time = match (unit, length) {
                (GraceUnit::Hours, hours) => format!("订票后{hours}小时内"),
                (GraceUnit::Days, 0) => "订票当天".to_owned(),
                (GraceUnit::Days, days) => format!("订票后{days}天内"),
            };
            let show = match days_before {
                0 => String::new(),
                days => format!("、演出{days}天前"),
            };
            let fees = if refunds_fees { "订票手续费一并退还。" } else { "" };
            format!("{time}{show}可免费取消。{fees}")
        }
    }
}

fn last_words(language: Language, last: LastMoment) -> String {
    let LastMoment { days_before, hour } = last;
    match language {
        Language::Korean => match days_before {
            0 => format!("공연 당일 {hour}시까지 취소할 수 있어요."),
            days => format!("공연 {days}일 전 {hour}시까지 취소할 수 있어요."),
        },
        Language::English => match days_before {
            0 => format!("Cancellation ends at {hour}:00 on the day of the show."),
            1 => format!("Cancellation ends at {hour}:00 on the day before the show."),
            days => format!("Cancellation ends at {hour}:00, {days} days before the show."),
        },
        Language::Japanese => match days_before {
            0 => format!("公演当日{hour}時までキャンセルできます。"),
            days => format!("公演{days}日前の{hour}時までキャンセルできます。"),
        },
        Language::Chinese => match days_before {
            0 => format!("可在演出当天{hour}点前取消。"),
            days => format!("可在演出前{days}天的{hour}点前取消。"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_domain::Timestamp;
    use podo_domain::payments::refund_policy::FeeStep;

    fn written(language: Language, policy: &RefundPolicy) -> Vec<String> {
        let now: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
        let show: Timestamp = "2026-03-31T10:00:00Z".parse().unwrap();
        let items =
            lines(language, Currency::Krw, policy, &policy.periods(show, now, "Asia/Seoul"));
        let items = items.split("</li>").map(|item| item.trim_start_matches("<li>").to_owned());
        items.filter(|item| !item.is_empty()).collect()
    }

    #[test]
    fn every_day_before_the_show_has_its_line() {
        let steps = [(9, 10), (6, 20), (1, 30)].map(|(days, fee)| FeeStep::percent(days, fee));
        let policy = RefundPolicy { steps: steps.into(), ..RefundPolicy::default() };
        assert_eq!(
            written(Language::English, &policy),
            [
                "Until 2026-03-21: canceling is free",
                "2026-03-22 – 2026-03-24: a fee of 10%",
                "2026-03-25 – 2026-03-29: a fee of 20%",
                "2026-03-30: a fee of 30%",
                "Later: no refunds",
            ]
        );
        let free = written(Language::Korean, &RefundPolicy::default());
        assert_eq!(free, ["공연 시작 전까지 취소 수수료가 없어요."]);
    }

    #[test]
    fn grace_fixed_fees_and_a_last_moment_are_said() {
        let fixed = FeeStep { days_before: 9, fee_percent: 10, fee_amount: Won::new(4_000) };
        let policy = RefundPolicy {
            steps: vec![fixed, FeeStep::percent(0, 90)],
            grace: Some(Grace {
                unit: GraceUnit::Hours,
                length: 24,
                days_before: 3,
                refunds_fees: true,
            }),
            last_moment: Some(LastMoment { days_before: 1, hour: 17 }),
        };
        assert_eq!(
            written(Language::English, &policy),
            [
                "Free cancellation within 24 hours of booking, up to 3 days before the show. \
                 Booking fees are refunded too.",
                "Until 2026-03-21: canceling is free",
                "2026-03-22 – 2026-03-30: a fee of ₩4,000 a ticket (10% of its price at most)",
                "2026-03-31: a fee of 90%",
                "Cancellation ends at 17:00 on the day before the show.",
            ]
        );
    }
}
