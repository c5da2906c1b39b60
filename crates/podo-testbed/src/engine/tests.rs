use crate::engine::*;

const SLEEPER: Kind = Kind { name: "the sleeper", end: Signal::TERM };

/// Whether a process has this id; a zombie doesn't count.
pub(crate) fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state_in(&stat).is_some_and(|state| state != 'Z')
}

fn state_in(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

fn state(pid: u32) -> Option<char> {
    state_in(&std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap())
}

/// A process with one child, which has written `up` to its log.
fn sleeper(folder: &Path) -> Process {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "sleep 600 & echo up; wait"]);
    let mut process = Process::spawn(SLEEPER, &mut command, folder).unwrap();
    process.wait_until_ready(|| Ok(output::tail(&log_path(folder)) == "up")).unwrap();
    process
}

#[test]
fn a_dropped_process_is_gone_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let process = sleeper(folder.path());
    let (pid, children) = (process.pid(), children_of(process.pid()).unwrap());
    assert_eq!(children.len(), 1);
    drop(process);
    assert!(!is_running(pid));
    let child = children[0].as_raw_pid().unsigned_abs();
    wait_until("the child is gone", || Ok(!is_running(child))).unwrap();
}

#[test]
fn a_paused_process_stands_still_with_its_children_until_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let process = sleeper(folder.path());
    let child = children_of(process.pid()).unwrap()[0].as_raw_pid().unsigned_abs();
    process.pause().unwrap();
    for pid in [process.pid(), child] {
        wait_until("it stands still", || Ok(state(pid) == Some('T'))).unwrap();
    }
    process.resume().unwrap();
    for pid in [process.pid(), child] {
        wait_until("it runs", || Ok(state(pid) == Some('S'))).unwrap();
    }
}

#[test]
fn a_process_does_not_outlive_its_owner() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("engine");
    std::fs::create_dir(&folder).unwrap();
    let mut process = sleeper(&folder);
    process.guard.lose_owner();
    wait_until("it is gone", || Ok(process.child.try_wait()?.is_some())).unwrap();
    wait_until("its folder is gone", || Ok(!folder.exists())).unwrap();
}

#[test]
fn a_process_that_ends_instead_of_starting_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "echo broken >&2; exit 3"]);
    let mut process = Process::spawn(SLEEPER, &mut command, folder.path()).unwrap();
    let error = process.wait_until_ready(|| Ok(false)).unwrap_err();
    let text = not_started(SLEEPER, folder.path(), &error).to_string();
    let expected = "the sleeper did not start: it ended (exit status: 3)\n\
                    the end of its log:\nbroken";
    assert_eq!(text, expected);
}

#[test]
fn a_failed_run_shows_what_was_written() {
    let sh = |script: &str| run(Command::new("/bin/sh").args(["-c", script]));
    assert_eq!(sh("echo grape").unwrap(), "grape\n");
    let text = sh("echo out; echo err >&2; exit 2").unwrap_err().to_string();
    assert_eq!(text, "/bin/sh: failed (exit status: 2)\nerr\nout\n");
}

#[test]
fn a_parent_is_found_behind_any_name() {
    assert_eq!(parent_in("42 (a) b) c) S 7 8 9"), Some(7));
    assert_eq!(parent_in(""), None);
}
