//! Fans on the terminal: a bar while they run, a table at the end.

use indicatif::{ProgressBar, ProgressStyle};
use load::{FanAccount, Plan, Progress, Report, Target};

/// Plays the plan and shows how far it is.
pub(super) async fn play(plan: Plan, target: Target, accounts: Vec<FanAccount>) -> Report {
    let bar = bar(u64::from(plan.fans), "fans done");
    let show = {
        let bar = bar.clone();
        move |progress: Progress| {
            bar.set_position(progress.finished);
            bar.set_message(format!(
                "{} inside so far · {} bought · {} requests · {} unexpected",
                progress.admitted, progress.bought, progress.requests, progress.unexpected
            ));
        }
    };
    let report = load::run(plan, target, accounts, show).await;
    bar.finish_and_clear();
    report
}

/// A bar on a terminal, nothing elsewhere.
pub(super) fn bar(length: u64, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{elapsed_precise} {bar:32.magenta} {pos}/{len} {prefix} {wide_msg}",
    );
    let bar = ProgressBar::new(length).with_prefix(what);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
