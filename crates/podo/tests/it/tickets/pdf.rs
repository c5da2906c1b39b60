//! The time that a PDF may take.

use crate::support::world::{Plan, World, config, until};
use podo::bootstrap;
use podo_adapters::pdf::PdfPrinter;
use podo_app::Result;
use podo_app::tickets::documents::{PageSize, ReceiptPage, TicketPage, TicketPress, TicketPrinter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tempfile::TempDir;

/// The real printer, which gets stuck at its first document until the test lets it go on.
struct StuckPrinter {
    was_stuck: AtomicBool,
    go_on: Mutex<Receiver<()>>,
}

impl TicketPrinter for StuckPrinter {
    fn print(&self, ticket_pages: &[TicketPage], size: PageSize) -> Result<Vec<u8>> {
        if !self.was_stuck.swap(true, Ordering::SeqCst) {
            // The sender is gone when the test has ended.
            self.go_on.lock().unwrap().recv().ok();
        }
        PdfPrinter.print(ticket_pages, size)
    }

    fn print_receipt(&self, receipt: &ReceiptPage) -> Result<Vec<u8>> {
        PdfPrinter.print_receipt(receipt)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pdf_that_takes_too_long_is_refused_and_others_are_made_meanwhile() {
    let folder = TempDir::with_prefix("podo-").unwrap();
    let config = config(folder.path(), &[]);
    let mut bootstrapped = bootstrap::context(&config).await.unwrap();
    let (let_go, go_on) = channel();
    let (was_stuck, go_on) = (AtomicBool::new(false), Mutex::new(go_on));
    let printer = Arc::new(StuckPrinter { was_stuck, go_on });
    bootstrapped.context.tickets.press = Some(TicketPress::new(printer.clone()));
    let world = World::on(&config, bootstrapped).await;
    let show = world.show(Plan::default()).await;
    let fan = world.fan_inside(&show).await;
    let bought = fan.buy(&show, 0).await;
    let path = format!("/api/tickets/{}/pdf", bought.ticket);

    let begun = Instant::now();
    let is_over = AtomicBool::new(false);
    let slow = async {
        let answer = fan.api.get(&path).await;
        is_over.store(true, Ordering::SeqCst);
        answer
    };
    let meanwhile = async {
        until("the first one is stuck", async || {
            printer.was_stuck.load(Ordering::SeqCst).then_some(())
        })
        .await;
        fan.api.get(&path).await.expect(200);
        assert!(!is_over.load(Ordering::SeqCst));
    };
    let (slow, ()) = tokio::join!(slow, meanwhile);
    slow.refused(503, "UNAVAILABLE");
    let took = begun.elapsed();
    assert!((9..20).contains(&took.as_secs()), "{took:?}");
    let_go.send(()).unwrap();
    fan.api.get(&path).await.expect(200);
    world.finish().await;
}
