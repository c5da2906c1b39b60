//! A disk that loses every unsynced byte in a power cut.
//!
//! `kill -9` alone can't reveal a missing sync, because the kernel still has what the process
//! wrote. Here the process runs with `volatile_disk.c` between it and the kernel, which copies what
//! each sync covers to a second folder. Only that folder is left after the cut.

use crate::{Launch, preload};
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub struct VolatileDisk {
    data: PathBuf,
    library: PathBuf,
    /// The compiled library, and the synced data below `survives`.
    folder: TempDir,
}

impl VolatileDisk {
    /// A disk under this data folder.
    pub fn under(data: &Path) -> Result<VolatileDisk> {
        let folder = TempDir::with_prefix("podo-disk-")?;
        let library = preload::compile("volatile_disk.c", folder.path())?;
        let disk = VolatileDisk { data: data.canonicalize()?, library, folder };
        fs::create_dir(disk.survives())?;
        Ok(disk)
    }

    /// Makes the process write to this disk. The current contents of the data folder count as
    /// synced: between two cuts another program may have changed it, as `podo verify` does when it
    /// closes the database.
    pub fn attach(&self, launch: Launch) -> Launch {
        replace_files(&self.data, &self.survives()).expect("both folders belong to the test");
        launch
            .env("LD_PRELOAD", &self.library)
            .env("VOLATILE_DISK", &self.data)
            .env("SURVIVING_DISK", self.survives())
    }

    /// Like `attach`, but every sync reports success and keeps nothing, as if the program made
    /// none.
    pub fn attach_without_sync(&self, launch: Launch) -> Launch {
        self.attach(launch).env("VOLATILE_DISK_LIES", "yes")
    }

    /// Reduces the data folder to what was synced. The process must be dead.
    pub fn cut_power(&self) -> Result<()> {
        replace_files(&self.survives(), &self.data)
    }

    fn survives(&self) -> PathBuf {
        self.folder.path().join("survives")
    }
}

fn replace_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(to)? {
        fs::remove_file(entry?.path())?;
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
