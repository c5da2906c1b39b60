//! Pictures as files of a folder, written beside their place and moved there whole.

use async_trait::async_trait;
use bytes::Bytes;
use podo_app::catalog::images::port::ImageFiles;
use podo_app::{Error, Result};
use podo_domain::catalog::images::ImageFile;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub struct Folder {
    folder: PathBuf,
    /// Writers of one process write to different files.
    n_written: AtomicU64,
}

impl Folder {
    /// The first picture creates the folder.
    pub fn open(folder: PathBuf) -> Folder {
        Folder { folder, n_written: AtomicU64::new(0) }
    }

    fn path(&self, file: ImageFile) -> PathBuf {
        self.folder.join(file.to_string())
    }
}

#[async_trait]
impl ImageFiles for Folder {
    async fn put(&self, file: ImageFile, bytes: Bytes) -> Result<()> {
        let (path, folder) = (self.path(file), self.folder.clone());
        let number = self.n_written.fetch_add(1, Ordering::Relaxed);
        let beside = folder.join(format!(".{file}.{}.{number}", std::process::id()));
        blocking(move || {
            fs::create_dir_all(&folder)?;
            write(&beside, &bytes)?;
            fs::rename(&beside, &path)?;
            fs::File::open(&folder)?.sync_all()
        })
        .await
    }

    async fn get(&self, file: ImageFile) -> Result<Option<Bytes>> {
        let path = self.path(file);
        blocking(move || match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        })
        .await
    }

    async fn remove(&self, file: ImageFile) -> Result<()> {
        let path = self.path(file);
        blocking(move || match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        })
        .await
    }
}

fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await.map_err(Error::broken)?;
    done.map_err(|error| Error::unavailable(format!("the folder of pictures: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use podo_domain::catalog::images::ImageHash;

    #[tokio::test]
    async fn a_file_is_there_whole_until_it_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::open(home.path().join("media"));
        let file = ImageFile { hash: ImageHash([7; 16]), width: 320 };
        assert_eq!(folder.get(file).await.unwrap(), None);
        folder.put(file, Bytes::from_static(b"first")).await.unwrap();
        folder.put(file, Bytes::from_static(b"again")).await.unwrap();
        assert_eq!(folder.get(file).await.unwrap(), Some(Bytes::from_static(b"again")));
        assert_eq!(
            fs::read_dir(home.path().join("media")).unwrap().count(),
            1,
            "nothing beside it"
        );
        folder.remove(file).await.unwrap();
        folder.remove(file).await.unwrap();
        assert_eq!(folder.get(file).await.unwrap(), None);
    }
}
