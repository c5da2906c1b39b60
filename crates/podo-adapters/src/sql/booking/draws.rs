//! Draw sales: the applications of fans, the drawn order, and the holds made for the winners.

mod apply;
mod notices;
mod offer;
mod order;
mod retention;
mod setup;

pub(crate) use setup::{check_phase, remove_draw};

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::Result;
use podo_app::catalog::phases::draws_port::{
    ApplicationCount, ApplicationRecord, Apply, DrawRecord, Draws, NextApplication, OfferDrawn,
    SetDraw, StorePlaces,
};
use podo_domain::booking::draws::{ApplicationState, DrawTerms};
use podo_domain::{PhaseId, ScheduleId, Timestamp, UserId};
use std::collections::BTreeMap;

commands! {
    impl Draws for SqlStore {
        write set_draw(SetDraw) -> DrawRecord as Event => setup::set;
        read draw_of(DrawOf { phase: PhaseId }) -> Option<DrawRecord> as Sales => find;
        write apply(Apply) -> ApplicationRecord as Sales => apply::apply;
        read application_of(ApplicationOf { user: UserId, phase: PhaseId })
            -> Option<ApplicationRecord> as Sales => application_of;
        write withdraw_application(WithdrawApplication { user: UserId, phase: PhaseId, now: Timestamp })
            -> () as Sales => apply::withdraw;
        read draws_due(DrawsDue { now: Timestamp, limit: u32 })
            -> Vec<PhaseId> as Worker => order::due;
        write close_draw(CloseDraw { phase: PhaseId, now: Timestamp })
            -> DrawRecord as Worker => order::close;
        read applications_from(ApplicationsFrom { phase: PhaseId, from: u32, limit: u32 })
            -> Vec<ApplicationRecord> as Worker => applications_from;
        write store_places(StorePlaces) -> () as Worker => order::store_places;
        read draws_running(DrawsRunning { now: Timestamp, limit: u32 })
            -> Vec<DrawRecord> as Worker => offer::running;
        write tell_not_drawn(TellNotDrawn { phase: PhaseId, limit: u32, now: Timestamp })
            -> u64 as Worker => notices::tell_not_drawn;
        read next_to_offer(NextToOffer { phase: PhaseId, grade: String })
            -> Option<NextApplication> as Worker => offer::next;
        write offer_drawn(OfferDrawn) -> () as Sales => offer::offer;
        write pass_over(PassOver { phase: PhaseId, user: UserId, now: Timestamp })
            -> () as Worker => offer::pass_over;
        write settle_drawn(SettleDrawn { now: Timestamp, limit: u32 })
            -> u64 as Worker => offer::settle;
        read count_applications(CountApplications { phase: PhaseId })
            -> Vec<ApplicationCount> as Worker => count;
        write forget_applications(ForgetApplications {
            schedule: ScheduleId, limit: u32, now: Timestamp
        }) -> u64 as Event => retention::forget;
    }
}

/// The columns of a draw with its phase.
macro_rules! draws {
    () => {
        "select d.phase_id, d.apply_from, d.apply_until, d.seats_max, d.offer_minutes,
                d.n_applied, d.closed_at, d.n_ranked, d.list_hash, d.drawn_at, d.forgotten_at,
                p.draw_seed, p.ends_at
           from draws d join sale_phases p on p.id = d.phase_id"
    };
}
use draws;

async fn find(tx: &mut dyn Tx, question: &DrawOf) -> Result<Option<DrawRecord>> {
    load(tx, question.phase).await
}

pub(crate) async fn load(tx: &mut dyn Tx, phase: PhaseId) -> Result<Option<DrawRecord>> {
    let sql = concat!(draws!(), " where d.phase_id = $1");
    match tx.row(sql, params![phase]).await? {
        Some(row) => read_draw(tx, &row).await.map(Some),
        None => Ok(None),
    }
}

async fn read_draw(tx: &mut dyn Tx, row: &Row) -> Result<DrawRecord> {
    let phase: PhaseId = row.get("phase_id")?;
    let sql = "select grade, quantity, n_out from draw_grades where phase_id = $1 order by grade";
    let mut quantities = BTreeMap::new();
    let mut n_out = BTreeMap::new();
    for grade in tx.query(sql, params![phase]).await? {
        let name: String = grade.get("grade")?;
        quantities.insert(name.clone(), grade.get("quantity")?);
        n_out.insert(name, grade.get("n_out")?);
    }
    Ok(DrawRecord {
        phase,
        terms: DrawTerms {
            apply_from: row.get("apply_from")?,
            apply_until: row.get("apply_until")?,
            seats_max: row.get("seats_max")?,
            offer_minutes: row.get("offer_minutes")?,
            quantities,
        },
        seed: row.get("draw_seed")?,
        n_applied: row.get("n_applied")?,
        closed_at: row.get("closed_at")?,
        n_ranked: row.get("n_ranked")?,
        list_hash: row.get("list_hash")?,
        drawn_at: row.get("drawn_at")?,
        forgotten_at: row.get("forgotten_at")?,
        ends_at: row.get("ends_at")?,
        n_out,
    })
}

/// The columns of an application.
macro_rules! applications {
    () => {
        "select a.phase_id, a.user_id, a.idx, a.grade, a.n_seats, a.state, a.place, a.wins,
                a.reservation_id, a.created_at
           from draw_applications a"
    };
}
use applications;

fn read_application(row: &Row) -> Result<ApplicationRecord> {
    Ok(ApplicationRecord {
        phase: row.get("phase_id")?,
        user: row.get("user_id")?,
        index: row.get("idx")?,
        grade: row.get("grade")?,
        count: row.get("n_seats")?,
        state: row.parse("state", ApplicationState::parse)?,
        place: row.get("place")?,
        wins: row.get("wins")?,
        reservation: row.get("reservation_id")?,
        created_at: row.get("created_at")?,
    })
}

async fn application_of(
    tx: &mut dyn Tx,
    question: &ApplicationOf,
) -> Result<Option<ApplicationRecord>> {
    let sql = concat!(applications!(), " where a.phase_id = $1 and a.user_id = $2");
    let row = tx.row(sql, params![question.phase, question.user]).await?;
    row.as_ref().map(read_application).transpose()
}

async fn applications_from(
    tx: &mut dyn Tx,
    question: &ApplicationsFrom,
) -> Result<Vec<ApplicationRecord>> {
    let sql = concat!(
        applications!(),
        " where a.phase_id = $1 and a.idx >= $2 order by a.phase_id, a.idx limit $3"
    );
    let values = params![question.phase, question.from, question.limit];
    tx.query(sql, values).await?.iter().map(read_application).collect()
}

async fn count(tx: &mut dyn Tx, question: &CountApplications) -> Result<Vec<ApplicationCount>> {
    let sql = "select grade, state, count(*) as n, cast(sum(n_seats) as bigint) as n_seats
                 from draw_applications where phase_id = $1
                group by grade, state order by grade, state";
    let read = |row: &Row| {
        Ok(ApplicationCount {
            grade: row.get("grade")?,
            state: row.parse("state", ApplicationState::parse)?,
            applications: row.get("n")?,
            seats: row.get("n_seats")?,
        })
    };
    tx.query(sql, params![question.phase]).await?.iter().map(read).collect()
}
