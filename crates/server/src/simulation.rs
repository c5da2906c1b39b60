//! Simulated fans that an organiser sends to this node: one crowd at a time, watched while it plays.

use crate::crowd;
use crate::tasks::Tasks;
use app::Platform;
use load::{Plan, Progress, Report, Target};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub struct Simulation {
    state: Mutex<State>,
}

/// What became of the crowd.
#[derive(Clone, Default)]
pub struct State {
    pub plan: Option<Plan>,
    pub progress: Option<Progress>,
    /// There once the crowd is done.
    pub report: Option<Arc<Report>>,
    /// Why it could not play.
    pub error: Option<String>,
    running: Option<CancellationToken>,
}

impl State {
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }
}

impl Simulation {
    pub fn state(&self) -> State {
        self.lock().clone()
    }

    /// Sends a crowd, unless one is there already.
    pub fn start(
        self: &Arc<Self>,
        platform: &Arc<Platform>,
        tasks: &Tasks,
        (plan, target): (Plan, Target),
    ) -> bool {
        let stop = CancellationToken::new();
        {
            let mut state = self.lock();
            if state.is_running() {
                return false;
            }
            let running = Some(stop.clone());
            *state = State { plan: Some(plan.clone()), running, ..State::default() };
        }
        let (simulation, platform, ending) = (self.clone(), platform.clone(), tasks.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = simulation.play(&platform, plan, target) => {}
                () = stop.cancelled() => {}
                () = ending.stopped() => {}
            }
            simulation.lock().running = None;
        });
        true
    }

    /// Sends everybody home.
    pub fn stop(&self) {
        if let Some(running) = &self.lock().running {
            running.cancel();
        }
    }

    async fn play(self: &Arc<Self>, platform: &Platform, plan: Plan, target: Target) {
        let accounts = match crowd::accounts(platform, plan.fans, |_| {}).await {
            Ok(accounts) => accounts,
            Err(error) => {
                tracing::warn!(%error, "The simulated fans got no accounts");
                self.lock().error = Some(error.to_string());
                return;
            }
        };
        let tell = |progress| self.lock().progress = Some(progress);
        let report = load::run(plan, target, accounts, tell).await;
        self.lock().report = Some(Arc::new(report));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics under this lock")
    }
}
