//! Fans on the terminal: a bar while they run, a table at the end.

use indicatif::{ProgressBar, ProgressStyle};
use load::{FanAccount, Plan, Progress, Report, Target};
use std::sync::Mutex;

/// Plays the plan and shows how far it is. Gives the course of it as well.
pub(super) async fn play(
    plan: Plan,
    target: Target,
    accounts: Vec<FanAccount>,
) -> (Report, Vec<Progress>) {
    let bar = bar(u64::from(plan.fans), "fans done");
    let course = Mutex::new(Vec::new());
    let report = {
        let show = |progress: Progress| {
            course.lock().expect("nothing panics under this lock").push(progress);
            bar.set_position(progress.finished);
            bar.set_message(format!(
                "{} inside so far · {} bought · {} requests · {} unexpected",
                progress.admitted, progress.bought, progress.requests, progress.unexpected
            ));
        };
        load::run(plan, target, accounts, show).await
    };
    bar.finish_and_clear();
    (report, course.into_inner().expect("nothing panics under this lock"))
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
