//! Pictures of events, and the names of their files.

use crate::sql::catalog::announce_change;
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use podo_app::catalog::images::ImageView;
use podo_app::catalog::images::port::{
    BeginImage, Images, NewImage, PlaceImage, RemoveImage, Slot,
};
use podo_app::{Error, Result};
use podo_domain::catalog::images::{GALLERY_MAX, ImageFile, ImageHash};
use podo_domain::{EventId, Refusal, Timestamp};
use serde_json::json;

commands! {
    impl Images for SqlStore {
        write begin_image(BeginImage) -> () as Event => begin;
        write place_image(PlaceImage) -> () as Event => place;
        write remove_image(RemoveImage) -> () as Event => remove;
        read gallery(Gallery { event: EventId }) -> Vec<ImageView> as Event or_replica => gallery;
        write claim_unused_images(ClaimUnused { before: Timestamp, limit: u32 })
            -> Vec<ImageFile> as Event => claim_unused;
        write forget_image(ForgetImage { hash: ImageHash }) -> () as Event => forget;
    }
}

/// The place of the poster.
const POSTER: i64 = 0;

async fn begin(tx: &mut dyn Tx, command: &BeginImage) -> Result<()> {
    let sql = "insert into image_files (hash, widths, stored_at) values ($1, $2, $3)
               on conflict (hash) do update set stored_at = excluded.stored_at
                where not image_files.removing";
    let widths = write_widths(&command.widths);
    let values = params![command.hash.to_string(), widths, command.now];
    stored(tx.execute(sql, values).await?)
}

/// Files that are being removed come back when the upload is repeated.
fn stored(n_rows: u64) -> Result<()> {
    match n_rows {
        0 => Err(Error::Unavailable("the files of this picture are being removed".into())),
        _ => Ok(()),
    }
}

async fn place(tx: &mut dyn Tx, command: &PlaceImage) -> Result<()> {
    let PlaceImage { actor, event, hash, image, now, .. } = command;
    // One at a time, so that two uploads can't take the same slot.
    tx.lock(event.uuid()).await?;
    let find = "select 1 from events where id = $1";
    tx.row(find, params![*event]).await?.ok_or(Refusal::NotFound)?;
    let sql = "update image_files set stored_at = $2 where hash = $1 and not removing";
    stored(tx.execute(sql, params![hash.to_string(), *now]).await?)?;
    let slot = match command.slot {
        Slot::Poster => POSTER,
        Slot::Gallery => free_slot(tx, *event, *hash).await?,
    };
    let sql = "insert into event_images (event_id, slot, hash, widths, width, height, tone, alt,
                                         added_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
               on conflict (event_id, slot) do update
                  set hash = excluded.hash, widths = excluded.widths, width = excluded.width,
                      height = excluded.height, tone = excluded.tone, alt = excluded.alt,
                      added_at = excluded.added_at";
    let values = params![
        *event,
        slot,
        hash.to_string(),
        write_widths(&image.widths),
        image.width,
        image.height,
        image.tone.as_str(),
        image.alt.as_str(),
        *now
    ];
    tx.execute(sql, values).await?;
    let details = json!({ "slot": slot, "hash": hash.to_string(), "alt": image.alt });
    announce_change(tx, *actor, "event.image", event.uuid(), details, *now).await
}

/// The slot that shows this picture already, or the first one without a picture.
async fn free_slot(tx: &mut dyn Tx, event: EventId, hash: ImageHash) -> Result<i64> {
    let sql = "select slot, hash from event_images where event_id = $1 and slot > 0 order by slot";
    let mut taken = Vec::new();
    for row in tx.query(sql, params![event]).await? {
        let (slot, shown): (i64, String) = (row.get("slot")?, row.get("hash")?);
        if shown == hash.to_string() {
            return Ok(slot);
        }
        taken.push(slot);
    }
    let mut free = (1..=i64::from(GALLERY_MAX)).filter(|slot| !taken.contains(slot));
    Ok(free.next().ok_or(Refusal::GalleryFull)?)
}

async fn remove(tx: &mut dyn Tx, command: &RemoveImage) -> Result<()> {
    let RemoveImage { actor, event, picture, now } = command;
    let n_removed = match picture {
        None => {
            let sql = "delete from event_images where event_id = $1 and slot = 0";
            tx.execute(sql, params![*event]).await?
        }
        Some(hash) => {
            let sql = "delete from event_images where event_id = $1 and slot > 0 and hash = $2";
            tx.execute(sql, params![*event, hash.to_string()]).await?
        }
    };
    if n_removed == 0 {
        return Err(Refusal::NotFound.into());
    }
    let details = json!({ "hash": picture.map(|it| it.to_string()) });
    announce_change(tx, *actor, "event.image.remove", event.uuid(), details, *now).await
}

async fn gallery(tx: &mut dyn Tx, question: &Gallery) -> Result<Vec<ImageView>> {
    let sql = "select hash as image_hash, widths as image_widths, width as image_width,
                      height as image_height, tone as image_tone, alt as image_alt
                 from event_images where event_id = $1 and slot > 0 order by slot";
    let rows = tx.query(sql, params![question.event]).await?;
    rows.iter().filter_map(|row| read_image(row).transpose()).collect()
}

/// The picture of a row; `None` if an outer join found none.
pub(super) fn read_image(row: &Row) -> Result<Option<ImageView>> {
    let Some(hash) = row.get::<Option<String>>("image_hash")? else { return Ok(None) };
    let hash = ImageHash::parse(&hash).ok_or_else(|| Error::broken("image hash"))?;
    let image = NewImage {
        widths: read_widths(&row.get::<String>("image_widths")?),
        width: row.get("image_width")?,
        height: row.get("image_height")?,
        tone: row.get("image_tone")?,
        alt: row.get("image_alt")?,
    };
    Ok(Some(ImageView::new(hash, image)))
}

/// The condition on the age stands twice: PostgreSQL tests the outer one again after it waited for
/// an upload of the same picture.
async fn claim_unused(tx: &mut dyn Tx, command: &ClaimUnused) -> Result<Vec<ImageFile>> {
    let sql = "update image_files set removing = true
                where stored_at < $1
                  and hash in (
                      select f.hash from image_files f
                       where f.stored_at < $1
                         and not exists (select 1 from event_images i where i.hash = f.hash)
                       order by f.stored_at limit $2)
               returning hash, widths";
    let mut files = Vec::new();
    for row in tx.query(sql, params![command.before, command.limit]).await? {
        let hash: String = row.get("hash")?;
        let hash = ImageHash::parse(&hash).ok_or_else(|| Error::broken("image hash"))?;
        let widths = read_widths(&row.get::<String>("widths")?);
        files.extend(widths.into_iter().map(|width| ImageFile { hash, width }));
    }
    Ok(files)
}

async fn forget(tx: &mut dyn Tx, command: &ForgetImage) -> Result<()> {
    let sql = "delete from image_files where hash = $1 and removing";
    tx.execute(sql, params![command.hash.to_string()]).await?;
    Ok(())
}

fn write_widths(widths: &[u32]) -> String {
    widths.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

fn read_widths(text: &str) -> Vec<u32> {
    text.split(',').filter_map(|it| it.parse().ok()).collect()
}
