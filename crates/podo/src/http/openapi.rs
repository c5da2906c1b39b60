//! The OpenAPI document: the handlers' own descriptions, and what applies to all of them.

use crate::http::assets;
use crate::http::assets::File;
use crate::routes::ApiError;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response as HttpResponse};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::schema::{ArrayItems, ObjectBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{
    Content, ContentBuilder, Header, OpenApi, Ref, RefOr, Response, ResponseBuilder,
};

const PROBLEM: &str = "#/components/schemas/Problem";
/// The keys that `podo_app::operations::idempotency` accepts.
const KEY: &str = "^([!#-~]{1,200}|\"[!#-~]{1,200}\")$";

const REQUEST_ID: &str = "X-Request-Id";

const PROBLEM_KIND: &str = "application/problem+json";

/// Serves the document, which is generated once.
pub(crate) async fn show(headers: HeaderMap) -> HttpResponse {
    static WRITTEN: LazyLock<Option<File>> = LazyLock::new(|| {
        let text = serde_json::to_vec(&crate::routes::openapi()).ok()?;
        File::written("application/json", text)
    });
    match &*WRITTEN {
        Some(file) => assets::respond(file, &headers),
        None => ApiError::no_route().into_response(),
    }
}

/// Adds what every handler would have to repeat.
pub(crate) fn polish(mut document: OpenApi) -> OpenApi {
    for item in document.paths.paths.values_mut() {
        operations(item).for_each(polish_operation);
    }
    let components = document.components.get_or_insert_default();
    components.headers.insert(REQUEST_ID.to_owned(), RefOr::T(request_id()));
    let known = components.schemas.clone();
    components.schemas.values_mut().for_each(|schema| {
        merge_tags(schema, &known);
        bound_tuples(schema);
    });
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let PathItem { get, put, post, delete, patch, .. } = item;
    [get, put, post, delete, patch].into_iter().flatten()
}

/// Problems have their own content type, and any call may return one. Idempotency keys have a
/// pattern.
fn polish_operation(operation: &mut Operation) {
    for parameter in operation.parameters.iter_mut().flatten() {
        if let RefOr::T(parameter) = parameter
            && parameter.name == "Idempotency-Key"
        {
            let key = ObjectBuilder::new().schema_type(Type::String).pattern(Some(KEY)).build();
            parameter.schema = Some(RefOr::T(Schema::Object(key)));
        }
    }
    let responses = &mut operation.responses.responses;
    for (status, response) in responses.iter_mut() {
        if let RefOr::T(response) = response {
            name_problem(response);
            describe(response, status);
        }
    }
    let problem = ContentBuilder::new().schema(Some(Ref::new(PROBLEM))).build();
    let any = ResponseBuilder::new()
        .description(
            "A problem: the request is malformed, forbidden or over a rate limit, or a dependency \
             is temporarily unavailable",
        )
        .content(PROBLEM_KIND, problem)
        .build();
    responses.insert("default".to_owned(), RefOr::T(any));
    for response in responses.values_mut() {
        if let RefOr::T(response) = response {
            let named = Ref::new(format!("#/components/headers/{REQUEST_ID}"));
            response.headers.insert(REQUEST_ID.to_owned(), RefOr::Ref(named));
        }
    }
}

/// OpenAPI requires a description of every response; the status text is enough.
fn describe(response: &mut Response, status: &str) {
    if response.description.is_empty() {
        let status = status.parse().ok().and_then(|code: u16| StatusCode::from_u16(code).ok());
        let reason = status.and_then(|status| status.canonical_reason());
        response.description = reason.unwrap_or("The response").to_owned();
    }
}

/// A header of every response.
fn request_id() -> Header {
    let what = "The id of this request in the logs, and the `traceId` of a problem: the caller's \
                trace (`traceparent`) or `X-Request-Id`, or a new one";
    let mut header = Header::default();
    header.description = Some(what.to_owned());
    header
}

fn name_problem(response: &mut Response) {
    let json = "application/json";
    let is_problem = |content: &RefOr<Content>| match content {
        RefOr::T(Content { schema: Some(RefOr::Ref(named)), .. }) => named.ref_location == PROBLEM,
        RefOr::T(_) | RefOr::Ref(_) => false,
    };
    if response.content.get(json).is_some_and(is_problem)
        && let Some(content) = response.content.shift_remove(json)
    {
        response.content.insert(PROBLEM_KIND.to_owned(), content);
    }
}

type Schemas = BTreeMap<String, RefOr<Schema>>;

/// utoipa writes a tagged variant as a reference beside the tag. Both forbid other members and
/// would contradict each other, so they are merged.
fn merge_tags(schema: &mut RefOr<Schema>, known: &Schemas) {
    let RefOr::T(Schema::OneOf(one_of)) = schema else { return };
    for variant in &mut one_of.items {
        if let Some(merged) = merge(variant, known) {
            *variant = RefOr::T(merged);
        }
    }
}

/// A tuple is a list with a fixed number of items. `items: false` says the same, but few client
/// generators understand it.
fn bound_tuples(schema: &mut RefOr<Schema>) {
    match schema {
        RefOr::T(Schema::Object(object)) => object.properties.values_mut().for_each(bound_tuples),
        RefOr::T(Schema::Array(array)) => {
            if let ArrayItems::RefOrSchema(items) = &mut array.items {
                bound_tuples(items);
            }
            if !array.prefix_items.is_empty() {
                let n_items = Some(array.prefix_items.len());
                (array.min_items, array.max_items) = (n_items, n_items);
                let any = ObjectBuilder::new().schema_type(SchemaType::AnyValue).build();
                array.items = ArrayItems::RefOrSchema(Box::new(RefOr::T(Schema::Object(any))));
            }
        }
        RefOr::T(_) | RefOr::Ref(_) => {}
    }
}

fn merge(variant: &RefOr<Schema>, known: &Schemas) -> Option<Schema> {
    let RefOr::T(Schema::AllOf(both)) = variant else { return None };
    let [RefOr::Ref(content), RefOr::T(Schema::Object(tag))] = both.items.as_slice() else {
        return None;
    };
    let name = content.ref_location.rsplit('/').next()?;
    let RefOr::T(Schema::Object(content)) = known.get(name)? else { return None };
    let mut merged = content.clone();
    merged.properties.extend(tag.properties.clone());
    merged.required.extend(tag.required.clone());
    Some(Schema::Object(merged))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    fn operations(document: &serde_json::Value) -> Vec<&serde_json::Value> {
        let paths = document["paths"].as_object().unwrap().values();
        paths.flat_map(|path| path.as_object().unwrap().values()).collect()
    }

    #[test]
    fn every_operation_has_an_id_of_its_own_and_every_response_a_description() {
        let document = serde_json::to_value(crate::routes::openapi()).unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for operation in operations(&document) {
            let id = operation["operationId"].as_str().unwrap();
            assert!(seen.insert(id), "two operations have the id {id}");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let description = response["description"].as_str().unwrap_or_default();
                assert!(!description.is_empty(), "{id} does not describe {status}");
            }
        }
    }

    #[test]
    fn every_call_may_end_in_a_problem() {
        let document = serde_json::to_value(crate::routes::openapi()).unwrap();
        let log_in = &document["paths"]["/api/auth/login"]["post"]["responses"];
        for status in ["401", "default"] {
            let content = log_in[status]["content"].as_object().unwrap();
            assert_eq!(content.keys().collect::<Vec<_>>(), ["application/problem+json"]);
        }
        assert!(log_in["200"]["content"]["application/json"].is_object());
    }

    #[test]
    fn a_variant_says_its_name_among_its_members() {
        let document = serde_json::to_value(crate::routes::openapi()).unwrap();
        let grid = &document["components"]["schemas"]["SeatTemplate"]["oneOf"][0];
        assert_eq!(grid["additionalProperties"], false);
        assert!(grid["properties"]["rows"].is_object(), "{grid}");
        assert_eq!(grid["properties"]["layoutType"]["enum"], json!(["grid"]));
    }
}
