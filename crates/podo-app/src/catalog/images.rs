//! Pictures of events: uploaded by organisers, made into small files, and shown to everybody.

mod cleanup;
pub mod port;

pub(crate) use cleanup::forget_images;

use crate::cache::Cache;
use crate::catalog::images::port::{
    BeginImage, DecodedImages, ImageEncoder, ImageFiles, NewImage, PlaceImage, RemoveImage, Slot,
};
use crate::context::AppContext;
use crate::error::{Error, Result};
use crate::identity::keyring::sha256;
use crate::operations::throttling::turns::Turns;
use bytes::Bytes;
use podo_domain::catalog::images::{BYTES_MAX, Frame, ImageFile, ImageFormat, ImageHash};
use podo_domain::catalog::text::Line;
use podo_domain::{EventId, Refusal, UserId};
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// Pictures decoded at once by this process: one of them may need 120 MB.
const DECODED_AT_ONCE: usize = 1;

/// What this node keeps of files that it has served, in bytes.
const KEPT_BYTES: u64 = 32 * 1024 * 1024;

/// A picture of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageView {
    /// The name of its files.
    pub hash: String,
    /// The largest file.
    pub url: String,
    /// All files with their widths, as the attribute of an `img` element.
    pub srcset: String,
    pub widths: Vec<u32>,
    /// Of the largest file, in pixels.
    pub width: u32,
    pub height: u32,
    /// What it shows, for people who don't see it.
    pub alt: String,
    /// A dark colour of the picture on which white text is readable: `#rrggbb`.
    pub tone: String,
}

impl ImageView {
    pub fn new(hash: ImageHash, image: NewImage) -> ImageView {
        let path = |width: &u32| format!("/media/{}", ImageFile { hash, width: *width });
        let sources: Vec<String> =
            image.widths.iter().map(|width| format!("{} {width}w", path(width))).collect();
        ImageView {
            hash: hash.to_string(),
            url: path(&image.width),
            srcset: sources.join(", "),
            widths: image.widths,
            width: image.width,
            height: image.height,
            alt: image.alt,
            tone: image.tone,
        }
    }
}

/// Makes, stores and serves pictures.
pub struct ImageStudio {
    encoder: Arc<dyn ImageEncoder>,
    files: Arc<dyn ImageFiles>,
    turns: Turns,
    kept: Cache<ImageFile, Bytes>,
}

impl ImageStudio {
    pub fn new(encoder: Arc<dyn ImageEncoder>, files: Arc<dyn ImageFiles>) -> ImageStudio {
        let kept = Cache::weighing(KEPT_BYTES, |file: &Bytes| file.len() as u64);
        ImageStudio { encoder, files, turns: Turns::new(DECODED_AT_ONCE), kept }
    }
}

fn studio(context: &AppContext) -> Result<&ImageStudio> {
    let missing = || Error::broken("this process has no storage for images");
    context.catalog.studio.as_ref().ok_or_else(missing)
}

/// What an organiser uploads. Without a frame the whole picture is shown, as in a gallery.
pub struct Upload {
    pub bytes: Vec<u8>,
    pub frame: Option<Frame>,
    pub alt: Line<200>,
}

/// Replaces the poster. Refusals: `NotFound`, `ImageType`, `ImageTooLarge`, `ImageTooSmall`,
/// `ImageDamaged`.
pub async fn set_poster(
    context: &AppContext,
    actor: UserId,
    event: EventId,
    upload: Upload,
) -> Result<ImageView> {
    place(context, actor, event, Slot::Poster, upload).await
}

/// Adds a picture to the gallery; the same picture again changes its description. Refusals: as of
/// the poster, and `GalleryFull`.
pub async fn add_picture(
    context: &AppContext,
    actor: UserId,
    event: EventId,
    upload: Upload,
) -> Result<ImageView> {
    place(context, actor, event, Slot::Gallery, upload).await
}

async fn place(
    context: &AppContext,
    actor: UserId,
    event: EventId,
    slot: Slot,
    upload: Upload,
) -> Result<ImageView> {
    let studio = studio(context)?;
    if BYTES_MAX < upload.bytes.len() {
        return Err(Refusal::ImageTooLarge.into());
    }
    let format = ImageFormat::of(&upload.bytes)?;
    context.store.event(event).await?.ok_or(Refusal::NotFound)?;
    let encoder = studio.encoder.clone();
    let Upload { bytes, frame, alt } = upload;
    let made = studio.turns.take(move || encoder.encode(&bytes, format, frame)).await?;
    let hash = hash_of(&made);
    let image = NewImage {
        widths: made.files.iter().map(|(width, _)| *width).collect(),
        width: made.width,
        height: made.height,
        tone: made.tone.clone(),
        alt: alt.into(),
    };
    store_files(context, studio, hash, made).await?;
    let now = context.now();
    let command = PlaceImage { actor, event, slot, hash, image: image.clone(), now };
    context.store.place_image(command).await?;
    context.catalog.cache.invalidate(context).await;
    Ok(ImageView::new(hash, image))
}

/// Of all files, so that a change of the encoder or of the frame gives them another name.
fn hash_of(made: &DecodedImages) -> ImageHash {
    let parts = made.files.iter().map(|(_, bytes)| sha256(bytes));
    let whole = sha256(&parts.flatten().collect::<Vec<u8>>());
    let mut hash = [0; 16];
    hash.copy_from_slice(&whole[..16]);
    ImageHash(hash)
}

/// The store knows the name before the first file exists, so that no file can be left over.
async fn store_files(
    context: &AppContext,
    studio: &ImageStudio,
    hash: ImageHash,
    made: DecodedImages,
) -> Result<()> {
    let widths = made.files.iter().map(|(width, _)| *width).collect();
    context.store.begin_image(BeginImage { hash, widths, now: context.now() }).await?;
    for (width, bytes) in made.files {
        studio.files.put(ImageFile { hash, width }, bytes.into()).await?;
    }
    Ok(())
}

/// Removes the poster. Its files stay until nothing refers to them. Refusals: `NotFound`.
pub async fn remove_poster(context: &AppContext, actor: UserId, event: EventId) -> Result<()> {
    remove(context, RemoveImage { actor, event, picture: None, now: context.now() }).await
}

/// Removes a picture of the gallery. Refusals: `NotFound`.
pub async fn remove_picture(
    context: &AppContext,
    actor: UserId,
    event: EventId,
    hash: &str,
) -> Result<()> {
    let hash = ImageHash::parse(hash).ok_or(Refusal::NotFound)?;
    let command = RemoveImage { actor, event, picture: Some(hash), now: context.now() };
    remove(context, command).await
}

async fn remove(context: &AppContext, command: RemoveImage) -> Result<()> {
    context.store.remove_image(command).await?;
    context.catalog.cache.invalidate(context).await;
    Ok(())
}

/// A stored file. Refusals: `NotFound`.
pub async fn show_file(context: &AppContext, file: ImageFile) -> Result<Bytes> {
    let studio = studio(context)?;
    let load = async { studio.files.get(file).await?.ok_or(Refusal::NotFound.into()) };
    studio.kept.get_or_load(&file, load).await
}
