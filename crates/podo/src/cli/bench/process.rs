//! What a response costs the server: CPU time, instructions, memory.

use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// How the server's cost is measured.
#[derive(Clone, Debug)]
pub(super) enum Meter {
    /// The CPU time that the kernel accounts.
    Time,
    /// Instructions counted by callgrind, which runs the server and writes into this folder.
    Instructions(PathBuf),
}

impl Meter {
    /// The program that runs the server, if it doesn't run directly.
    pub(super) fn runner(&self) -> Option<Command> {
        let Meter::Instructions(folder) = self else { return None };
        let mut valgrind = Command::new("valgrind");
        let file = folder.join("callgrind.%p");
        valgrind.args(["--quiet", "--tool=callgrind"]);
        valgrind.arg(format!("--callgrind-out-file={}", file.display()));
        Some(valgrind)
    }

    /// The reading at the start of a round.
    pub(super) fn begin(&self, process: u32) -> Result<f64> {
        match self {
            Meter::Time => Ok(processor_time(process)?.as_secs_f64() * 1e6),
            Meter::Instructions(_) => callgrind("--zero", process).map(|()| 0.0),
        }
    }

    /// Microseconds or instructions since then.
    pub(super) fn spent(&self, process: u32, began_at: f64) -> Result<f64> {
        match self {
            Meter::Time => Ok(self.begin(process)? - began_at),
            Meter::Instructions(folder) => {
                callgrind("--dump", process)?;
                newest_count(folder, process)
            }
        }
    }

    /// The unit of the cost.
    pub(super) fn unit(&self) -> &'static str {
        match self {
            Meter::Time => "µs",
            Meter::Instructions(_) => "instructions",
        }
    }

    /// Callgrind is slow and deterministic, so one round of fewer requests is enough.
    pub(super) fn cut(&self, n_requests: usize) -> usize {
        match self {
            Meter::Time => n_requests,
            Meter::Instructions(_) => n_requests.min(2_000),
        }
    }
}

fn callgrind(order: &str, process: u32) -> Result<()> {
    let ran = Command::new("callgrind_control").args([order, &process.to_string()]).output();
    let ran = ran.context("cannot start callgrind_control, which is part of valgrind")?;
    if !ran.status.success() {
        bail!("callgrind_control: {}", String::from_utf8_lossy(&ran.stderr));
    }
    Ok(())
}

/// The count in the latest dump.
fn newest_count(folder: &std::path::Path, process: u32) -> Result<f64> {
    let prefix = format!("callgrind.{process}.");
    let mut newest = None;
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let number: Option<u32> = name.strip_prefix(&prefix).and_then(|it| it.parse().ok());
        newest = newest.max(number);
    }
    let newest = newest.context("callgrind wrote nothing")?;
    let dump = std::fs::read_to_string(folder.join(format!("{prefix}{newest}")))?;
    let count = dump.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse().ok());
    count.context("callgrind counted nothing")
}

/// The kernel reports CPU time in hundredths of a second (USER_HZ).
const TICK: Duration = Duration::from_millis(10);

/// The CPU time of a process, user and system.
fn processor_time(process: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name may contain any character; the fields after its closing parenthesis are simple.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields.split_whitespace());
    let ticks: Option<u32> =
        fields.map(|fields| fields.skip(11).take(2).filter_map(|it| it.parse::<u32>().ok()).sum());
    ticks.map(|ticks| TICK * ticks).context("cannot read the server's CPU time")
}

/// The CPU time of all processes with one of these names.
pub(super) fn processor_time_of(names: &[&str]) -> Result<Duration> {
    let mut sum = Duration::ZERO;
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(process) = name.to_str().and_then(|it| it.parse::<u32>().ok()) else { continue };
        let command = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
        if names.contains(&command.trim_end()) {
            // A process may end between the two reads.
            sum += processor_time(process).unwrap_or_default();
        }
    }
    Ok(sum)
}

/// Programs that work for the server on the same machine.
pub(super) const ENGINES: [&str; 2] = ["postgres", "redis-server"];

/// The CPU time that a run took, by who spent it.
pub(super) struct Shares {
    pub(super) server: Duration,
    pub(super) generator: Duration,
    pub(super) engines: Duration,
}

impl Shares {
    /// The CPU time until now.
    pub(super) fn read(server: u32) -> Result<Shares> {
        Ok(Shares {
            server: processor_time(server)?,
            generator: processor_time(std::process::id())?,
            engines: processor_time_of(&ENGINES)?,
        })
    }

    pub(super) fn since(&self, before: &Shares) -> Shares {
        Shares {
            server: self.server.saturating_sub(before.server),
            generator: self.generator.saturating_sub(before.generator),
            engines: self.engines.saturating_sub(before.engines),
        }
    }
}

/// The most memory that a process had at once.
pub(super) fn peak_kb(process: u32) -> Result<u64> {
    status_kb(process, "VmHWM:")
}

/// The resident memory of a process.
pub(super) fn resident_kb(process: u32) -> Result<u64> {
    status_kb(process, "VmRSS:")
}

fn status_kb(process: u32, field: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field));
    let kb = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kb.context("cannot read the server's memory")
}

#[test]
fn a_process_that_works_uses_its_processor() {
    let own = std::process::id();
    let before = processor_time(own).unwrap();
    let mut sum = 0_u64;
    while processor_time(own).unwrap() == before {
        sum = std::hint::black_box((0..100_000_u64).fold(sum, u64::wrapping_add));
    }
    let resident = resident_kb(own).unwrap();
    assert!(resident > 100 && resident <= peak_kb(own).unwrap());
    let shares = Shares::read(own).unwrap();
    assert!(shares.since(&shares).server.is_zero() && !shares.generator.is_zero());
    processor_time(u32::MAX).unwrap_err();
}
