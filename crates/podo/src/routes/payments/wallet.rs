//! The fan's wallet.

use crate::http::extract::permissions::CorrectWallets;
use crate::http::extract::{
    Body, Fan, Id, OnDevice, Params, RecentAuth, guarded, key_of, page_limit,
};
use crate::http::problem::{ApiResult, Problem};
use crate::http::respond::idempotent::{json, once, replay};
use crate::routes::App;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use podo_app::operations::idempotency::{ADJUST, CHARGE, CONFIRM_CHARGE};
use podo_app::operations::port::idempotency::Idempotent;
use podo_app::payments::port::wallets::{
    Adjusted, Adjustment, AdjustmentWaits, ChargeReady, ChargeView, Charged, ConfirmCharge,
    Movement,
};
use podo_app::payments::wallet;
use podo_app::payments::wallet::{ChargeOutcome, ChargeRequest};
use podo_app::store::Page;
use podo_domain::catalog::text::Line;
use podo_domain::payments::{PaymentMethod, PaymentStatus};
use podo_domain::{Currency, PaymentId, UserId, Won};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(balance))
        .routes(routes!(ledger))
        .routes(routes!(charge))
        .routes(routes!(confirm_charge))
        .routes(routes!(my_charge))
        .routes(guarded!(adjust))
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Balance {
    balance: Won,
    /// The server's own.
    currency: Currency,
}

/// The wallet's balance.
#[utoipa::path(get, path = "/api/wallet", tag = "wallet", security(("accessToken" = [])),
    responses((status = 200, body = Balance), (status = 401, body = Problem)))]
pub(crate) async fn balance(State(app): State<App>, Fan(caller): Fan) -> ApiResult<Json<Balance>> {
    let balance = wallet::balance(&app.context, caller.user).await?;
    Ok(Json(Balance { balance, currency: app.context.rules.currency }))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(crate) struct LedgerParams {
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u32>,
    cursor: Option<i64>,
}

/// The wallet's ledger, newest first.
#[utoipa::path(get, path = "/api/wallet/ledger", tag = "wallet", security(("accessToken" = [])),
    params(LedgerParams),
    responses((status = 200, body = Page<Movement>), (status = 401, body = Problem)))]
pub(crate) async fn ledger(
    State(app): State<App>,
    Fan(caller): Fan,
    Params(params): Params<LedgerParams>,
) -> ApiResult<Json<Page<Movement>>> {
    let limit = page_limit(params.limit)?;
    Ok(Json(wallet::movements(&app.context, caller.user, params.cursor, limit).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChargeBody {
    amount: Won,
    /// The payment gateway. By default, the sandbox charges at once and moves no real money.
    #[serde(default)]
    gateway: Option<Line<20>>,
}

/// Charges the wallet: at once from the sandbox, or through a payment gateway's page.
#[utoipa::path(post, path = "/api/wallet/charge", tag = "wallet", security(("accessToken" = [])),
    request_body = ChargeBody, params(("Idempotency-Key" = String, Header)),
    responses((status = 201, body = ChargeAnswer), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn charge(
    State(app): State<App>,
    Fan(caller): Fan,
    OnDevice(device): OnDevice,
    headers: HeaderMap,
    body: Body<ChargeBody>,
) -> ApiResult<Response> {
    let key = key_of(&headers, caller.user, CHARGE, &body.bytes)?;
    let ChargeBody { amount, gateway } = body.value;
    match (gateway, &app.sandbox) {
        (Some(gateway), _) => {
            let (fan, gateway) = (caller.user, gateway.as_str());
            let asked = ChargeRequest { key, fan, amount, gateway, device };
            once(wallet::request_charge(&app.context, asked).await?)
        }
        (None, Some(_)) => once(wallet::charge(&app.context, key, caller.user, amount).await?),
        (None, None) => {
            let home = app.context.rules.currency;
            let gateway = app.context.gateway_for(PaymentMethod::Card, home, None)?.name();
            let asked = ChargeRequest { key, fan: caller.user, amount, gateway, device };
            once(wallet::request_charge(&app.context, asked).await?)
        }
    }
}

/// Charged at once, or ready for approval on the gateway's page.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only documents the two responses")]
pub(crate) enum ChargeAnswer {
    Charged(Charged),
    Ready(ChargeReady),
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConfirmChargeBody {
    charge_id: PaymentId,
    #[serde(default)]
    payment_key: Option<Line<300>>,
    /// Must equal the charge's amount.
    amount: Won,
}

/// The outcome is not known yet: poll the charge.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChargeUnknown {
    charge_id: PaymentId,
    status: PaymentStatus,
    poll_after_ms: u32,
}

/// Confirms a charge that the fan approved on the gateway's page.
#[utoipa::path(post, path = "/api/wallet/charge/confirm", tag = "wallet",
    security(("accessToken" = [])), request_body = ConfirmChargeBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 201, body = Charged), (status = 202, body = ChargeUnknown),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 402, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(crate) async fn confirm_charge(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<ConfirmChargeBody>,
) -> ApiResult<Response> {
    let command = ConfirmCharge {
        key: key_of(&headers, caller.user, CONFIRM_CHARGE, &body.bytes)?,
        charge: body.value.charge_id,
        user: caller.user,
        amount: body.value.amount,
        payment_key: body.value.payment_key.map(String::from),
        now: app.context.now(),
    };
    match wallet::confirm_charge(&app.context, command).await? {
        Idempotent::Replay(stored) => replay(stored),
        Idempotent::Fresh(ChargeOutcome::Charged(charged)) => json(201, &charged),
        Idempotent::Fresh(ChargeOutcome::Unknown(charge_id)) => {
            let status = PaymentStatus::Unknown;
            json(202, &ChargeUnknown { charge_id, status, poll_after_ms: 2_000 })
        }
    }
}

/// One of the fan's charges.
#[utoipa::path(get, path = "/api/wallet/charge/{id}", tag = "wallet",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)),
    responses((status = 200, body = ChargeView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(crate) async fn my_charge(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(charge): Id<PaymentId>,
) -> ApiResult<Json<ChargeView>> {
    Ok(Json(wallet::my_charge(&app.context, caller.user, charge).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdjustBody {
    /// The amount added, or deducted if negative.
    amount: i64,
    reason: Line<200>,
}

/// Corrects a fan's wallet; the audit log records who and why. One organiser alone can move up to a
/// million won per wallet and per day, additions and deductions together; above that, a second
/// organiser must confirm with the same request.
#[utoipa::path(post, path = "/api/admin/users/{id}/wallet", tag = "admin",
    security(("accessToken" = [])), request_body = AdjustBody,
    params(("id" = UserId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 201, body = Adjusted), (status = 202, body = AdjustmentWaits),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(crate) async fn adjust(
    State(app): State<App>,
    RecentAuth { actor, .. }: RecentAuth<CorrectWallets>,
    Id(user): Id<UserId>,
    headers: HeaderMap,
    body: Body<AdjustBody>,
) -> ApiResult<Response> {
    // The idempotency key covers the path too.
    let content = [user.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, actor, ADJUST, &content)?;
    let AdjustBody { amount, reason } = body.value;
    match wallet::adjust(&app.context, key, actor, user, amount, reason.into()).await? {
        Idempotent::Replay(stored) => replay(stored),
        Idempotent::Fresh(Adjustment::Made(adjusted)) => json(201, &adjusted),
        Idempotent::Fresh(Adjustment::SecondNeeded(waits)) => json(202, &waits),
    }
}
