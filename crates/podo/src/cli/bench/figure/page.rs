//! The report as one self-contained page: a table with bars, and the course of the sale.

use crate::cli::bench::figure::{Figure, number};
use podo_load::{Progress, Report};
use std::fmt::Write;

/// The findings of a run.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) figures: Vec<Figure>,
    pub(crate) sale: Option<Sale>,
}

/// The whole course of a sale.
pub(crate) struct Sale {
    pub(crate) report: Report,
    /// A few samples per second.
    pub(crate) course: Vec<Progress>,
}

const STYLE: &str = "
:root { color-scheme: light dark; --ours: #7c3aed; --other: #9ca3af; --line: #8884 }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
td, th { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid var(--line) }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tr.beside td { color: var(--other) }
.bar { height: .7rem; border-radius: .2rem; background: var(--ours) }
tr.beside .bar { background: var(--other) }
svg { width: 100%; height: 12rem; border-bottom: 1px solid var(--line) }
polyline { fill: none; stroke: var(--ours); stroke-width: 2; vector-effect: non-scaling-stroke }
pre { overflow-x: auto }
";

pub(crate) fn html(findings: &Findings) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n\
         <title>Podo: benchmark</title>\n<style>{STYLE}</style>\n<h1>Podo: benchmark</h1>\n"
    );
    page.push_str("<table><tr><th>What<th>Value<th>p50 ms<th>p99 ms<th>Ratio to yardstick<th>\n");
    for figure in &findings.figures {
        rows(&mut page, figure);
    }
    page.push_str("</table>\n");
    if let Some(sale) = &findings.sale {
        course(&mut page, sale);
    }
    page
}

fn rows(page: &mut String, figure: &Figure) {
    let most = figure.beside.iter().map(|it| it.value).fold(figure.value, f64::max);
    let row = |page: &mut String, class, what: &str, value: f64, times: Option<_>, ratio: &str| {
        let (p50, p99) =
            times.map_or((String::new(), String::new()), |it: crate::cli::bench::figure::Times| {
                (format!("{:.2}", it.p50_us as f64 / 1e3), format!("{:.2}", it.p99_us as f64 / 1e3))
            });
        let (shown, width) = (number(value), 100.0 * value / most.max(f64::EPSILON));
        let _ = writeln!(
            page,
            "<tr{class}><td>{what}<td class=n>{shown} {}<td class=n>{p50}<td class=n>{p99}\
             <td class=n>{ratio}<td><div class=bar style=\"width:{width:.1}%\"></div>",
            figure.unit
        );
    };
    row(page, "", &figure.what, figure.value, figure.times, "");
    for beside in &figure.beside {
        let ratio = format!("{:.2}", figure.ratio_to(beside));
        row(page, " class=beside", &beside.what, beside.value, beside.times, &ratio);
    }
}

fn course(page: &mut String, sale: &Sale) {
    let _ = writeln!(page, "<h2>A sale</h2>\n<pre>{}</pre>", sale.report);
    let at = |it: &Progress| it.elapsed.as_secs_f64();
    let waiting = |it: &Progress| it.started.saturating_sub(it.admitted.max(it.finished)) as f64;
    plot(page, "Waiting fans", &points(&sale.course, at, waiting));
    plot(page, "Purchases", &points(&sale.course, at, |it| it.bought as f64));
    let rates = sale.course.windows(2).map(|pair| {
        let seconds = (at(&pair[1]) - at(&pair[0])).max(f64::EPSILON);
        (at(&pair[1]), pair[1].requests.saturating_sub(pair[0].requests) as f64 / seconds)
    });
    plot(page, "Requests per second", &rates.collect::<Vec<_>>());
}

fn points(
    course: &[Progress],
    at: impl Fn(&Progress) -> f64,
    value: impl Fn(&Progress) -> f64,
) -> Vec<(f64, f64)> {
    course.iter().map(|it| (at(it), value(it))).collect()
}

fn plot(page: &mut String, what: &str, points: &[(f64, f64)]) {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    let most = points.iter().map(|(_, value)| *value).fold(f64::EPSILON, f64::max);
    let length = (last.0 - first.0).max(f64::EPSILON);
    let shown = points.iter().map(|(at, value)| {
        format!("{:.1},{:.1}", 1_000.0 * (at - first.0) / length, 100.0 - 98.0 * value / most)
    });
    let shown = shown.collect::<Vec<_>>().join(" ");
    let _ = writeln!(
        page,
        "<h3>{what}</h3>\n<p>at most {}, over {length:.1} s</p>\n\
         <svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"{what} over time\"><polyline points=\"{shown}\"/></svg>",
        number(most)
    );
}

#[test]
fn the_page_shows_every_figure_and_loads_nothing() {
    let figures = vec![Figure::alone("polls", 60_000.0, "per second")];
    let page = html(&Findings { figures, sale: None });
    assert!(page.contains("<td>polls<td class=n>60000 per second"), "{page}");
    assert!(!page.contains("http") && !page.contains("<script"), "{page}");
}
