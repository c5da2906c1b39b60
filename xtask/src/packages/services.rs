//! Installs servers without starting them: the tests start their own copies.

use anyhow::Context;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Debian asks this program before it starts a service; 101 means no.
const POLICY: &str = "/usr/sbin/policy-rc.d";
const REFUSAL: &str = "#!/bin/sh\nexit 101\n";

/// While it lives, installed packages start no services. A policy of the machine's own stays.
pub(super) struct NoServices {
    ours: Option<PathBuf>,
}

impl NoServices {
    pub(super) fn declare() -> anyhow::Result<NoServices> {
        NoServices::declare_in(Path::new(POLICY))
    }

    fn declare_in(path: &Path) -> anyhow::Result<NoServices> {
        let created = OpenOptions::new().write(true).create_new(true).mode(0o755).open(path);
        match created.and_then(|mut file| file.write_all(REFUSAL.as_bytes())) {
            Ok(()) => Ok(NoServices { ours: Some(path.to_owned()) }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(NoServices { ours: None }),
            Err(error) => Err(error).with_context(|| format!("{path:?} cannot be written")),
        }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if let Some(path) = &self.ours
            && let Err(error) = std::fs::remove_file(path)
        {
            eprintln!("delete {path:?}, or no service starts any more: {error}");
        }
    }
}

#[test]
fn services_are_refused_only_as_long_as_needed() {
    let path = std::env::temp_dir().join(format!("policy-{}", std::process::id()));
    let policy = NoServices::declare_in(&path).unwrap();
    let script = r#"test -x "$0" && . "$0""#;
    let mut answer = crate::shell::command("sh", &["-c", script, path.to_str().unwrap()]);
    assert_eq!(answer.status().unwrap().code(), Some(101));
    drop(NoServices::declare_in(&path).unwrap());
    assert!(path.exists(), "a policy that was there before stays");
    drop(policy);
    assert!(!path.exists());
}
