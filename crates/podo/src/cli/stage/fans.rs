//! Simulated fans on the terminal: a progress bar, and a table at the end.

use indicatif::{ProgressBar, ProgressStyle};
use podo_load::{FanAccount, LoadPlan, Progress, Report, Target};
use std::sync::Mutex;

/// Runs the plan and shows its progress. Returns the course of it as well.
pub(crate) async fn play(
    plan: LoadPlan,
    target: Target,
    accounts: Vec<FanAccount>,
) -> (Report, Vec<Progress>) {
    let bar = bar(u64::from(plan.fans), "fans done");
    let course = Mutex::new(Vec::new());
    let report = {
        let show = |progress: Progress| {
            course.lock().expect("the lock is never poisoned").push(progress);
            bar.set_position(progress.finished);
            bar.set_message(format!(
                "{} inside so far · {} bought · {} requests · {} unexpected",
                progress.admitted, progress.bought, progress.requests, progress.unexpected
            ));
        };
        podo_load::run(plan, target, accounts, show).await
    };
    bar.finish_and_clear();
    (report, course.into_inner().expect("the lock is never poisoned"))
}

/// A progress bar on a terminal, hidden elsewhere.
pub(crate) fn bar(length: u64, what: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template(
        "{elapsed_precise} {bar:32.magenta} {pos}/{len} {prefix} {wide_msg}",
    );
    let bar = ProgressBar::new(length).with_prefix(what);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
