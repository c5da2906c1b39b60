//! The fan's own places.

use crate::api::App;
use crate::api::error::{ApiError, ApiResult, Failure, Problem};
use crate::api::extract::{Fan, Params, page_limit};
use app::paging::Page;
use app::queue::{self, PlaceView};
use axum::Json;
use axum::extract::State;
use domain::Timestamp;
use domain::queue::PlaceNumber;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(in crate::api) struct PlaceParams {
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the page before.
    cursor: Option<String>,
}

/// The fan's places, newest first: where they wait, where they were let in, and how it ended.
#[utoipa::path(get, path = "/api/queue/history", tag = "queue", security(("accessToken" = [])),
    params(PlaceParams),
    responses((status = 200, body = Page<PlaceView>), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(in crate::api) async fn my_places(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PlaceParams>,
) -> ApiResult<Json<Page<PlaceView>>> {
    let before = params.cursor.map(|text| read_cursor(&text)).transpose()?;
    let limit = page_limit(params.limit)?;
    Ok(Json(queue::my_places(&app.platform, caller.user, before, limit).await?))
}

fn read_cursor(text: &str) -> Result<(Timestamp, PlaceNumber), ApiError> {
    let parts = text.split_once('-').and_then(|(ms, number)| {
        Some((Timestamp::from_ms(ms.parse().ok()?), number.parse().ok()?))
    });
    let problem = "not a cursor of ours".to_owned();
    parts.ok_or_else(|| Failure::Field { pointer: "cursor".into(), problem }.into())
}
