//! A sale in one phase for fans with a code that has fewer uses than there are fans.

use crate::check::coverage::Coverage;
use crate::fan::Fan;
use crate::world::MASTER_KEY;
use futures::FutureExt;
use podo_app::catalog::phases::port::{AddCodes, SetPhases};
use podo_app::catalog::phases::{Proof, verify};
use podo_app::identity::keyring::Keyring;
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::{Refusal, ScheduleId, Timestamp, UserId};

const CODE: &str = "VINEYARD";

/// Fewer than the date permits.
const SEATS_PER_PERSON: u32 = 2;

/// The phase takes the whole sale, so its waiting room is the only one.
pub(crate) fn phases(
    actor: UserId,
    schedule: ScheduleId,
    window: SaleWindow,
    now: Timestamp,
) -> SetPhases {
    let terms = PhaseTerms {
        name: "Presale".to_owned(),
        name_en: "Presale".to_owned(),
        window,
        audience: PhaseAudience::Code,
        seats_per_person: SEATS_PER_PERSON,
        seats_per_order: None,
        inventory: Inventory::default(),
    };
    SetPhases { actor, schedule, phases: vec![PhaseInput { id: None, terms }], now }
}

pub(crate) fn code(actor: UserId, schedule: ScheduleId, uses_max: u32, now: Timestamp) -> AddCodes {
    let phase = schedule.phase(1);
    let hash = Keyring::new(&MASTER_KEY).lookup("phase code", &format!("{phase}\n{CODE}"));
    AddCodes { actor, phase, codes: vec![hash], uses_max, now }
}

impl Fan {
    /// Verifies with the code, some fans only after they were refused.
    pub(super) async fn prove(&self) {
        let (fan, phase) = (self.user, self.world.schedule.phase(1));
        let asked = self.insist("verify", move |context| {
            let proof = Proof::Code(CODE.to_owned());
            async move { verify(&context, fan, phase, proof).await.map(drop) }.boxed()
        });
        match asked.await {
            Some(Ok(())) => self.world.saw(Coverage::PhaseVerified),
            Some(Err(Refusal::PhaseCodeUsed)) => self.world.saw(Coverage::PhaseCodeUsedUp),
            Some(Err(_)) | None => {}
        }
    }

    /// A fan who may not enter the phase perhaps proves it now.
    pub(super) async fn note_refusal(&self, refusal: &Refusal) {
        if matches!(refusal, Refusal::NotEligible { .. }) {
            self.world.saw(Coverage::NotEligible);
            if self.world.rng.happens(50) {
                self.prove().await;
            }
        }
    }
}
