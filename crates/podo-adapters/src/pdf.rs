//! Tickets and receipts as PDF documents, with the glyphs that they use.

mod font;
mod page;

use crate::pdf::font::Subset;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use page::{Drawing, Layout};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, TextStr};
use podo_app::tickets::documents::{PageSize, ReceiptPage, TicketPage, TicketPrinter};
use podo_app::{Error, Result};
use std::io::Write;

/// Makes documents in memory.
#[derive(Default)]
pub struct PdfPrinter;

/// The resource name of the only font.
const FONT: Name<'static> = Name(b"F");

impl TicketPrinter for PdfPrinter {
    fn print_receipt(&self, receipt: &ReceiptPage) -> Result<Vec<u8>> {
        let mut subset = Subset::open()?;
        let layout = Layout::of(PageSize::A4);
        let page = Drawing::of_receipt(receipt, &layout, &mut subset);
        write(&[page], &layout, &subset, &receipt.title)
    }

    fn print(&self, ticket_pages: &[TicketPage], size: PageSize) -> Result<Vec<u8>> {
        let mut subset = Subset::open()?;
        let layout = Layout::of(size);
        let mut pages = Vec::new();
        for ticket_page in ticket_pages {
            pages.push(Drawing::of(ticket_page, &layout, &mut subset)?);
        }
        let title = ticket_pages.first().map_or("", |ticket_page| &ticket_page.title);
        write(&pages, &layout, &subset, title)
    }
}

/// Hands out the numbers of objects.
struct Refs(i32);

impl Refs {
    fn next(&mut self) -> Ref {
        self.0 += 1;
        Ref::new(self.0)
    }
}

fn write(pages: &[Vec<u8>], layout: &Layout, subset: &Subset, title: &str) -> Result<Vec<u8>> {
    let mut refs = Refs(0);
    let (catalog, tree, font) = (refs.next(), refs.next(), refs.next());
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(tree);
    pdf.document_info(refs.next()).title(TextStr(title)).producer(TextStr("Podo"));
    let ids: Vec<(Ref, Ref)> = pages.iter().map(|_| (refs.next(), refs.next())).collect();
    let count = i32::try_from(pages.len()).map_err(Error::broken)?;
    pdf.pages(tree).kids(ids.iter().map(|(page, _)| *page)).count(count);
    for ((id, content), drawing) in ids.iter().zip(pages) {
        let mut page = pdf.page(*id);
        page.parent(tree).media_box(Rect::new(0.0, 0.0, layout.width, layout.height));
        page.contents(*content);
        page.resources().fonts().pair(FONT, font);
        page.finish();
        let packed = pack(drawing)?;
        pdf.stream(*content, &packed).filter(Filter::FlateDecode);
    }
    let parts = [refs.next(), refs.next(), refs.next(), refs.next()];
    subset.write(&mut pdf, font, parts)?;
    Ok(pdf.finish())
}

fn pack(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).map_err(Error::broken)?;
    encoder.finish().map_err(Error::broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket_page() -> TicketPage {
        TicketPage {
            organiser: "포도".to_owned(),
            title: "세레인 월드투어 〈밤의 정원〉 앙코르 콘서트 인 서울, 뷁똠방각하".to_owned(),
            artist: "세레인".to_owned(),
            lines: vec![("일시".to_owned(), "2027년 1월 16일 토요일 오후 6시".to_owned())],
            seat: "A구역 12열 15번".to_owned(),
            grade: "VIP".to_owned(),
            code: Some("PODO1.AZ5kV2hpY2ggY29kZSBpcyB0aGlzPyBhIHRlc3Qgb2YgbGVuZ3Ro".to_owned()),
            note: "입구에서 이 코드를 보여 주세요.".to_owned(),
        }
    }

    #[test]
    fn a_document_is_small_and_ends_as_it_should() {
        for size in [PageSize::A4, PageSize::Mobile] {
            let ticket_pages: Vec<TicketPage> = (0..10).map(|_| ticket_page()).collect();
            let pdf = PdfPrinter.print(&ticket_pages, size).unwrap();
            assert!(pdf.starts_with(b"%PDF-") && pdf.ends_with(b"%%EOF"), "{size:?}");
            assert!(pdf.len() < 200_000, "{size:?}: {} bytes", pdf.len());
        }
    }

    #[test]
    fn a_receipt_is_one_page() {
        let row = |label: &str, text: &str| (label.to_owned(), text.to_owned());
        let receipt = ReceiptPage {
            organiser: "포도".to_owned(),
            title: "영수증".to_owned(),
            subject: "밤의 정원".to_owned(),
            parts: vec![
                vec![row("구매자", "김포도"), row("좌석", &"A-1, ".repeat(30))],
                vec![row("VIP × 2", "300,000원"), row("합계", "300,000원")],
            ],
        };
        let pdf = PdfPrinter.print_receipt(&receipt).unwrap();
        assert!(pdf.starts_with(b"%PDF-") && pdf.len() < 100_000, "{} bytes", pdf.len());
    }

    #[test]
    fn a_glyph_that_the_font_lacks_is_replaced() {
        let odd = TicketPage { title: "防弾少年団 🎤 \u{7}".to_owned(), ..ticket_page() };
        assert!(PdfPrinter.print(&[odd], PageSize::A4).is_ok());
    }
}
