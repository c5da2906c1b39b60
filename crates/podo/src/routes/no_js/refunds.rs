//! The refund policy in words, with the dates of one show.

use crate::http::language::Language;
use podo_domain::Timestamp;
use podo_domain::payments::refunds::RefundPolicy;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(86_400);

/// List items, from the earliest to the latest.
pub(crate) fn lines(language: Language, policy: &RefundPolicy, starts_at: Timestamp) -> String {
    let day = |days_before: u32| {
        let moment = crate::routes::no_js::html::day(starts_at.minus(DAY * days_before));
        moment.split(' ').next().unwrap_or_default().to_owned()
    };
    let steps = &policy.steps;
    let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
        let words = language.choose(
            "공연 시작 전까지 취소 수수료가 없어요.",
            "Free cancellation until the show starts.",
        );
        return format!("<li>{words}</li>");
    };
    let mut lines = Vec::new();
    if first.fee_percent > 0 {
        let until = day(first.days_before + 1);
        let (ko, en) = ("까지 취소 수수료 없음", ": canceling is free");
        let before = language.choose("", "Until ");
        lines.push(format!("{before}{until}{}", language.choose(ko, en)));
    }
    let ends = steps.iter().skip(1).map(|next| next.days_before + 1).chain([last.days_before]);
    for (step, end) in steps.iter().zip(ends) {
        let (from, to) = (day(step.days_before), day(end));
        let dates = if from == to { from } else { format!("{from} – {to}") };
        let fee = step.fee_percent;
        let words = match language {
            Language::Korean => format!("{dates} 취소 수수료 {fee}%"),
            Language::English => format!("{dates}: a fee of {fee}%"),
        };
        lines.push(words);
    }
    let after = language.choose("그 뒤에는 취소할 수 없음", "Later: no refunds");
    lines.push(after.to_owned());
    lines.iter().map(|line| format!("<li>{line}</li>")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_domain::payments::refunds::FeeStep;

    #[test]
    fn every_day_before_the_show_has_its_line() {
        let step = |days_before, fee_percent| FeeStep { days_before, fee_percent };
        let policy = RefundPolicy { steps: vec![step(9, 10), step(6, 20), step(1, 30)] };
        let show: Timestamp = "2026-03-31T10:00:00Z".parse().unwrap();
        let written = lines(Language::English, &policy, show);
        let lines: Vec<_> = written.split("</li>").collect();
        assert_eq!(
            lines,
            [
                "<li>Until 2026-03-21: canceling is free",
                "<li>2026-03-22 – 2026-03-24: a fee of 10%",
                "<li>2026-03-25 – 2026-03-29: a fee of 20%",
                "<li>2026-03-30: a fee of 30%",
                "<li>Later: no refunds",
                "",
            ]
        );
        let free = super::lines(Language::Korean, &RefundPolicy::default(), show);
        assert!(free.contains("취소 수수료가 없어요"), "{free}");
    }
}
