//! The fan's wallet.

use super::App;
use super::answer::{json, once, replay};
use super::error::{ApiResult, Problem};
use super::extract::{Body, Fan, Id, Params, RequireRecentAuth, guarded, key_of, page_limit};
use app::keys::{ADJUST, CHARGE, CONFIRM_CHARGE};
use app::paging::Page;
use app::ports::keys::Once;
use app::ports::wallets::{
    Adjusted, Adjustment, AdjustmentWaits, ChargeReady, ChargeView, Charged, ConfirmCharge,
    Movement,
};
use app::wallet::{self, AskToCharge, ChargeOutcome};
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use domain::payments::PaymentStatus;
use domain::text::Line;
use domain::{PaymentId, UserId, Won};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(balance))
        .routes(routes!(ledger))
        .routes(routes!(charge))
        .routes(routes!(confirm_charge))
        .routes(routes!(my_charge))
        .routes(guarded!(adjust))
}

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
    /// The payment company. Left out, the sandbox charges at once and moves no real money.
    #[serde(default)]
    gateway: Option<Line<20>>,
}

/// Puts money into the wallet: at once from the sandbox, or through a payment company's page.
#[utoipa::path(post, path = "/api/wallet/charge", tag = "wallet", security(("accessToken" = [])),
    request_body = ChargeBody, params(("Idempotency-Key" = String, Header)),
    responses((status = 201, body = ChargeAnswer), (status = 400, body = Problem),
              (status = 401, body = Problem), (status = 409, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn charge(
    State(app): State<App>,
    Fan(caller): Fan,
    headers: HeaderMap,
    body: Body<ChargeBody>,
) -> ApiResult<Response> {
    let key = key_of(&headers, caller.user, CHARGE, &body.bytes)?;
    let ChargeBody { amount, gateway } = body.value;
    match (gateway, &app.sandbox) {
        (Some(gateway), _) => {
            let asked = AskToCharge { key, fan: caller.user, amount, gateway: gateway.as_str() };
            once(wallet::request_charge(&app.platform, asked).await?)
        }
        (None, Some(_)) => once(wallet::charge(&app.platform, key, caller.user, amount).await?),
        (None, None) => {
            let gateway = app.platform.gateway_or_default(None)?.name();
            let asked = AskToCharge { key, fan: caller.user, amount, gateway };
            once(wallet::request_charge(&app.platform, asked).await?)
        }
    }
}

/// Charged at once, or ready to be approved on the payment company's page.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "it only documents what the two calls answer")]
pub(super) enum ChargeAnswer {
    Charged(Charged),
    Ready(ChargeReady),
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ConfirmChargeBody {
    charge_id: PaymentId,
    #[serde(default)]
    payment_key: Option<Line<300>>,
    /// Must be the amount of the charge.
    amount: Won,
}

/// The outcome is not known yet: ask again for the charge.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChargeUnknown {
    charge_id: PaymentId,
    status: PaymentStatus,
    poll_after_ms: u32,
}

/// Takes the money that the fan approved on the payment company's page.
#[utoipa::path(post, path = "/api/wallet/charge/confirm", tag = "wallet",
    security(("accessToken" = [])), request_body = ConfirmChargeBody,
    params(("Idempotency-Key" = String, Header)),
    responses((status = 201, body = Charged), (status = 202, body = ChargeUnknown),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 402, body = Problem), (status = 404, body = Problem),
              (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn confirm_charge(
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
        now: app.platform.now(),
    };
    match wallet::confirm_charge(&app.platform, command).await? {
        Once::Replay(stored) => replay(stored),
        Once::Fresh(ChargeOutcome::Charged(charged)) => json(201, &charged),
        Once::Fresh(ChargeOutcome::Unknown(charge_id)) => {
            let status = PaymentStatus::Unknown;
            json(202, &ChargeUnknown { charge_id, status, poll_after_ms: 2_000 })
        }
    }
}

/// One charge of the fan.
#[utoipa::path(get, path = "/api/wallet/charge/{id}", tag = "wallet",
    security(("accessToken" = [])), params(("id" = PaymentId, Path)),
    responses((status = 200, body = ChargeView), (status = 401, body = Problem),
              (status = 404, body = Problem)))]
pub(super) async fn my_charge(
    State(app): State<App>,
    Fan(caller): Fan,
    Id(charge): Id<PaymentId>,
) -> ApiResult<Json<ChargeView>> {
    Ok(Json(wallet::my_charge(&app.platform, caller.user, charge).await?))
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AdjustBody {
    /// What is added, or taken when negative.
    amount: i64,
    reason: Line<200>,
}

/// Corrects a fan's wallet; the audit log keeps who did it and why. What one organiser moves alone
/// is limited to a million won per wallet and per day, taken and given together; beyond that nothing
/// moves until a second organiser asks for the same.
#[utoipa::path(post, path = "/api/admin/users/{id}/wallet", tag = "admin",
    security(("accessToken" = [])), request_body = AdjustBody,
    params(("id" = UserId, Path), ("Idempotency-Key" = String, Header)),
    responses((status = 201, body = Adjusted), (status = 202, body = AdjustmentWaits),
              (status = 400, body = Problem), (status = 401, body = Problem),
              (status = 403, body = Problem), (status = 404, body = Problem),
              (status = 422, body = Problem)))]
pub(super) async fn adjust(
    State(app): State<App>,
    RequireRecentAuth(actor): RequireRecentAuth,
    Id(user): Id<UserId>,
    headers: HeaderMap,
    body: Body<AdjustBody>,
) -> ApiResult<Response> {
    // The path is part of what the key stands for.
    let content = [user.uuid().as_bytes().as_slice(), &body.bytes].concat();
    let key = key_of(&headers, actor, ADJUST, &content)?;
    let AdjustBody { amount, reason } = body.value;
    match wallet::adjust(&app.platform, key, actor, user, (amount, reason.into())).await? {
        Once::Replay(stored) => replay(stored),
        Once::Fresh(Adjustment::Made(adjusted)) => json(201, &adjusted),
        Once::Fresh(Adjustment::SecondNeeded(waits)) => json(202, &waits),
    }
}
