//! One ticket or receipt on one page.

use crate::pdf::FONT;
use crate::pdf::font::Subset;
use pdf_writer::types::TextRenderingMode;
use pdf_writer::{Content, Str};
use podo_app::tickets::documents::{PageSize, ReceiptPage, TicketPage};
use podo_app::{Error, Result};
use qrcode::{Color, EcLevel, QrCode};

/// Measures in points, from the lower left corner.
pub(super) struct Layout {
    pub(super) width: f32,
    pub(super) height: f32,
    margin: f32,
    title: f32,
    text: f32,
    code: f32,
}

impl Layout {
    pub(super) fn of(size: PageSize) -> Layout {
        match size {
            PageSize::A4 => Layout {
                width: 595.0,
                height: 842.0,
                margin: 64.0,
                title: 26.0,
                text: 12.0,
                code: 230.0,
            },
            PageSize::Mobile => Layout {
                width: 360.0,
                height: 740.0,
                margin: 28.0,
                title: 21.0,
                text: 12.0,
                code: 220.0,
            },
        }
    }

    fn inner(&self) -> f32 {
        self.width - 2.0 * self.margin
    }
}

const INK: (f32, f32, f32) = (0.106, 0.09, 0.125);
const QUIET: (f32, f32, f32) = (0.365, 0.341, 0.4);

/// Lines of a title at most.
const TITLE_LINES_MAX: usize = 3;

pub(super) struct Drawing<'d> {
    content: Content,
    layout: &'d Layout,
    subset: &'d mut Subset,
    /// The next baseline.
    y: f32,
}

/// How a text looks.
#[derive(Clone, Copy)]
struct Style {
    size: f32,
    color: (f32, f32, f32),
    is_bold: bool,
}

impl<'d> Drawing<'d> {
    /// The content of a page.
    pub(super) fn of(
        ticket_page: &TicketPage,
        layout: &'d Layout,
        subset: &'d mut Subset,
    ) -> Result<Vec<u8>> {
        let y = layout.height - layout.margin;
        let mut drawing = Drawing { content: Content::new(), layout, subset, y };
        drawing.head(ticket_page);
        drawing.seat(ticket_page);
        drawing.details(ticket_page);
        if let Some(code) = &ticket_page.code {
            drawing.code(code)?;
        }
        drawing.foot(ticket_page);
        Ok(drawing.content.finish().to_vec())
    }

    /// Labels on the left, texts at the right margin.
    pub(super) fn of_receipt(
        receipt: &ReceiptPage,
        layout: &'d Layout,
        subset: &'d mut Subset,
    ) -> Vec<u8> {
        let y = layout.height - layout.margin;
        let mut drawing = Drawing { content: Content::new(), layout, subset, y };
        let (text, title) = (layout.text, layout.title);
        drawing.y -= text;
        drawing.line(&receipt.organiser, Style { size: text, color: QUIET, is_bold: true });
        drawing.y -= title * 1.6;
        drawing.line(&receipt.title, Style { size: title, color: INK, is_bold: true });
        drawing.y -= title;
        let subject = Style { size: text * 1.15, color: INK, is_bold: false };
        for line in drawing.wrapped(&receipt.subject, subject.size, 2) {
            drawing.line(&line, subject);
            drawing.y -= subject.size * 1.5;
        }
        drawing.rule();
        for part in &receipt.parts {
            drawing.rows(part);
        }
        drawing.content.finish().to_vec()
    }

    fn rows(&mut self, rows: &[(String, String)]) {
        let size = self.layout.text;
        let right = self.layout.width - self.layout.margin;
        self.y -= size;
        for (label, text) in rows {
            self.y -= size * 0.9;
            self.write(label, self.layout.margin, Style { size, color: QUIET, is_bold: false });
            for line in self.wrapped_to(text, size, self.layout.inner() * 0.6, 4) {
                let left = right - self.subset.width(&line) * size;
                self.write(&line, left, Style { size, color: INK, is_bold: false });
                self.y -= size * 1.45;
            }
        }
        self.y -= size * 0.3;
        self.rule();
    }

    fn head(&mut self, ticket_page: &TicketPage) {
        let text = self.layout.text;
        let small = Style { size: text, color: QUIET, is_bold: true };
        self.y -= text;
        self.line(&ticket_page.organiser, small);
        self.y -= self.layout.title * 1.6;
        let style = Style { size: self.layout.title, color: INK, is_bold: true };
        for line in self.wrapped(&ticket_page.title, style.size, TITLE_LINES_MAX) {
            self.line(&line, style);
            self.y -= style.size * 1.3;
        }
        self.line(&ticket_page.artist, Style { size: text * 1.15, color: QUIET, is_bold: false });
        self.y -= text * 1.6;
        self.rule();
    }

    fn seat(&mut self, ticket_page: &TicketPage) {
        let size = self.layout.title * 1.15;
        self.y -= size * 1.3;
        let seat = Style { size, color: INK, is_bold: true };
        for line in self.wrapped(&ticket_page.seat, size, 2) {
            self.line(&line, seat);
            self.y -= size * 1.2;
        }
        let grade = Style { size: self.layout.text * 1.15, color: QUIET, is_bold: false };
        self.line(&ticket_page.grade, grade);
        self.y -= self.layout.text * 1.6;
        self.rule();
    }

    fn details(&mut self, ticket_page: &TicketPage) {
        let size = self.layout.text;
        let left = self.layout.margin;
        let indent = size * 6.0;
        self.y -= size * 1.0;
        for (label, words) in &ticket_page.lines {
            self.y -= size * 1.0;
            self.write(label, left, Style { size, color: QUIET, is_bold: false });
            let style = Style { size, color: INK, is_bold: false };
            for line in self.wrapped_to(words, size, self.layout.inner() - indent, 3) {
                self.write(&line, left + indent, style);
                self.y -= size * 1.45;
            }
        }
        self.y -= size * 0.4;
        self.rule();
    }

    /// A code of squares on white, with the empty margin that scanners need.
    fn code(&mut self, text: &str) -> Result<()> {
        let code = QrCode::with_error_correction_level(text, EcLevel::M).map_err(Error::broken)?;
        let (colors, n_wide) = (code.to_colors(), code.width());
        let step = self.layout.code / (n_wide as f32 + 8.0);
        let left = (self.layout.width - self.layout.code) / 2.0 + 4.0 * step;
        let top = self.y - 4.0 * step;
        self.content.set_fill_gray(0.0);
        for (index, color) in colors.iter().enumerate() {
            if *color == Color::Dark {
                let (column, row) = ((index % n_wide) as f32, (index / n_wide) as f32);
                self.content.rect(left + column * step, top - (row + 1.0) * step, step, step);
            }
        }
        self.content.fill_nonzero();
        self.y -= self.layout.code;
        Ok(())
    }

    fn foot(&mut self, ticket_page: &TicketPage) {
        let size = self.layout.text * 0.92;
        self.y -= size * 1.6;
        for line in self.wrapped(&ticket_page.note, size, 3) {
            let width = self.subset.width(&line) * size;
            let left = (self.layout.width - width) / 2.0;
            self.write(&line, left, Style { size, color: QUIET, is_bold: false });
            self.y -= size * 1.5;
        }
    }

    fn line(&mut self, text: &str, style: Style) {
        self.write(text, self.layout.margin, style);
    }

    fn write(&mut self, text: &str, left: f32, style: Style) {
        let bytes = self.subset.encode(text);
        let (r, g, b) = style.color;
        self.content.set_fill_rgb(r, g, b).set_stroke_rgb(r, g, b);
        self.content.begin_text().set_font(FONT, style.size);
        // One weight is embedded: bold text gets a thin outline.
        let mode = match style.is_bold {
            true => TextRenderingMode::FillStroke,
            false => TextRenderingMode::Fill,
        };
        self.content.set_line_width(style.size * 0.028).set_text_rendering_mode(mode);
        self.content.next_line(left, self.y).show(Str(&bytes)).end_text();
    }

    fn rule(&mut self) {
        let (left, right) = (self.layout.margin, self.layout.width - self.layout.margin);
        self.content.set_stroke_gray(0.86).set_line_width(0.8);
        self.content.move_to(left, self.y).line_to(right, self.y).stroke();
    }

    fn wrapped(&self, text: &str, size: f32, n_max: usize) -> Vec<String> {
        self.wrapped_to(text, size, self.layout.inner(), n_max)
    }

    /// Breaks between words, and inside a word only if it is longer than a line. The last line is
    /// cut.
    fn wrapped_to(&self, text: &str, size: f32, width: f32, n_max: usize) -> Vec<String> {
        let fits = |text: &str| self.subset.width(text) * size <= width;
        let mut lines: Vec<String> = vec![String::new()];
        for word in text.split_whitespace() {
            let last = lines.last_mut().expect("there is a first line");
            let joined = if last.is_empty() { word.to_owned() } else { format!("{last} {word}") };
            if fits(&joined) {
                *last = joined;
                continue;
            }
            if !last.is_empty() {
                lines.push(String::new());
            }
            for letter in word.chars() {
                let last = lines.last_mut().expect("there is a first line");
                let longer = format!("{last}{letter}");
                match fits(&longer) || last.is_empty() {
                    true => *last = longer,
                    false => lines.push(letter.to_string()),
                }
            }
        }
        if lines.len() > n_max {
            lines.truncate(n_max);
            if let Some(last) = lines.last_mut() {
                last.pop();
                last.push('…');
            }
        }
        lines
    }
}
