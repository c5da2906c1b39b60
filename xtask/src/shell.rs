//! Running other programs from the root of the repository.

use anyhow::{Context, bail};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in a folder of the root")
}

/// Where cargo puts what it builds with this profile.
#[expect(clippy::disallowed_methods, reason = "where cargo builds is no setting of ours")]
pub(crate) fn built(profile_folder: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    root().join(target).join(profile_folder)
}

pub(crate) fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs the command, showing its output, and fails unless it succeeds.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let shown = show(command);
    println!("$ {shown}");
    let status = command.status().with_context(|| format!("`{shown}` could not be started"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// What the command writes to stdout, which is shown when it fails; its stderr is always shown.
pub(crate) fn read(command: &mut Command) -> anyhow::Result<String> {
    let shown = show(command);
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("`{shown}` could not be started"))?;
    if !output.status.success() {
        println!("{}", String::from_utf8_lossy(&output.stdout));
        bail!("`{shown}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{shown}` did not write UTF-8"))
}

/// Whether the command succeeds, and all that it writes.
pub(crate) fn read_all(command: &mut Command) -> anyhow::Result<(bool, String)> {
    let (mut reader, writer) = std::io::pipe().context("no pipe")?;
    let shown = show(command);
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().with_context(|| format!("`{shown}` could not be started"))?;
    // Our own ends would keep the pipe open.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes)?;
    Ok((child.wait()?.success(), String::from_utf8_lossy(&bytes).into_owned()))
}

/// True when the command starts and succeeds; it says nothing either way.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|it| it.success())
}

/// A program of PyPI in an environment of its own below `target`.
pub(crate) fn python_tool(package: &str, version: &str, program: &str) -> anyhow::Result<PathBuf> {
    let home = root().join("target/tools").join(package);
    let program = home.join("bin").join(program);
    if !succeeds(Command::new(&program).arg("--version")) {
        install_python(&home, package, version)?;
    }
    Ok(program)
}

/// A Python interpreter that has this package of PyPI, in an environment of its own below `target`.
pub(crate) fn python_package(package: &str, version: &str) -> anyhow::Result<PathBuf> {
    let home = root().join("target/tools").join(package);
    let python = home.join("bin/python3");
    if !succeeds(Command::new(&python).args(["-m", "pip", "show", "--quiet", package])) {
        install_python(&home, package, version)?;
    }
    Ok(python)
}

fn install_python(home: &Path, package: &str, version: &str) -> anyhow::Result<()> {
    run(Command::new("python3").args(["-m", "venv"]).arg(home))?;
    let package = format!("{package}=={version}");
    run(Command::new(home.join("bin/pip")).args(["install", "--quiet", &package]))
}

/// Copies the files of a folder, but not its folders, under new names.
pub(crate) fn copy_files(
    from: &Path,
    to: &Path,
    rename: impl Fn(&str) -> String,
) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("{} cannot be made", to.display()))?;
    for name in file_names(from)? {
        let (source, copy) = (from.join(&name), to.join(rename(&name)));
        fs::copy(&source, copy).with_context(|| format!("{} is not read", source.display()))?;
    }
    Ok(())
}

pub(crate) fn file_names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let files = entries.filter_map(|entry| {
        let entry = entry.ok().filter(|entry| entry.path().is_file())?;
        entry.file_name().into_string().ok()
    });
    Ok(files.collect())
}

pub(crate) fn folder_names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let folders = entries.filter_map(|entry| {
        let entry = entry.ok().filter(|entry| entry.path().is_dir())?;
        let name = entry.file_name().into_string().ok()?;
        (name != "node_modules").then_some(name)
    });
    Ok(folders.collect())
}

fn show(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_failing_command_is_named_in_the_error() {
    let error = run(&mut command("false", &["now"])).expect_err("`false` fails");
    assert_eq!(error.to_string(), "`false now` failed (exit status: 1)");
}

#[test]
fn what_a_command_writes_can_be_read() {
    assert_eq!(read(&mut command("echo", &["grape"])).unwrap(), "grape\n");
}

#[test]
fn all_that_a_command_writes_is_read_in_order() {
    let script = "echo green; echo sour >&2; echo grape; exit 3";
    let read = read_all(&mut command("sh", &["-c", script])).unwrap();
    assert_eq!(read, (false, "green\nsour\ngrape\n".to_owned()));
}
