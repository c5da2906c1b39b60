//! The font of tickets, cut down to the glyphs of one document.

use crate::pdf::pack;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use podo_app::{Error, Result};
use std::collections::BTreeMap;
use subsetter::GlyphRemapper;
use ttf_parser::{Face, GlyphId};

/// NanumSquare without what tickets don't need; see `LICENSE-OFL`.
const FONT: &[u8] = include_bytes!("podo-ticket.ttf");

/// A subset has six letters and a plus before its name.
const NAME: Name<'static> = Name(b"PODOTK+PodoTicket");

const INFO: SystemInfo<'static> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// Stands for a character that the font lacks.
const MISSING: char = '□';

pub(super) struct Subset {
    face: Face<'static>,
    glyphs: GlyphRemapper,
    /// The character of each glyph in use, so that text can be searched and copied.
    used: BTreeMap<u16, (char, GlyphId)>,
    units: f32,
}

impl Subset {
    pub(super) fn open() -> Result<Subset> {
        let face = Face::parse(FONT, 0).map_err(Error::broken)?;
        let units = f32::from(face.units_per_em());
        Ok(Subset { face, glyphs: GlyphRemapper::new(), used: BTreeMap::new(), units })
    }

    /// The bytes that show this text.
    pub(super) fn encode(&mut self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len());
        for letter in text.chars() {
            let (letter, glyph) = self.glyph(letter);
            let number = self.glyphs.remap(glyph.0);
            self.used.insert(number, (letter, glyph));
            bytes.extend(number.to_be_bytes());
        }
        bytes
    }

    /// The width at size one.
    pub(super) fn width(&self, text: &str) -> f32 {
        text.chars().map(|letter| self.advance(self.glyph(letter).1)).sum::<f32>() / 1_000.0
    }

    fn glyph(&self, letter: char) -> (char, GlyphId) {
        let find = |letter: char| self.face.glyph_index(letter).map(|glyph| (letter, glyph));
        find(letter).or_else(|| find(MISSING)).unwrap_or((letter, GlyphId(0)))
    }

    /// In thousandths of the size.
    fn advance(&self, glyph: GlyphId) -> f32 {
        f32::from(self.face.glyph_hor_advance(glyph).unwrap_or(0)) * 1_000.0 / self.units
    }

    /// Writes the font object and its parts: descendant, descriptor, map to Unicode, and file.
    pub(super) fn write(&self, pdf: &mut Pdf, id: Ref, parts: [Ref; 4]) -> Result<()> {
        let [descendant, descriptor, unicode, file] = parts;
        pdf.type0_font(id)
            .base_font(NAME)
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(unicode);
        let mut cid = pdf.cid_font(descendant);
        cid.subtype(CidFontType::Type2).base_font(NAME).system_info(INFO);
        cid.font_descriptor(descriptor).default_width(1_000.0);
        cid.cid_to_gid_map_predefined(Name(b"Identity"));
        let mut widths = cid.widths();
        for (number, (_, glyph)) in &self.used {
            widths.consecutive(*number, [self.advance(*glyph)]);
        }
        widths.finish();
        cid.finish();
        self.write_descriptor(pdf, descriptor, file);
        let mut map = UnicodeCmap::new(Name(b"PodoTicket"), INFO);
        for (number, (letter, _)) in &self.used {
            map.pair(*number, *letter);
        }
        let map = pack(&map.finish())?;
        pdf.stream(unicode, &map).filter(Filter::FlateDecode);
        let subset = subsetter::subset(FONT, 0, &self.glyphs).map_err(Error::broken)?;
        let packed = pack(&subset)?;
        let mut stream = pdf.stream(file, &packed);
        let length = i32::try_from(subset.len()).map_err(Error::broken)?;
        stream.filter(Filter::FlateDecode).pair(Name(b"Length1"), length);
        Ok(())
    }

    fn write_descriptor(&self, pdf: &mut Pdf, id: Ref, file: Ref) {
        let scale = |value: i16| f32::from(value) * 1_000.0 / self.units;
        let bounds = self.face.global_bounding_box();
        let bounds = Rect::new(
            scale(bounds.x_min),
            scale(bounds.y_min),
            scale(bounds.x_max),
            scale(bounds.y_max),
        );
        pdf.font_descriptor(id)
            .name(NAME)
            .flags(FontFlags::SYMBOLIC)
            .bbox(bounds)
            .italic_angle(0.0)
            .ascent(scale(self.face.ascender()))
            .descent(scale(self.face.descender()))
            .cap_height(scale(self.face.capital_height().unwrap_or(700)))
            .stem_v(80.0)
            .font_file2(file);
    }
}
