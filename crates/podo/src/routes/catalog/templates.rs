//! Halls and their seat templates: validated, previewed, stored. An error names the row or seat.

use crate::http::extract::permissions::{ManageVenues, ViewEvents};
use crate::http::extract::{Allowed, Audited, Id, LargeBody, guarded};
use crate::http::problem::{ApiError, ApiResult, Failure, Problem};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use podo_app::catalog;
use podo_app::catalog::TemplatePreview;
use podo_domain::catalog::text::Line;
use podo_domain::catalog::{SeatList, SeatTemplate};
use podo_domain::{HallId, VenueId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(guarded!(create_hall))
        .routes(guarded!(edit_hall))
        .routes(guarded!(show_template))
        .routes(guarded!(preview))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HallBody {
    name: Line<200>,
    /// Described by `/api/layout.schema.json`.
    #[schema(value_type = SeatTemplate)]
    seat_template: Value,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct MadeHall {
    id: HallId,
    capacity: u32,
}

/// Creates a hall from a seat template.
#[utoipa::path(post, path = "/api/admin/venues/{id}/halls", tag = "admin",
    security(("accessToken" = [])), params(("id" = VenueId, Path)), request_body = HallBody,
    responses((status = 201, body = MadeHall), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 413, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn create_hall(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageVenues>,
    Id(venue): Id<VenueId>,
    LargeBody(body): LargeBody<HallBody>,
) -> ApiResult<(StatusCode, Json<MadeHall>)> {
    let template = read_template(body.seat_template)?;
    let made = catalog::create_hall(&app.context, actor, venue, body.name, template).await?;
    let (id, capacity) = made;
    Ok((StatusCode::CREATED, Json(MadeHall { id, capacity })))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HallPatch {
    #[serde(default)]
    name: Option<Line<200>>,
    #[serde(default)]
    #[schema(value_type = Option<SeatTemplate>)]
    seat_template: Option<Value>,
}

/// Changes a hall. A new template applies to dates created from now on; existing dates keep their
/// seats.
#[utoipa::path(patch, path = "/api/admin/halls/{id}", tag = "admin",
    security(("accessToken" = [])), params(("id" = HallId, Path)), request_body = HallPatch,
    responses((status = 204), (status = 401, body = Problem), (status = 403, body = Problem),
              (status = 404, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn edit_hall(
    State(app): State<App>,
    Audited { actor, .. }: Audited<ManageVenues>,
    Id(hall): Id<HallId>,
    LargeBody(body): LargeBody<HallPatch>,
) -> ApiResult<StatusCode> {
    let template = body.seat_template.map(read_template).transpose()?;
    catalog::edit_hall(&app.context, actor, hall, body.name, template).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The template that a hall was created from.
#[utoipa::path(get, path = "/api/admin/halls/{id}/template", tag = "admin",
    security(("accessToken" = [])), params(("id" = HallId, Path)),
    responses((status = 200, body = SeatTemplate), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn show_template(
    State(app): State<App>,
    _: Allowed<ViewEvents>,
    Id(hall): Id<HallId>,
) -> ApiResult<Json<SeatTemplate>> {
    Ok(Json(catalog::hall_template(&app.context, hall).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PreviewBody {
    #[schema(value_type = SeatTemplate)]
    seat_template: Value,
}

/// Previews the seats of a template; nothing is stored.
#[utoipa::path(post, path = "/api/admin/layouts/preview", operation_id = "preview_layout", tag = "admin",
    security(("accessToken" = [])), request_body = PreviewBody,
    responses((status = 200, body = TemplatePreview), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 413, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn preview(
    State(_app): State<App>,
    _: Allowed<ManageVenues>,
    LargeBody(body): LargeBody<PreviewBody>,
) -> ApiResult<Json<TemplatePreview>> {
    Ok(Json(catalog::preview_template(&read_template(body.seat_template)?)?))
}

/// The schema of seat templates.
pub(crate) const SCHEMA: &str = include_str!("../../../../../docs/layout.schema.json");

/// Parses the template by its kind, so that the position of an error is known, even deep inside.
/// Besides our own two kinds it accepts the layouts of the seed documents: a grid without
/// `layoutType`, and lists of seats under `layout_type`.
fn read_template(template: Value) -> Result<SeatTemplate, ApiError> {
    let refuse = |pointer: &str, problem: &str| {
        Failure::Field { pointer: pointer.into(), problem: problem.into() }.into()
    };
    let Value::Object(mut members) = template else {
        return Err(refuse("seatTemplate", "expected an object"));
    };
    let (kind, foreign) = (members.remove("layoutType"), members.remove("layout_type"));
    let (has_rows, has_sections) = (members.contains_key("rows"), members.contains_key("sections"));
    let rest = Value::Object(members);
    let name = |kind: &Option<Value>| kind.as_ref().and_then(Value::as_str).map(str::to_owned);
    match (name(&kind).as_deref(), name(&foreign).as_deref()) {
        (Some("grid"), None) => read(&rest).map(SeatTemplate::Grid),
        (Some("sections"), None) => read(&rest).map(SeatTemplate::Sections),
        (None, None | Some("grid")) if kind.is_none() && has_rows => {
            read(&rest).map(SeatTemplate::Grid)
        }
        (None, Some("grid" | "irregular")) if has_sections => {
            read::<SeatList>(&rest).map(|list| SeatTemplate::Sections(list.into()))
        }
        _ => Err(refuse("seatTemplate.layoutType", "expected `grid` or `sections`")),
    }
}

fn read<T: DeserializeOwned>(value: &Value) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().clone();
        let place = named(value, &path);
        let problem = error.into_inner();
        let problem = match place.is_empty() {
            true => problem.to_string(),
            false => format!("{place}: {problem}"),
        };
        Failure::Field { pointer: format!("seatTemplate.{path}"), problem }.into()
    })
}

/// The organiser's labels of the section, the row and the seat on a path.
fn named(value: &Value, path: &Path) -> String {
    let mut here = Some(value);
    let mut list = "";
    let mut names = Vec::new();
    for segment in path {
        match segment {
            Segment::Map { key } => {
                list = key;
                here = here.and_then(|value| value.get(key));
            }
            Segment::Seq { index } => {
                here = here.and_then(|value| value.get(*index));
                let (what, label) = match list {
                    "sections" => ("section", "name"),
                    "rows" => ("row", "label"),
                    "seats" => ("seat", "number"),
                    _ => continue,
                };
                let label = here.and_then(|value| value.get(label));
                let label = label.map(|label| label.to_string().replace('"', ""));
                let number = || format!("number {}", index + 1);
                names.push(format!("{what} {}", label.unwrap_or_else(number)));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_mistake_deep_inside_is_named() {
        let template = json!({ "sections": [{ "name": "107", "grade": "R", "rows": [
            { "label": 3, "seats": [{ "number": 1, "x": 0, "y": 0 }, { "number": 7, "x": "a" }] },
        ] }] });
        let error = serde_path_to_error::deserialize::<_, podo_domain::catalog::SectionedTemplate>(
            &template,
        );
        let error = error.unwrap_err();
        assert_eq!(named(&template, error.path()), "section 107, row 3, seat 7");
        assert_eq!(error.path().to_string(), "sections[0].rows[0].seats[1].x");
    }

    #[test]
    fn the_schema_is_json_and_its_examples_are_templates() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        for example in schema["examples"].as_array().unwrap() {
            let template = read_template(example.clone()).unwrap();
            assert!(!template.plan().unwrap().seats.is_empty());
        }
    }
}
