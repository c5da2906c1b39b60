//! A temporary folder in which the contents of a package are laid out.

use crate::shell::root;
use anyhow::Context;
use podo_testbed::TempDir;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

pub(super) struct Stage {
    folder: TempDir,
}

impl Stage {
    pub(super) fn empty() -> anyhow::Result<Stage> {
        Ok(Stage { folder: TempDir::with_prefix("podo-dist-")? })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Copies a file of the repository.
    pub(super) fn file(&self, from: &str, to: &str) -> anyhow::Result<()> {
        let text = fs::read_to_string(root().join(from)).with_context(|| from.to_owned())?;
        self.text(&text, to)
    }

    pub(super) fn text(&self, text: &str, to: &str) -> anyhow::Result<()> {
        let to = self.make_room(to)?;
        fs::write(&to, text).with_context(|| format!("{} cannot be written", to.display()))
    }

    /// Copies a file that may be executed.
    pub(super) fn program(&self, from: &Path, to: &str) -> anyhow::Result<()> {
        let to = self.make_room(to)?;
        fs::copy(from, &to).with_context(|| format!("{} cannot be copied", from.display()))?;
        Ok(fs::set_permissions(&to, Permissions::from_mode(0o755))?)
    }

    fn make_room(&self, to: &str) -> anyhow::Result<PathBuf> {
        let to = self.path().join(to);
        let parent = to.parent().context("a file lies in a folder")?;
        fs::create_dir_all(parent)?;
        Ok(to)
    }
}
