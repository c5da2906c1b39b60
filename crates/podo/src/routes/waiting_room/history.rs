//! The fan's own places in waiting rooms.

use crate::http::extract::{Fan, Params, page_limit};
use crate::http::problem::{ApiError, ApiResult, Failure, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use podo_app::store::Page;
use podo_app::waiting_room;
use podo_app::waiting_room::PlaceView;
use podo_app::waiting_room::port::history::HistoryCursor;
use podo_domain::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceParams {
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    /// `nextCursor` of the previous page.
    cursor: Option<String>,
}

/// The fan's places, newest first: where they wait, where they were admitted, and how the entry
/// ended.
#[utoipa::path(get, path = "/api/queue/history", tag = "queue", security(("accessToken" = [])),
    params(PlaceParams),
    responses((status = 200, body = Page<PlaceView>), (status = 401, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn my_places(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<PlaceParams>,
) -> ApiResult<Json<Page<PlaceView>>> {
    let before = params.cursor.map(|text| read_cursor(&text)).transpose()?;
    let limit = page_limit(params.limit)?;
    Ok(Json(waiting_room::my_places(&app.context, caller.user, before, limit).await?))
}

fn read_cursor(text: &str) -> Result<HistoryCursor, ApiError> {
    let parts = text.split_once('-').and_then(|(ms, number)| {
        let at = Timestamp::from_ms(ms.parse().ok()?);
        Some(HistoryCursor { at, number: number.parse().ok()? })
    });
    let problem = "not a valid cursor".to_owned();
    parts.ok_or_else(|| Failure::Field { pointer: "cursor".into(), problem }.into())
}
