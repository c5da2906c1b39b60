//! `podo demo`: an arena that goes on sale in 30 seconds, and fans who compete with you for seats.

use crate::cli::serve::wait_for_signal;
use crate::cli::stage;
use crate::cli::stage::Show;
use crate::cli::stage::fans;
use crate::cli::stage::programme;
use crate::cli::stage::specials;
use crate::config::{Config, LogStyle};
use crate::http::listener;
use crate::server::Server;
use crate::simulated_fans;
use crate::{bootstrap, telemetry};
use anyhow::{Context, Result};
use clap::Args;
use podo_domain::waiting_room::QueueSettings;
use podo_load::{Arrival, LoadPlan, Target};
use std::process::ExitCode;
use std::time::Duration;

#[derive(Args)]
pub(super) struct Demo {
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Number of simulated fans.
    #[arg(long, default_value_t = 600)]
    fans: u32,
    /// Number of seats in the arena.
    #[arg(long, default_value_t = 1_200, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    seats: u32,
    /// Seconds until the sale opens.
    #[arg(long, default_value_t = 30)]
    opens_in: u32,
    /// Stop when the fans have finished, instead of running until Ctrl-C.
    #[arg(long)]
    once: bool,
}

/// The fans share your address and are faster than a person.
const REQUESTS_PER_SECOND: u32 = 20_000;
const CONNECTIONS: u32 = 20_000;

/// The demo's organiser, if the settings name none. The demo has its own data folder.
const ORGANISER: (&str, &str) = ("demo@podo.example", "green-grapes-2026");

fn password_hint(admin: &str) -> String {
    let (email, password) = ORGANISER;
    if admin == email { format!(" with the password {password}") } else { String::new() }
}

pub(super) async fn run(demo: Demo, mut config: Config) -> Result<ExitCode> {
    if let Some(listen) = &demo.listen {
        config.listen = listen.clone();
    }
    config.requests_per_second_per_ip = REQUESTS_PER_SECOND;
    config.connections_per_ip = CONNECTIONS;
    config.data = config.data.join("demo");
    if config.admin_email.is_empty() {
        config.admin_email = ORGANISER.0.to_owned();
        config.admin_password = ORGANISER.1.into();
    }
    telemetry::start_log(LogStyle::Pretty, "warn");
    let listener = listener::bind(&config.listen)
        .context("is another Podo running? try `podo demo --listen 127.0.0.1:0`")?;
    let bootstrapped = bootstrap::context(&config).await?;
    let running = Box::pin(Server::start(&config, bootstrapped, listener)).await?;
    println!("{}", running.url());
    let context = &running.context;
    let show = Show {
        title: "세레인 월드투어 〈AFTERGLOW〉 서울".to_owned(),
        artist: "세레인",
        opens_in: Duration::from_secs(u64::from(demo.opens_in)),
        n_seats: demo.seats,
        queue: QueueSettings { max_active: 100, admit_per_second: 8, ..QueueSettings::default() },
    };
    programme::put_on(context).await?;
    specials::welcome_fan(context).await?;
    let schedule = stage::set(context, &show).await?;
    specials::hang_serein(context, schedule).await?;
    let (url, admin) = (running.url(), &config.admin_email);
    println!("\n  Watch as an organiser: {url}/admin#/simulation?schedule={schedule}");
    println!("  Log in as {admin}{}.", password_hint(admin));
    println!("\n  Buy as a fan: {url}/#/queue/{schedule}");
    let (fan, password) = specials::FAN;
    println!(
        "  Log in as {fan} with the password {password}: the sale opens in {} s.",
        demo.opens_in
    );
    println!("  {} fans are coming for {} seats.", demo.fans, demo.seats);
    println!("\n  Browse what opens next and what is on sale: {url}/");
    println!("  Try the standby list of 새벽네시 (sold out), the draw of 오월의 숲,");
    println!("  and the presale of 한빛 필하모닉 with the code {}.", specials::CODE);
    println!("  Check tickets in as a steward: {url}/gate/   Read the API: {url}/docs");
    println!("  Ctrl-C stops.\n");
    let accounts = simulated_fans::accounts(context, demo.fans, |_| {}).await?;
    let plan = LoadPlan {
        fans: demo.fans,
        arrival: Arrival::Over(show.opens_in + Duration::from_secs(10)),
        think_time: Duration::from_secs(2),
        card_share: 0.3,
        abandon_share: 0.2,
        decline_share: 0.1,
        patience: Duration::from_secs(1_800),
        seed: context.rng.number(),
        ..LoadPlan::for_schedule(schedule)
    };
    let play = fans::play(plan, Target::at(&running.url())?, accounts);
    tokio::select! {
        (report, _) = play => {
            println!("{report}");
            if !demo.once {
                println!("The fans have finished. Podo keeps running at {} until Ctrl-C.", running.url());
                wait_for_signal().await?;
            }
        }
        stopped = wait_for_signal() => stopped?,
    }
    running.stop().await;
    Ok(ExitCode::SUCCESS)
}
