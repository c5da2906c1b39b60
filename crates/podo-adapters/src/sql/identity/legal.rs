//! Legal pages and consents.

use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::{Row, params};
use crate::sql::operations::audit::note;
use podo_app::identity::port::legal::{ConsentView, Legal, LegalPage, PublishPage};
use podo_app::{Error, Result};
use podo_domain::identity::consents::{Consent, ConsentKind, PageKind};
use podo_domain::{Timestamp, UserId};
use serde_json::json;

commands! {
    impl Legal for SqlStore {
        write publish_page(PublishPage) -> u32 as User => publish;
        read legal_page(FindPage { kind: PageKind, version: Option<u32> })
            -> Option<LegalPage> as User => find;
        read page_versions(PageVersions {}) -> Vec<(PageKind, u32)> as User => versions;
        read consents_of(ConsentsOf { user: UserId }) -> Vec<ConsentView> as User => consents;
    }
}

/// The primary key decides between two organisers who publish at once: one of them repeats.
async fn publish(tx: &mut dyn Tx, command: &PublishPage) -> Result<u32> {
    let PublishPage { kind, ko, en, actor, now } = command;
    let sql = "select coalesce(max(version), 0) + 1 as version from legal_pages where kind = $1";
    let row = tx.row(sql, params![kind.as_str()]).await?;
    let version: u32 = row.map_or(Ok(1), |row| row.get("version"))?;
    let sql = "insert into legal_pages (kind, version, ko, en, created_by, created_at)
               values ($1, $2, $3, $4, $5, $6)";
    tx.execute(sql, params![kind.as_str(), version, ko, en, *actor, *now]).await?;
    let details = json!({ "version": version });
    note(tx, *actor, "page.publish", kind.as_str(), details, *now).await?;
    Ok(version)
}

async fn find(tx: &mut dyn Tx, question: &FindPage) -> Result<Option<LegalPage>> {
    let sql = "select kind, version, ko, en, created_at from legal_pages
                where kind = $1 and (cast($2 as bigint) is null or version = $2)
                order by version desc limit 1";
    let read = |row: &Row| {
        Ok(LegalPage {
            kind: row.parse("kind", PageKind::parse)?,
            version: row.get("version")?,
            ko: row.get("ko")?,
            en: row.get("en")?,
            published_at: row.get("created_at")?,
        })
    };
    let values = params![question.kind.as_str(), question.version.map(i64::from)];
    tx.row(sql, values).await?.as_ref().map(read).transpose()
}

async fn versions(tx: &mut dyn Tx, _: &PageVersions) -> Result<Vec<(PageKind, u32)>> {
    let sql = "select kind, max(version) as version from legal_pages group by kind order by kind";
    let read = |row: &Row| Ok((row.parse("kind", PageKind::parse)?, row.get("version")?));
    tx.query(sql, &[]).await?.iter().map(read).collect()
}

async fn consents(tx: &mut dyn Tx, question: &ConsentsOf) -> Result<Vec<ConsentView>> {
    let sql = "select kind, version, given_at from consents where user_id = $1
                order by given_at, kind";
    let read = |row: &Row| {
        let version: Option<i64> = row.get("version")?;
        let version = version.map(u32::try_from).transpose().map_err(Error::broken)?;
        let kind = row.parse("kind", ConsentKind::parse)?;
        Ok(ConsentView { consent: Consent { kind, version }, given_at: row.get("given_at")? })
    };
    tx.query(sql, params![question.user]).await?.iter().map(read).collect()
}

/// Records what a new account agreed to.
pub(crate) async fn record(
    tx: &mut dyn Tx,
    user: UserId,
    consents: &[Consent],
    now: Timestamp,
) -> Result<()> {
    let sql = "insert into consents (user_id, kind, version, given_at) values ($1, $2, $3, $4)";
    for consent in consents {
        let version = consent.version.map(i64::from);
        tx.execute(sql, params![user, consent.kind.as_str(), version, now]).await?;
    }
    Ok(())
}
