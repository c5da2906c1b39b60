//! Webhooks of organisers: endpoints, and the deliveries to each.

use super::audit;
use super::messages::mark;
use super::store::SqlStore;
use super::tx::{Tx, work};
use super::value::{Row, params};
use app::Result;
use app::paging::PageAsk;
use app::ports::organisers::{
    Delivery, DeliveryStatus, Endpoint, EndpointStatus, Organisers, ToTell, Tried,
};
use async_trait::async_trait;
use domain::messages::MessageKind;
use domain::{DeliveryId, EndpointId, Refusal, Timestamp, UserId};
use serde_json::json;
use uuid::Uuid;

struct AddEndpoint {
    endpoint: Endpoint,
    actor: UserId,
}

struct AllEndpoints;

struct EndpointOf(EndpointId);

struct ChangeEndpoint {
    endpoint: Endpoint,
    actor: UserId,
    now: Timestamp,
}

struct RemoveEndpoint {
    endpoint: EndpointId,
    actor: UserId,
    now: Timestamp,
}

struct PlanDeliveries {
    consumer: &'static str,
    messages: Vec<ToTell>,
    now: Timestamp,
}

struct TakeDeliveries {
    now: Timestamp,
    until: Timestamp,
    limit: u32,
}

struct NoteDelivery {
    tried: Tried,
    now: Timestamp,
}

struct DeliveriesOf {
    endpoint: EndpointId,
    page: PageAsk,
}

struct ReplayDelivery {
    endpoint: EndpointId,
    delivery: DeliveryId,
    actor: UserId,
    now: Timestamp,
}

work!(Event: AddEndpoint => add_endpoint, ());
work!(Event: AllEndpoints => endpoints, Vec<Endpoint>);
work!(Event: EndpointOf => endpoint, Option<Endpoint>);
work!(Event: ChangeEndpoint => change_endpoint, ());
work!(Event: RemoveEndpoint => remove_endpoint, ());
work!(Worker: PlanDeliveries => plan, u64);
work!(Worker: TakeDeliveries => take, Vec<Delivery>);
work!(Worker: NoteDelivery => note, ());
work!(Event: DeliveriesOf => deliveries, Vec<Delivery>);
work!(Event: ReplayDelivery => replay, ());

#[async_trait]
impl Organisers for SqlStore {
    async fn add_endpoint(&self, endpoint: Endpoint, actor: UserId) -> Result<()> {
        self.write(AddEndpoint { endpoint, actor }).await
    }

    async fn endpoints(&self) -> Result<Vec<Endpoint>> {
        self.read(AllEndpoints).await
    }

    async fn endpoint(&self, endpoint: EndpointId) -> Result<Option<Endpoint>> {
        self.read(EndpointOf(endpoint)).await
    }

    async fn change_endpoint(
        &self,
        endpoint: Endpoint,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()> {
        self.write(ChangeEndpoint { endpoint, actor, now }).await
    }

    async fn remove_endpoint(
        &self,
        endpoint: EndpointId,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()> {
        self.write(RemoveEndpoint { endpoint, actor, now }).await
    }

    async fn plan_deliveries(
        &self,
        consumer: &'static str,
        messages: Vec<ToTell>,
        now: Timestamp,
    ) -> Result<u64> {
        self.write(PlanDeliveries { consumer, messages, now }).await
    }

    async fn take_deliveries(
        &self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Delivery>> {
        self.write(TakeDeliveries { now, until, limit }).await
    }

    async fn note_delivery(&self, tried: Tried, now: Timestamp) -> Result<()> {
        self.write(NoteDelivery { tried, now }).await
    }

    async fn deliveries(&self, endpoint: EndpointId, page: PageAsk) -> Result<Vec<Delivery>> {
        self.read(DeliveriesOf { endpoint, page }).await
    }

    async fn replay_delivery(
        &self,
        endpoint: EndpointId,
        delivery: DeliveryId,
        actor: UserId,
        now: Timestamp,
    ) -> Result<()> {
        self.write(ReplayDelivery { endpoint, delivery, actor, now }).await
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
    audit::note(tx, (command.actor, "webhook.add"), endpoint, details, *created_at).await
}

fn read_endpoint(row: &Row) -> Result<Endpoint> {
    let kinds: String = row.get(4)?;
    Ok(Endpoint {
        endpoint: row.get(0)?,
        url: row.get(1)?,
        secret: row.get(2)?,
        previous_secret: row.get(3)?,
        kinds: parse_kinds(&kinds),
        status: row.parse(5, EndpointStatus::parse)?,
        created_at: row.get(6)?,
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
    tx.row(sql, params![question.0]).await?.as_ref().map(read_endpoint).transpose()
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
    audit::note(tx, (command.actor, "webhook.change"), endpoint, details, command.now).await
}

async fn remove_endpoint(tx: &mut dyn Tx, command: &RemoveEndpoint) -> Result<()> {
    let deliveries = "delete from webhook_deliveries where endpoint_id = $1";
    tx.execute(deliveries, params![command.endpoint]).await?;
    let sql = "delete from webhook_endpoints where id = $1";
    if tx.execute(sql, params![command.endpoint]).await? == 0 {
        return Err(Refusal::NotFound.into());
    }
    let (actor, endpoint) = (command.actor, command.endpoint);
    audit::note(tx, (actor, "webhook.remove"), endpoint, json!({}), command.now).await
}

async fn plan(tx: &mut dyn Tx, command: &PlanDeliveries) -> Result<u64> {
    let ask = "select id, kinds from webhook_endpoints where status = 'ACTIVE'";
    let wanted: Vec<(EndpointId, Vec<MessageKind>)> = tx
        .query(ask, &[])
        .await?
        .iter()
        .map(|row| Ok((row.get(0)?, parse_kinds(&row.get::<String>(1)?))))
        .collect::<Result<_>>()?;
    if wanted.is_empty() {
        return Ok(0);
    }
    let messages = command.messages.iter().map(|it| it.message);
    let is_new = mark(tx, command.consumer, messages, command.now).await?;
    let mut rows = Vec::new();
    for (told, _) in command.messages.iter().zip(is_new).filter(|(_, is_new)| *is_new) {
        for (endpoint, _) in wanted.iter().filter(|(_, kinds)| kinds.contains(&told.kind)) {
            let id = tx.chance().id(command.now);
            let kind = told.kind.as_str();
            let row = params![id, *endpoint, told.message, kind, &told.body, command.now];
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
        id: row.get(0)?,
        endpoint_id: row.get(1)?,
        message_id: row.get(2)?,
        kind: row.get(3)?,
        body: row.get(4)?,
        status: row.parse(5, DeliveryStatus::parse)?,
        attempts: row.get(6)?,
        next_at: row.get(7)?,
        last_status: row.get(8)?,
        error: row.get(9)?,
        created_at: row.get(10)?,
        updated_at: row.get(11)?,
    })
}

/// A hand that dies leaves its deliveries to the next one: organisers know a message by its id.
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
    audit::note(tx, (actor, "webhook.replay"), delivery, json!({}), now).await
}
