//! Simulated fans that an organiser sends to this node: one crowd at a time, with live progress.

use crate::jobs::tasks::Tasks;
use crate::simulated_fans;
use podo_app::AppContext;
use podo_load::{LoadPlan, Progress, Report, Target};
use std::sync::{Arc, Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub struct Simulation {
    state: Mutex<State>,
}

/// The state of the crowd.
#[derive(Clone, Default)]
pub struct State {
    pub plan: Option<LoadPlan>,
    pub progress: Option<Progress>,
    /// Present once the crowd has finished.
    pub report: Option<Arc<Report>>,
    /// Why the crowd could not start.
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

    /// Starts a crowd, unless one is running.
    pub fn start(
        self: &Arc<Self>,
        context: &Arc<AppContext>,
        tasks: &Tasks,
        plan: LoadPlan,
        target: Target,
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
        let (simulation, context, ending) = (self.clone(), context.clone(), tasks.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = simulation.play(&context, plan, target) => {}
                () = stop.cancelled() => {}
                () = ending.stopped() => {}
            }
            simulation.lock().running = None;
        });
        true
    }

    /// Stops the crowd.
    pub fn stop(&self) {
        if let Some(running) = &self.lock().running {
            running.cancel();
        }
    }

    async fn play(self: &Arc<Self>, context: &AppContext, plan: LoadPlan, target: Target) {
        let accounts = match simulated_fans::accounts(context, plan.fans, |_| {}).await {
            Ok(accounts) => accounts,
            Err(error) => {
                tracing::warn!(%error, "Could not create accounts for the simulated fans");
                self.lock().error = Some(error.to_string());
                return;
            }
        };
        let tell = |progress| self.lock().progress = Some(progress);
        let report = podo_load::run(plan, target, accounts, tell).await;
        self.lock().report = Some(Arc::new(report));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("the lock is never poisoned")
    }
}
