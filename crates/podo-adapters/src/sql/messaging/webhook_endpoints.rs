//! Organisers' webhook endpoints, and the deliveries to each.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::messaging::messages::mark;
use crate::sql::operations::audit;
use podo_app::Result;
use podo_app::messaging::port::webhook_endpoints::{
    Delivery, DeliveryStatus, Endpoint, EndpointStatus, ToTell, Tried, WebhookEndpoints,
};
use podo_app::store::PageRequest;
use podo_domain::messaging::messages::MessageKind;
use podo_domain::{DeliveryId, EndpointId, Refusal, Timestamp, UserId};
use serde_json::json;
use uuid::Uuid;

commands! {
    impl WebhookEndpoints for SqlStore {
        write add_endpoint(AddEndpoint { endpoint: Endpoint, actor: UserId })
            -> () as Event => add_endpoint;
        read endpoints(AllEndpoints {}) -> Vec<Endpoint> as Event => endpoints;
        read endpoint(EndpointOf { endpoint: EndpointId }) -> Option<Endpoint> as Event => endpoint;
        write change_endpoint(ChangeEndpoint { endpoint: Endpoint, actor: UserId, now: Timestamp })
            -> () as Event => change_endpoint;
        write remove_endpoint(RemoveEndpoint {
            endpoint: EndpointId, actor: UserId, now: Timestamp,
        }) -> () as Event => remove_endpoint;
        write plan_deliveries(PlanDeliveries {
            consumer: &'static str, messages: Vec<ToTell>, now: Timestamp,
        }) -> u64 as Worker => plan;
        write take_deliveries(TakeDeliveries { now: Timestamp, until: Timestamp, limit: u32 })
            -> Vec<Delivery> as Worker => take;
        write note_delivery(NoteDelivery { tried: Tried, now: Timestamp }) -> () as Worker => note;
        read deliveries(DeliveriesOf { endpoint: EndpointId, page: PageRequest })
            -> Vec<Delivery> as Event => deliveries;
        write replay_delivery(ReplayDelivery {
            endpoint: EndpointId, delivery: DeliveryId, actor: UserId, now: Timestamp,
        }) -> () as Event => replay;
    }
}

fn kinds_text(kinds: &[MessageKind]) -> String {
    kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>().join(",")
}

fn parse_kinds(text: &str) -> Vec<MessageKind> {
    text.split(',').filter_map(MessageKind::parse).collect()
}

async fn add_endpoint(tx: &mut dyn Tx, command: &AddEndpoint) -> Result<()> {
    let sql = "insert into webhook_endpoints (id, url, secret, previous_secret, kinds, status,
                                              created_at, updated_at)
               values ($1, $2, $3, null, $4, 'ACTIVE', $5, $5)";
    let Endpoint { endpoint, url, secret, kinds, created_at, .. } = &command.endpoint;
    let kinds = kinds_text(kinds);
    let values = params![*endpoint, url, secret.as_slice(), &kinds, *created_at];
    tx.execute(sql, values).await?;
    let details = json!({ "url": url, "kinds": kinds });
    audit::note(tx, command.actor, "webhook.add", endpoint, details, *created_at).await
}

fn read_endpoint(row: &Row) -> Result<Endpoint> {
    let kinds: String = row.get("kinds")?;
    Ok(Endpoint {
        endpoint: row.get("id")?,
        url: row.get("url")?,
        secret: row.get("secret")?,
        previous_secret: row.get("previous_secret")?,
        kinds: parse_kinds(&kinds),
        status: row.parse("status", EndpointStatus::parse)?,
        created_at: row.get("created_at")?,
    })
}

async fn endpoints(tx: &mut dyn Tx, _: &AllEndpoints) -> Result<Vec<Endpoint>> {
    let sql = "select id, url, secret, previous_secret, kinds, status, created_at
                 from webhook_endpoints order by id";
    tx.query(sql, &[]).await?.iter().map(read_endpoint).collect()
}

async fn endpoint(tx: &mut dyn Tx, question: &EndpointOf) -> Result<Option<Endpoint>> {
    let sql = "select id, url, secret, previous_secret, kinds, status, created_at
                 from webhook_endpoints where id = $1";
    tx.row(sql, params![question.endpoint]).await?.as_ref().map(read_endpoint).transpose()
}

async fn change_endpoint(tx: &mut dyn Tx, command: &ChangeEndpoint) -> Result<()> {
    let sql = "update webhook_endpoints
                  set url = $2, secret = $3, previous_secret = $4, kinds = $5, status = $6,
                      updated_at = $7
                where id = $1";
    let Endpoint { endpoint, url, secret, previous_secret, kinds, status, .. } = &command.endpoint;
    let kinds = kinds_text(kinds);
    let values = params![
        *endpoint,
        url,
        secret.as_slice(),
        previous_secret.clone(),
        &kinds,
        status.as_str(),
        command.now
    ];
    if tx.execute(sql, values).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let details = json!({ "url": url, "kinds": kinds, "status": status });
    audit::note(tx, command.actor, "webhook.change", endpoint, details, command.now).await
}

async fn remove_endpoint(tx: &mut dyn Tx, command: &RemoveEndpoint) -> Result<()> {
    let deliveries = "delete from webhook_deliveries where endpoint_id = $1";
    tx.execute(deliveries, params![command.endpoint]).await?;
    let sql = "delete from webhook_endpoints where id = $1";
    if tx.execute(sql, params![command.endpoint]).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let (actor, endpoint) = (command.actor, command.endpoint);
    audit::note(tx, actor, "webhook.remove", endpoint, json!({}), command.now).await
}

async fn plan(tx: &mut dyn Tx, command: &PlanDeliveries) -> Result<u64> {
    let ask = "select id, kinds from webhook_endpoints where status = 'ACTIVE'";
    let wanted: Vec<(EndpointId, Vec<MessageKind>)> = tx
        .query(ask, &[])
        .await?
        .iter()
        .map(|row| Ok((row.get("id")?, parse_kinds(&row.get::<String>("kinds")?))))
        .collect::<Result<_>>()?;
    if wanted.is_empty() {
        return Ok(0);
    }
    let messages = command.messages.iter().map(|it| it.message);
    let is_new = mark(tx, command.consumer, messages, command.now).await?;
    let mut rows = Vec::new();
    for (message, _) in command.messages.iter().zip(is_new).filter(|(_, is_new)| *is_new) {
        for (endpoint, _) in wanted.iter().filter(|(_, kinds)| kinds.contains(&message.kind)) {
            let id = tx.rng().id(command.now);
            let kind = message.kind.as_str();
            let row = params![id, *endpoint, message.message, kind, &message.body, command.now];
            rows.push(row.to_vec());
        }
    }
    let n_rows = rows.len() as u64;
    let sql = "insert into webhook_deliveries (id, endpoint_id, message_id, kind, body, status,
                                               next_at, created_at, updated_at)
               values ($1, $2, $3, $4, $5, 'PENDING', $6, $6, $6)
               on conflict (endpoint_id, message_id) do nothing";
    tx.add(sql, rows).await?;
    Ok(n_rows)
}

fn read_delivery(row: &Row) -> Result<Delivery> {
    Ok(Delivery {
        id: row.get("id")?,
        endpoint_id: row.get("endpoint_id")?,
        message_id: row.get("message_id")?,
        kind: row.get("kind")?,
        body: row.get("body")?,
        status: row.parse("status", DeliveryStatus::parse)?,
        attempts: row.get("attempts")?,
        next_at: row.get("next_at")?,
        last_status: row.get("last_status")?,
        error: row.get("last_error")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

/// If a worker dies, another takes over its deliveries; organisers deduplicate by message id.
async fn take(tx: &mut dyn Tx, command: &TakeDeliveries) -> Result<Vec<Delivery>> {
    let sql = "update webhook_deliveries
                  set attempts = attempts + 1, next_at = $2, updated_at = $1
                where status = 'PENDING' and id in
                      (select id from webhook_deliveries
                        where status = 'PENDING' and next_at <= $1
                        order by next_at limit $3 /* skip locked */)
               returning id, endpoint_id, message_id, kind, body, status, attempts, next_at,
                         last_status, last_error, created_at, updated_at";
    let values = params![command.now, command.until, command.limit];
    tx.query(sql, values).await?.iter().map(read_delivery).collect()
}

async fn note(tx: &mut dyn Tx, command: &NoteDelivery) -> Result<()> {
    let sql = "update webhook_deliveries
                  set status = $2, next_at = $3, last_status = $4, last_error = $5, updated_at = $6
                where id = $1 and status = 'PENDING'";
    let Tried { delivery, status, next_at, answered, error, disables } = &command.tried;
    let values =
        params![*delivery, status.as_str(), *next_at, *answered, error.clone(), command.now];
    tx.execute(sql, values).await?;
    if let Some(endpoint) = disables {
        let disable = "update webhook_endpoints set status = 'DISABLED', updated_at = $2
                        where id = $1";
        tx.execute(disable, params![*endpoint, command.now]).await?;
    }
    Ok(())
}

async fn deliveries(tx: &mut dyn Tx, question: &DeliveriesOf) -> Result<Vec<Delivery>> {
    let sql = "select id, endpoint_id, message_id, kind, body, status, attempts, next_at,
                      last_status, last_error, created_at, updated_at
                 from webhook_deliveries
                where endpoint_id = $1 and id < $2 order by id desc limit $3";
    let before = question.page.after.unwrap_or(Uuid::max());
    let values = params![question.endpoint, before, question.page.limit + 1];
    tx.query(sql, values).await?.iter().map(read_delivery).collect()
}

async fn replay(tx: &mut dyn Tx, command: &ReplayDelivery) -> Result<()> {
    let sql = "update webhook_deliveries
                  set status = 'PENDING', attempts = 0, next_at = $3, updated_at = $3
                where id = $1 and endpoint_id = $2";
    let ReplayDelivery { endpoint, delivery, actor, now } = *command;
    if tx.execute(sql, params![delivery, endpoint, now]).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    audit::note(tx, actor, "webhook.replay", delivery, json!({}), now).await
}
