//! Applications without an offer are deleted after the show; the others belong to a reservation.

use crate::sql::booking::draws::ForgetApplications;
use crate::sql::catalog::phases::phases_of;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;

pub(super) async fn forget(tx: &mut dyn Tx, command: &ForgetApplications) -> Result<u64> {
    let ForgetApplications { schedule, limit, now } = *command;
    let delete = "delete from draw_applications where phase_id = $1 and user_id in
                    (select user_id from draw_applications
                      where phase_id = $1 and reservation_id is null limit $2)";
    let note = "update draws set forgotten_at = coalesce(forgotten_at, $2) where phase_id = $1";
    let mut n_most = 0;
    for phase in phases_of(tx, schedule).await? {
        if tx.execute(note, params![phase.id, now]).await? == 0 {
            continue;
        }
        n_most = n_most.max(tx.execute(delete, params![phase.id, limit]).await?);
    }
    Ok(n_most)
}
