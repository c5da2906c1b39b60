//! Sales in phases: for fans with a code that has fewer uses than there are fans, for members, or
//! for winners of a draw, and then for everybody.

use crate::check::coverage::Coverage;
use crate::fan::Fan;
use crate::swarm::PhasePlan;
use crate::world::{MASTER_KEY, ORGANISER, World, address_of};
use futures::FutureExt;
use podo_app::catalog::phases::draws_port::{Draws, SetDraw};
use podo_app::catalog::phases::members::{MemberIdentifier, MemberKey};
use podo_app::catalog::phases::port::{AddCodes, AddMembers, Phases, SetPhases, StartImport};
use podo_app::catalog::phases::{Proof, verify};
use podo_app::identity::keyring::Keyring;
use podo_app::operations::port::clock::Rng;
use podo_domain::booking::draws::{DrawTerms, OFFER_MINUTES_MIN};
use podo_domain::catalog::SaleWindow;
use podo_domain::catalog::phases::{Inventory, PhaseAudience, PhaseInput, PhaseTerms};
use podo_domain::identity::Email;
use podo_domain::{ImportId, Refusal, Timestamp};

const CODE: &str = "VINEYARD";

/// Of the first phase: fewer than the date permits.
pub(super) const FIRST_SEATS_MAX: u32 = 2;

impl World {
    /// They take the whole sale, one after the other.
    pub(crate) fn phases(&self, now: Timestamp) -> SetPhases {
        let (opening, second, closing) = (self.opening(), self.second_opening(), self.closing());
        let first = |audience, ends_at| phase(audience, FIRST_SEATS_MAX, (opening, ends_at));
        let rest = phase(PhaseAudience::Everybody, self.swarm.seats_per_person, (second, closing));
        let phases = match self.swarm.phases {
            PhasePlan::None => Vec::new(),
            PhasePlan::Code => vec![first(PhaseAudience::Code, closing)],
            PhasePlan::Members => vec![first(PhaseAudience::Members, second), rest],
            PhasePlan::Draw => vec![first(PhaseAudience::Drawn, second), rest],
        };
        SetPhases { actor: ORGANISER, schedule: self.schedule, phases, now }
    }

    /// What lets fans into the first phase.
    pub(crate) async fn invite(&self, now: Timestamp) -> podo_app::Result<()> {
        match self.swarm.phases {
            PhasePlan::None => Ok(()),
            PhasePlan::Code => self.store.add_codes(self.code(now)).await.map(drop),
            PhasePlan::Members => self.import_members(now).await,
            PhasePlan::Draw => self.store.set_draw(self.draw(now)).await.map(drop),
        }
    }

    fn code(&self, now: Timestamp) -> AddCodes {
        let phase = self.schedule.phase(1);
        let hash = Keyring::new(&MASTER_KEY).lookup("phase code", &format!("{phase}\n{CODE}"));
        let uses_max = (self.fans.len() as u32 / 2).max(1);
        AddCodes { actor: ORGANISER, phase, codes: vec![hash], uses_max, now }
    }

    /// Most fans are on the list, under their address.
    async fn import_members(&self, now: Timestamp) -> podo_app::Result<()> {
        let (phase, import) = (self.schedule.phase(1), ImportId::new(self.rng.id(now)));
        let keyring = Keyring::new(&MASTER_KEY);
        let key = |index: usize| {
            let line = format!("{phase}\nemail\n{}\nfan", address_of(index));
            vec![keyring.lookup("phase member", &line)]
        };
        let listed = (0..self.fans.len()).filter(|_| self.rng.happens(70));
        let members = listed.map(key).collect();
        self.store.start_import(StartImport { actor: ORGANISER, phase, import, now }).await?;
        let (problems, is_last) = (Vec::new(), true);
        let lines = AddMembers { phase, import, members, problems, is_last, now };
        self.store.add_members(lines).await.map(drop)
    }

    /// Fans apply before the sale opens; the quantities leave some seats to the second phase.
    fn draw(&self, now: Timestamp) -> SetDraw {
        let n_grades = self.prices().len() as u32;
        let per_grade = self.swarm.n_seats / n_grades;
        let quantity = |grade| (grade, (per_grade * 2).div_ceil(3));
        let terms = DrawTerms {
            apply_from: now,
            apply_until: self.opening(),
            seats_max: FIRST_SEATS_MAX,
            offer_minutes: OFFER_MINUTES_MIN,
            quantities: self.prices().into_keys().map(quantity).collect(),
        };
        SetDraw { actor: ORGANISER, phase: self.schedule.phase(1), terms, now }
    }
}

fn phase(
    audience: PhaseAudience,
    seats_per_person: u32,
    (starts_at, ends_at): (Timestamp, Timestamp),
) -> PhaseInput {
    let terms = PhaseTerms {
        name: "Sale".to_owned(),
        name_en: "Sale".to_owned(),
        window: SaleWindow { starts_at, ends_at },
        audience,
        seats_per_person,
        seats_per_order: None,
        inventory: Inventory::default(),
    };
    PhaseInput { id: None, terms }
}

impl Fan {
    /// Verifies for the first phase, some fans only after they were refused.
    pub(super) async fn prove(&self) {
        let Some(proof) = self.proof() else { return };
        let (fan, phase) = (self.user, self.world.schedule.phase(1));
        let asked = self.insist("verify", move |context| {
            let proof = proof.clone();
            async move { verify(&context, fan, phase, proof).await.map(drop) }.boxed()
        });
        match asked.await {
            Some(Ok(())) => self.world.saw(Coverage::PhaseVerified),
            Some(Err(Refusal::PhaseCodeUsed)) => self.world.saw(Coverage::PhaseCodeUsedUp),
            Some(Err(Refusal::MemberUnknown)) => self.world.saw(Coverage::MemberUnknown),
            Some(Err(Refusal::MemberTaken)) => self.world.saw(Coverage::MemberTaken),
            Some(Err(_)) | None => {}
        }
    }

    /// A few fans type the address of another member.
    fn proof(&self) -> Option<Proof> {
        let world = &self.world;
        match world.swarm.phases {
            PhasePlan::None | PhasePlan::Draw => None,
            PhasePlan::Code => Some(Proof::Code(CODE.to_owned())),
            PhasePlan::Members => {
                let own = world.fans.iter().position(|fan| *fan == self.user).unwrap_or(0);
                let borrows = world.rng.happens(20);
                let index = if borrows { (own + 1) % world.fans.len() } else { own };
                let email = Email::try_from(address_of(index)).expect("an address is valid");
                let name = "Fan".to_owned().try_into().expect("it is a name");
                Some(Proof::Member(MemberKey { id: MemberIdentifier::Email(email), name }))
            }
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
        if matches!(refusal, Refusal::DrawOnly) {
            self.world.saw(Coverage::DrawOnly);
        }
    }
}
