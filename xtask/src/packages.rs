//! The programs that other steps need, and how they are installed.

mod helm;
mod kafka;
mod postgres;
mod services;

use crate::shell::{command, read, run, succeeds};
use anyhow::bail;
pub(crate) use postgres::programs as postgres_18;
use services::NoServices;

/// A program or file that a step needs.
struct Need {
    /// Any of these will do.
    look_for: &'static [LookFor],
    /// The Debian package that has it.
    package: &'static str,
    why: &'static str,
}

enum LookFor {
    Command(&'static str),
    /// A file in a folder that has one folder for each version.
    AnyVersion {
        folder: &'static str,
        file: &'static str,
    },
}

/// Debian keeps the server outside PATH, because several versions may be installed.
const POSTGRES: &[LookFor] = &[
    LookFor::AnyVersion { folder: "/usr/lib/postgresql", file: "bin/postgres" },
    LookFor::Command("postgres"),
];

/// Debian keeps it outside the path of ordinary users.
const NGINX: &[LookFor] = &[LookFor::Command("/usr/sbin/nginx"), LookFor::Command("nginx")];

/// The complete list: a new program that tests start is one more entry.
const NEEDS: &[Need] = &[
    Need {
        look_for: &[LookFor::Command("cc")],
        package: "gcc",
        why: "compiles the embedded database and the cryptography",
    },
    Need { look_for: POSTGRES, package: "postgresql", why: "is the store in tests" },
    Need {
        look_for: &[LookFor::Command("openssl")],
        package: "openssl",
        why: "signs the certificates of tests",
    },
    Need {
        look_for: &[LookFor::Command("pdftotext")],
        package: "poppler-utils",
        why: "reads the printed tickets in tests",
    },
    Need {
        look_for: &[LookFor::Command("redis-server")],
        package: "redis-server",
        why: "is the live engine in tests, alone and as a cluster",
    },
    Need {
        look_for: &[LookFor::Command("redis-cli")],
        package: "redis-tools",
        why: "creates the Redis cluster of tests",
    },
    Need {
        look_for: &[LookFor::Command("chromium")],
        package: "chromium",
        why: "opens the pages in tests",
    },
    Need {
        look_for: &[LookFor::Command("node")],
        package: "nodejs",
        why: "drives Chromium in the tests of the pages",
    },
    Need {
        look_for: &[LookFor::Command("npm")],
        package: "npm",
        why: "fetches the driver of Chromium, the Kafka broker and Helm",
    },
    Need {
        look_for: &[LookFor::AnyVersion {
            folder: "/usr/share/fonts/opentype",
            file: "NotoSansCJK-Regular.ttc",
        }],
        package: "fonts-noto-cjk",
        why: "renders Korean in screenshots",
    },
    Need {
        look_for: &[
            LookFor::AnyVersion { folder: "/usr/lib", file: "ensurepip/__init__.py" },
            LookFor::AnyVersion { folder: "/usr/local/lib", file: "ensurepip/__init__.py" },
        ],
        package: "python3-venv",
        why: "runs schemathesis and the Python examples, and fetches PostgreSQL 18",
    },
    Need {
        look_for: &[LookFor::Command("/usr/sbin/haproxy")],
        package: "haproxy",
        why: "checks deploy/haproxy",
    },
    Need {
        look_for: NGINX,
        package: "nginx-light",
        why: "is the proxy in front of several nodes in tests",
    },
    Need {
        look_for: &[LookFor::Command("dpkg-deb")],
        package: "dpkg",
        why: "makes the Debian package",
    },
    Need {
        look_for: &[LookFor::Command("objdump")],
        package: "binutils",
        why: "lists the libraries that the Debian package depends on",
    },
    Need {
        look_for: &[LookFor::Command("curl")],
        package: "curl",
        why: "is how the examples and the upgrade test talk to a server",
    },
    Need {
        look_for: &[LookFor::Command("jq")],
        package: "jq",
        why: "reads answers in examples/curl.sh",
    },
    Need { look_for: &[LookFor::Command("make")], package: "make", why: "builds the Kafka client" },
    Need {
        look_for: &[LookFor::Command("pkg-config")],
        package: "pkg-config",
        why: "finds the headers of OpenSSL",
    },
    Need {
        look_for: &[LookFor::AnyVersion { folder: "/usr/include", file: "ssl.h" }],
        package: "libssl-dev",
        why: "lets the Kafka client use TLS in tests",
    },
    Need {
        look_for: &[LookFor::Command("java")],
        package: "default-jre-headless",
        why: "runs the Kafka broker of tests",
    },
];

/// Installs missing packages as root on Debian; elsewhere lists them.
pub(crate) fn provide() -> anyhow::Result<()> {
    let missing: Vec<&Need> = NEEDS.iter().filter(|need| !is_met(need)).collect();
    if missing.is_empty() {
        println!("{} of {} packages are there", NEEDS.len(), NEEDS.len());
    } else {
        install(&missing)?;
    }
    helm::provide()?;
    kafka::provide()?;
    postgres::provide()?;
    provide_nextest()
}

fn is_met(need: &Need) -> bool {
    need.look_for.iter().any(is_there)
}

fn is_there(look_for: &LookFor) -> bool {
    match look_for {
        LookFor::Command(name) => succeeds(&mut command("sh", &["-c", "command -v \"$0\"", name])),
        LookFor::AnyVersion { folder, file } => {
            let versions = std::fs::read_dir(folder).into_iter().flatten().flatten();
            versions.map(|version| version.path().join(file)).any(|path| path.exists())
        }
    }
}

fn install(missing: &[&Need]) -> anyhow::Result<()> {
    let may_install = is_there(&LookFor::Command("apt-get")) && is_root();
    if !may_install {
        bail!("{}", describe_missing(missing));
    }
    let mut packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    packages.dedup();
    let mut install = command("apt-get", &["install", "-y", "--no-install-recommends"]);
    install.args(packages).env("DEBIAN_FRONTEND", "noninteractive");
    run(&mut command("apt-get", &["update"]))?;
    let _quiet = NoServices::declare()?;
    run(&mut install)
}

fn describe_missing(missing: &[&Need]) -> String {
    let lines = missing.iter().map(|need| format!("\n  {}: {}", need.package, need.why));
    format!(
        "these packages are missing; install them, or run as root on Debian:{}",
        lines.collect::<String>()
    )
}

fn is_root() -> bool {
    read(&mut command("id", &["-u"])).is_ok_and(|id| id.trim() == "0")
}

fn provide_nextest() -> anyhow::Result<()> {
    if succeeds(&mut command("cargo", &["nextest", "--version"])) {
        return Ok(());
    }
    run(&mut command("cargo", &["install", "cargo-nextest", "--locked"]))
}

#[test]
fn commands_and_versioned_files_are_looked_for() {
    assert!(is_there(&LookFor::Command("sh")));
    assert!(!is_there(&LookFor::Command("no-such-command")));
    let any = |folder, file| is_there(&LookFor::AnyVersion { folder, file });
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    assert!(any(folder, "src/main.rs"));
    assert!(!any(folder, "src/none.rs"));
    assert!(!any("/no/such/folder", "src/main.rs"));
}

#[test]
fn one_of_several_places_is_enough() {
    const EITHER: &[LookFor] = &[LookFor::Command("no-such-command"), LookFor::Command("sh")];
    let met = |look_for| is_met(&Need { look_for, package: "dash", why: "runs" });
    assert!(met(EITHER));
    assert!(!met(&EITHER[..1]));
}

#[test]
fn what_is_missing_is_said_with_its_reason() {
    let need = Need { look_for: &[], package: "redis-server", why: "runs" };
    let text = describe_missing(&[&need]);
    assert!(text.ends_with("\n  redis-server: runs"), "{text}");
}
