//! API keys.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::identity::team::{StoredGrant, described, membership_of, read_grant};
use crate::sql::operations::audit::note;
use podo_app::identity::port::api_keys::{ApiKeyRecord, ApiKeys, CreateApiKey, LiveApiKey};
use podo_app::{Error, Result};
use podo_domain::identity::permissions::Membership;
use podo_domain::{ApiKeyId, Timestamp, UserId};
use serde_json::json;

commands! {
    impl ApiKeys for SqlStore {
        write create_api_key(CreateApiKey) -> () as User => create;
        read api_keys(ListApiKeys {}) -> Vec<ApiKeyRecord> as User => list;
        read live_api_key(FindApiKey { key_hash: [u8; 32], now: Timestamp })
            -> Option<LiveApiKey> as User => find_live;
        write revoke_api_key(RevokeApiKey { key: ApiKeyId, actor: UserId, now: Timestamp })
            -> bool as User => revoke;
    }
}

async fn create(tx: &mut dyn Tx, command: &CreateApiKey) -> Result<()> {
    let sql = "insert into api_keys (id, name, prefix, key_hash, role, permissions, events,
                                     created_by, expires_at, created_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let StoredGrant { role, permissions, events } = StoredGrant::of(&command.membership);
    let values = params![
        command.id,
        &command.name,
        &command.prefix,
        command.key_hash,
        role,
        permissions,
        events,
        command.created_by,
        command.expires_at,
        command.now
    ];
    tx.execute(sql, values).await?;
    let mut details = described(&command.membership);
    details["name"] = json!(command.name);
    note(tx, command.created_by, "key.create", command.id, details, command.now).await
}

async fn list(tx: &mut dyn Tx, _: &ListApiKeys) -> Result<Vec<ApiKeyRecord>> {
    let sql = "select id, name, prefix, role as team_role, permissions, events, created_by,
                      expires_at, revoked_at, created_at
                 from api_keys order by id desc";
    let read = |row: &Row| {
        Ok(ApiKeyRecord {
            id: row.get("id")?,
            name: row.get("name")?,
            prefix: row.get("prefix")?,
            membership: membership_in(row)?,
            created_by: row.get("created_by")?,
            created_at: row.get("created_at")?,
            expires_at: row.get("expires_at")?,
            revoked_at: row.get("revoked_at")?,
        })
    };
    tx.query(sql, &[]).await?.iter().map(read).collect()
}

fn membership_in(row: &Row) -> Result<Membership> {
    read_grant(row)?.ok_or_else(|| Error::Broken("an API key without a role".into()))
}

async fn find_live(tx: &mut dyn Tx, question: &FindApiKey) -> Result<Option<LiveApiKey>> {
    let sql = "select id, name, role as team_role, permissions, events, created_by from api_keys
                where key_hash = $1 and revoked_at is null and $2 < expires_at";
    let values = params![question.key_hash, question.now];
    let Some(row) = tx.row(sql, values).await? else { return Ok(None) };
    let creator = membership_of(tx, row.get("created_by")?).await?;
    let Some(creator) = creator else { return Ok(None) };
    let grant = membership_in(&row)?.grant.meet(&creator.grant);
    Ok(Some(LiveApiKey { id: row.get("id")?, name: row.get("name")?, grant }))
}

async fn revoke(tx: &mut dyn Tx, command: &RevokeApiKey) -> Result<bool> {
    let sql = "update api_keys set revoked_at = $2 where id = $1 and revoked_at is null";
    if tx.execute(sql, params![command.key, command.now]).await? != 1 {
        return Ok(false);
    }
    note(tx, command.actor, "key.revoke", command.key, json!({}), command.now).await?;
    Ok(true)
}
