//! Where pictures are stored, and how they are made.

use crate::catalog::images::ImageView;
use crate::error::Result;
use async_trait::async_trait;
use bytes::Bytes;
use podo_domain::catalog::images::{Frame, ImageFile, ImageFormat, ImageHash};
use podo_domain::{EventId, Timestamp, UserId};

/// The files of pictures. A file never changes under its name.
#[async_trait]
pub trait ImageFiles: Send + Sync {
    /// Stores the file; a reader sees all of it or none. Once it returns, the file is durable.
    async fn put(&self, file: ImageFile, bytes: Bytes) -> Result<()>;

    async fn get(&self, file: ImageFile) -> Result<Option<Bytes>>;

    /// A file that doesn't exist is removed already.
    async fn remove(&self, file: ImageFile) -> Result<()>;
}

/// What was made of an upload.
pub struct DecodedImages {
    /// Widths and JPEG files, the narrowest first.
    pub files: Vec<(u32, Vec<u8>)>,
    /// Of the largest file.
    pub width: u32,
    pub height: u32,
    pub tone: String,
}

/// Decodes pictures and encodes them anew, without what else the file contains: place, camera,
/// comments. Blocking, without I/O.
pub trait ImageEncoder: Send + Sync {
    /// Refusals: `ImageTooLarge` and `ImageTooSmall` before a pixel is decoded, `ImageDamaged`.
    fn encode(
        &self,
        bytes: &[u8],
        format: ImageFormat,
        frame: Option<Frame>,
    ) -> Result<DecodedImages>;
}

/// What an event shows of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewImage {
    pub widths: Vec<u32>,
    pub width: u32,
    pub height: u32,
    pub tone: String,
    pub alt: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Poster,
    Gallery,
}

/// Files are about to be written.
#[derive(Clone, Debug)]
pub struct BeginImage {
    pub hash: ImageHash,
    pub widths: Vec<u32>,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct PlaceImage {
    pub actor: UserId,
    pub event: EventId,
    pub slot: Slot,
    pub hash: ImageHash,
    pub image: NewImage,
    pub now: Timestamp,
}

#[derive(Clone, Debug)]
pub struct RemoveImage {
    pub actor: UserId,
    pub event: EventId,
    /// Of the gallery; `None` for the poster.
    pub picture: Option<ImageHash>,
    pub now: Timestamp,
}

#[async_trait]
pub trait Images: Send + Sync {
    /// Notes the name of files, before they are written. Unavailable while they are removed.
    async fn begin_image(&self, command: BeginImage) -> Result<()>;

    /// Shows a picture whose files are stored. Refusals: `NotFound` (event), `GalleryFull`.
    /// Unavailable if its files were removed meanwhile.
    async fn place_image(&self, command: PlaceImage) -> Result<()>;

    /// Refusals: `NotFound`.
    async fn remove_image(&self, command: RemoveImage) -> Result<()>;

    /// The pictures of an event's gallery, in order.
    async fn gallery(&self, event: EventId) -> Result<Vec<ImageView>>;

    /// Claims files that no event shows and that were last stored before the time: from now on they
    /// can't be shown again until [`Images::forget_image`]. Includes earlier claims.
    async fn claim_unused_images(&self, before: Timestamp, limit: u32) -> Result<Vec<ImageFile>>;

    /// Forgets claimed files, after they were removed.
    async fn forget_image(&self, hash: ImageHash) -> Result<()>;
}
