//! Tests of starting and stopping `podo`.

use crate::podo::*;
use std::path::Path;

/// A stand-in for `podo`: a shell script in its own folder, beside an HTTP server in a thread.
struct StandIn {
    folder: TempDir,
}

impl StandIn {
    fn new(script: &str) -> StandIn {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script"), script).unwrap();
        StandIn { folder }
    }

    /// A server that is ready at the second poll. The script records its arguments and runs `first`
    /// before it prints its URL, so that a test finds the effect.
    fn ready(first: &str, then: &str) -> StandIn {
        let address = http::tests::serve(&[503, 200]);
        StandIn::new(&format!("echo \"$@\" >&2\n{first}\necho http://{address}\n{then}\n"))
    }

    fn launch(&self) -> Launch {
        let mut launch = Launch::new("/bin/sh").patience(Duration::from_secs(10));
        launch.before = vec![self.folder.path().join("script").into()];
        launch
    }
}

const EXIT_7_ON_TERM: &str = "trap 'exit 7' TERM";

/// Short sleeps, because a shell handles signals only between two commands.
const FOR_EVER: &str = "while :; do sleep 0.05; done";

fn log(podo: &Podo) -> String {
    std::fs::read_to_string(podo.log_path()).unwrap()
}

#[test]
fn a_ready_process_has_a_url_and_was_called_as_asked() {
    let stand_in = StandIn::ready("echo \"$PODO_LIMITS$PODO_DATA\" >&2", FOR_EVER);
    let podo =
        stand_in.launch().arg("--roles").arg("api").env("PODO_LIMITS", "off").start().unwrap();
    assert!(podo.url().starts_with("http://127.0.0.1:"));
    let data = podo.data();
    let expected =
        format!("serve --listen 127.0.0.1:0 --data {} --roles api\noff\n", data.display());
    assert_eq!(log(&podo), expected);
}

#[test]
fn terminating_tells_how_it_ended() {
    let mut podo = StandIn::ready(EXIT_7_ON_TERM, FOR_EVER).launch().start().unwrap();
    assert_eq!(podo.terminate().unwrap().code(), Some(7));
    assert_eq!(podo.pid(), None);
    assert_eq!(podo.terminate().unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_process_that_ignores_the_request_to_end_is_reported() {
    let stand_in = StandIn::ready("trap '' TERM", FOR_EVER);
    let mut podo = stand_in.launch().start().unwrap();
    podo.launch.patience = Duration::from_millis(100);
    assert_eq!(podo.terminate().unwrap_err().kind(), ErrorKind::TimedOut);
    podo.kill_9().unwrap();
    assert_eq!(podo.pid(), None);
}

#[test]
fn a_restart_keeps_port_data_and_log() {
    let stand_in = StandIn::ready(EXIT_7_ON_TERM, FOR_EVER);
    let mut podo = stand_in.launch().start().unwrap();
    let (url, first) = (podo.url().to_owned(), podo.pid());
    podo.kill_9().unwrap();
    podo.restart().unwrap();
    assert_eq!(podo.url(), url);
    assert_ne!(podo.pid(), first);
    let port = url.trim_start_matches("http://");
    let again = format!("serve --listen {port} --data {}", podo.data().display());
    assert!(log(&podo).contains(&again), "{}", log(&podo));
}

#[test]
fn a_failed_start_shows_the_end_of_the_log() {
    let failure = StandIn::new("echo 'the store is locked' >&2\nexit 1\n").launch().start();
    let text = failure.err().map(|it| format!("{it:?}")).unwrap();
    assert!(text.ends_with("the end of its log:\nthe store is locked"), "{text}");
}

#[test]
fn a_first_line_that_is_no_url_is_a_failed_start() {
    let failure = StandIn::new("echo welcome\nexec sleep 60\n").launch().start();
    let text = failure.err().map(|it| it.to_string()).unwrap();
    assert!(text.contains("`welcome` is not http://IP:PORT"), "{text}");
}

#[test]
fn a_dropped_process_is_gone() {
    let podo = StandIn::ready("", FOR_EVER).launch().start().unwrap();
    let entry = format!("/proc/{}", podo.pid().unwrap());
    let is_there = || Path::new(&entry).exists();
    assert!(is_there());
    drop(podo);
    assert!(!is_there());
}
