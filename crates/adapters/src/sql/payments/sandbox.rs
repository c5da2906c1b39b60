//! The book of the built-in sandbox gateway: it remembers what it charged, as a company would.

use super::super::store::SqlStore;
use super::super::tx::{Tx, work};
use super::super::value::params;
use crate::gateways::sandbox::{Choice, Page, SandboxBook};
use app::Result;
use async_trait::async_trait;
use domain::{PaymentId, Timestamp, Won};

struct Write {
    payment: PaymentId,
    page: Page,
    now: Timestamp,
}

struct Read(PaymentId);

work!(Sales: Write => write, ());
work!(Sales: Read => read, Option<Page>);

#[async_trait]
impl SandboxBook for SqlStore {
    async fn write_page(&self, payment: PaymentId, page: Page, now: Timestamp) -> Result<()> {
        self.write(Write { payment, page, now }).await
    }

    async fn page(&self, payment: PaymentId) -> Result<Option<Page>> {
        self.read(Read(payment)).await
    }
}

async fn write(tx: &mut dyn Tx, command: &Write) -> Result<()> {
    let sql =
        "insert into sandbox_book (payment_id, payment_key, choice, amount, captured, refunded,
                                         voided, asked, created_at, updated_at)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
               on conflict (payment_id) do update
                  set payment_key = excluded.payment_key, choice = excluded.choice,
                      amount = excluded.amount, captured = excluded.captured,
                      refunded = excluded.refunded, voided = excluded.voided,
                      asked = excluded.asked, updated_at = excluded.updated_at";
    let page = &command.page;
    let values = params![
        command.payment,
        &page.payment_key,
        page.choice.as_str(),
        page.amount,
        page.captured,
        page.refunded,
        page.voided,
        page.asked,
        command.now
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn read(tx: &mut dyn Tx, question: &Read) -> Result<Option<Page>> {
    let sql = "select payment_key, choice, amount, captured, refunded, voided, asked
                 from sandbox_book where payment_id = $1";
    let Some(row) = tx.row(sql, params![question.0]).await? else { return Ok(None) };
    Ok(Some(Page {
        payment_key: row.get(0)?,
        choice: row.parse(1, Choice::parse)?,
        amount: row.get(2)?,
        captured: row.get::<Won>(3)?,
        refunded: row.get(4)?,
        voided: row.get(5)?,
        asked: row.get(6)?,
    }))
}
