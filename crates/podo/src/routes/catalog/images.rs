//! Pictures of events: uploads of organisers, and the files that everybody sees.

use crate::http::extract::permissions::ManageEvents;
use crate::http::extract::scope::OfEvent;
use crate::http::extract::{Audited, Id, Params, PathText, Upload, guarded};
use crate::http::problem::{ApiResult, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use podo_app::catalog::images;
use podo_app::catalog::images::ImageView;
use podo_domain::catalog::images::{BYTES_MAX, Frame, ImageFile};
use podo_domain::catalog::text::{FieldError, Line};
use podo_domain::{EventId, Refusal};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(show_image))
        .routes(guarded!(set_poster))
        .routes(guarded!(remove_poster))
        .routes(guarded!(add_picture))
        .routes(guarded!(remove_picture))
}

/// A file never changes under its name.
const KEEP: &str = "public, max-age=31536000, immutable";

/// A picture in one of its widths, as the `poster` and the `gallery` of an event name it.
#[utoipa::path(get, path = "/media/{file}", tag = "catalog", params(("file" = String, Path)),
    responses((status = 200, content_type = "image/jpeg", body = String), (status = 304),
              (status = 404, body = Problem)))]
pub(crate) async fn show_image(
    State(app): State<App>,
    Id(name): Id<String>,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let file: ImageFile = name.parse()?;
    let tag = format!("\"{}-{}\"", file.hash, file.width);
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag.as_str());
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => images::show_file(&app.context, file).await?.into_response(),
    };
    let answer = response.headers_mut();
    answer.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/jpeg"));
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static(KEEP));
    if let Ok(tag) = HeaderValue::try_from(tag) {
        answer.insert(header::ETAG, tag);
    }
    Ok(response)
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PosterParams {
    /// What the picture shows, for people who don't see it.
    #[param(value_type = String, max_length = 200)]
    alt: Line<200>,
    /// The point to show, in hundredths of the width; 50 by default.
    #[param(minimum = 0, maximum = 100)]
    focus_x: Option<u32>,
    /// The point to show, in hundredths of the height; 50 by default.
    #[param(minimum = 0, maximum = 100)]
    focus_y: Option<u32>,
    /// How much closer than the whole picture, in percent; 100 by default.
    #[param(minimum = 100, maximum = 400)]
    zoom: Option<u32>,
}

impl PosterParams {
    fn frame(&self) -> Result<Frame, Refusal> {
        let check = |field: &'static str, value: Option<u32>, min: u32, max: u32, usual: u32| {
            let value = value.unwrap_or(usual);
            let problem = FieldError::OutOfRange { min: min.into(), max: max.into() };
            let is_allowed = (min..=max).contains(&value);
            if is_allowed { Ok(value) } else { Err(Refusal::Invalid { field, problem }) }
        };
        let Frame { focus_x, focus_y, zoom } = Frame::default();
        Ok(Frame {
            focus_x: check("focusX", self.focus_x, 0, 100, focus_x)?,
            focus_y: check("focusY", self.focus_y, 0, 100, focus_y)?,
            zoom: check("zoom", self.zoom, zoom, Frame::ZOOM_MAX, zoom)?,
        })
    }
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PictureParams {
    /// What the picture shows, for people who don't see it.
    #[param(value_type = String, max_length = 200)]
    alt: Line<200>,
}

/// Reads the file, up to its limit.
async fn read(mut upload: Upload) -> ApiResult<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = upload.next().await? {
        if BYTES_MAX < bytes.len() + chunk.len() {
            return Err(Refusal::ImageTooLarge.into());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Replaces the poster: a JPEG, PNG or WebP file as the body, of which the part around the focus is
/// cut to 3:4.
#[utoipa::path(put, path = "/api/admin/events/{id}/poster", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path), PosterParams),
    request_body(content_type = "application/octet-stream", content = String),
    responses((status = 200, body = ImageView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 413, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn set_poster(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
    Params(params): Params<PosterParams>,
    upload: Upload,
) -> ApiResult<Json<ImageView>> {
    let frame = Some(params.frame()?);
    let upload = images::Upload { bytes: read(upload).await?, frame, alt: params.alt };
    Ok(Json(images::set_poster(&app.context, actor, event, upload).await?))
}

/// Removes the poster; fans see a generated one.
#[utoipa::path(delete, path = "/api/admin/events/{id}/poster", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn remove_poster(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
) -> ApiResult<StatusCode> {
    images::remove_poster(&app.context, actor, event).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Adds a JPEG, PNG or WebP file to the gallery, up to 8 of them. The same picture again changes its
/// description.
#[utoipa::path(post, path = "/api/admin/events/{id}/gallery", tag = "admin",
    security(("accessToken" = [])), params(("id" = EventId, Path), PictureParams),
    request_body(content_type = "application/octet-stream", content = String),
    responses((status = 201, body = ImageView), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 413, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn add_picture(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
    Params(params): Params<PictureParams>,
    upload: Upload,
) -> ApiResult<(StatusCode, Json<ImageView>)> {
    let upload = images::Upload { bytes: read(upload).await?, frame: None, alt: params.alt };
    let added = images::add_picture(&app.context, actor, event, upload).await?;
    Ok((StatusCode::CREATED, Json(added)))
}

/// Removes a picture from the gallery.
#[utoipa::path(delete, path = "/api/admin/events/{id}/gallery/{hash}", tag = "admin",
    security(("accessToken" = [])),
    params(("id" = EventId, Path), ("hash" = String, Path)),
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn remove_picture(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageEvents, OfEvent>,
    Id(event): Id<EventId>,
    PathText(hash): PathText,
) -> ApiResult<StatusCode> {
    images::remove_picture(&app.context, actor, event, &hash).await?;
    Ok(StatusCode::NO_CONTENT)
}
