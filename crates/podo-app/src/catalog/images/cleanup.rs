//! Removes the files of pictures that no event shows any more.

use crate::catalog::images::{ImageStudio, studio};
use crate::context::AppContext;
use crate::error::Result;
use podo_domain::Timestamp;
use podo_domain::catalog::images::{ImageFile, ImageHash};
use std::collections::BTreeMap;
use std::time::Duration;

/// How long files stay after they were last stored: a page that was loaded before may show them.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

const ROUND_MAX: u32 = 100;

/// Returns how many pictures were removed. After a failure their files stay claimed, and the next
/// round removes them again.
pub(crate) async fn forget_images(context: &AppContext, now: Timestamp) -> Result<u64> {
    if context.catalog.studio.is_none() {
        return Ok(0);
    }
    let claimed = context.store.claim_unused_images(now.minus(KEPT_FOR), ROUND_MAX).await?;
    let mut images: BTreeMap<ImageHash, Vec<ImageFile>> = BTreeMap::new();
    for file in claimed {
        images.entry(file.hash).or_default().push(file);
    }
    let mut n_removed = 0;
    for (hash, files) in images {
        remove(studio(context)?, &files).await?;
        context.store.forget_image(hash).await?;
        n_removed += 1;
    }
    Ok(n_removed)
}

async fn remove(studio: &ImageStudio, files: &[ImageFile]) -> Result<()> {
    for file in files {
        studio.files.remove(*file).await?;
        studio.kept.remove(file);
    }
    Ok(())
}
