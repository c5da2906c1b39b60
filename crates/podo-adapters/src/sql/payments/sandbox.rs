//! The ledger of the built-in sandbox gateway: it remembers its charges, as a real company would.

use crate::gateways::sandbox::{Choice, Page, SandboxBook};
use crate::sql::engine::commands::commands;
use crate::sql::engine::tx::Tx;
use crate::sql::engine::value::params;
use podo_app::Result;
use podo_domain::{PaymentId, Timestamp, Won};

commands! {
    impl SandboxBook for SqlStore {
        write write_page(Write { payment: PaymentId, page: Page, now: Timestamp })
            -> () as Sales => write;
        read page(Read { payment: PaymentId }) -> Option<Page> as Sales => read;
    }
}

async fn write(tx: &mut dyn Tx, command: &Write) -> Result<()> {
    let sql =
        "insert into sandbox_book (payment_id, payment_key, choice, amount, captured, refunded,
                                         voided, asked, created_at, updated_at, awaits)
               values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)
               on conflict (payment_id) do update
                  set payment_key = excluded.payment_key, choice = excluded.choice,
                      amount = excluded.amount, captured = excluded.captured,
                      refunded = excluded.refunded, voided = excluded.voided,
                      asked = excluded.asked, awaits = excluded.awaits, updated_at = excluded.updated_at";
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
        command.now,
        page.awaits
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

async fn read(tx: &mut dyn Tx, question: &Read) -> Result<Option<Page>> {
    let sql = "select payment_key, choice, amount, captured, refunded, voided, asked, awaits
                 from sandbox_book where payment_id = $1";
    let Some(row) = tx.row(sql, params![question.payment]).await? else { return Ok(None) };
    Ok(Some(Page {
        payment_key: row.get("payment_key")?,
        choice: row.parse("choice", Choice::parse)?,
        amount: row.get("amount")?,
        captured: row.get::<Won>("captured")?,
        refunded: row.get("refunded")?,
        voided: row.get("voided")?,
        asked: row.get("asked")?,
        awaits: row.get("awaits")?,
    }))
}
