//! The fan's wallet.

use super::App;
use super::answer::once;
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Params, key_of, page_limit};
use app::keys::CHARGE;
use app::paging::Page;
use app::ports::wallets::{Charged, Movement};
use app::wallet;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::Won;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

#[derive(Serialize, ToSchema)]
pub(super) struct Balance {
    balance: Won,
}

/// What is in the wallet.
#[utoipa::path(get, path = "/api/wallet", tag = "wallet", security(("accessToken" = [])),
    responses((status = 200, body = Balance), (status = 401, body = Problem)))]
pub(super) async fn balance(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<Balance>> {
    Ok(Json(Balance { balance: wallet::balance(&app.platform, caller.user).await? }))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct LedgerParams {
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<i64>,
}

/// Every movement on the wallet, newest first.
#[utoipa::path(get, path = "/api/wallet/ledger", tag = "wallet", security(("accessToken" = [])),
    params(LedgerParams),
    responses((status = 200, body = Page<Movement>), (status = 401, body = Problem)))]
pub(super) async fn ledger(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<LedgerParams>,
) -> ApiResult<Json<Page<Movement>>> {
    let limit = page_limit(params.limit)?;
    Ok(Json(wallet::movements(&app.platform, caller.user, params.cursor, limit).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChargeBody {
    amount: Won,
}

/// Puts money into the wallet. No real money moves: the sandbox stands for the gateway.
#[utoipa::path(post, path = "/api/wallet/charge", tag = "wallet", security(("accessToken" = [])),
    request_body = ChargeBody, params(("Idempotency-Key" = String, Header)),
    responses((status = 201, body = Charged), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn charge(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<ChargeBody>,
) -> ApiResult<Response> {
    let key = key_of(&headers, caller.user, CHARGE, &body.bytes)?;
    once(wallet::charge(&app.platform, key, caller.user, body.value.amount).await?)
}
