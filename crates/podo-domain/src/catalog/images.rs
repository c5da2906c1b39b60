//! Pictures of an event, the poster and the gallery: what may be uploaded, and what is cut from it.

use crate::Refusal;
use std::fmt;
use std::str::FromStr;

/// Largest file that is read.
pub const BYTES_MAX: usize = 10 * 1024 * 1024;

/// Longest side, in pixels.
pub const SIDE_MAX: u32 = 10_000;

/// Most pixels of a picture: an A3 page at 300 dpi has 17 million.
pub const PIXELS_MAX: u64 = 30_000_000;

/// Shortest side that is left of a picture.
pub const SIDE_MIN: u32 = 200;

/// Pictures of a gallery, beside the poster.
pub const GALLERY_MAX: u8 = 8;

/// The widths that are made of each picture, unless it is smaller.
pub const WIDTHS: [u32; 3] = [320, 640, 1280];

/// A poster's width and height.
pub const POSTER_RATIO: (u32, u32) = (3, 4);

/// The formats that are read, told apart by their first bytes: names and headers may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFormat {
    Jpeg,
    Png,
    Webp,
}

impl ImageFormat {
    pub fn of(bytes: &[u8]) -> Result<ImageFormat, Refusal> {
        match bytes {
            [0xFF, 0xD8, 0xFF, ..] => Ok(ImageFormat::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Ok(ImageFormat::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => {
                Ok(ImageFormat::Webp)
            }
            _ => Err(Refusal::ImageType),
        }
    }
}

/// Checks the size that a file declares, before its pixels are decoded.
pub fn check_size(width: u32, height: u32) -> Result<(), Refusal> {
    let n_pixels = u64::from(width) * u64::from(height);
    if SIDE_MAX < width.max(height) || PIXELS_MAX < n_pixels {
        return Err(Refusal::ImageTooLarge);
    }
    match width.min(height) < SIDE_MIN {
        true => Err(Refusal::ImageTooSmall),
        false => Ok(()),
    }
}

/// What an organiser chose to show of a picture: a point in hundredths of its sides, and how much
/// closer than the whole, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub focus_x: u32,
    pub focus_y: u32,
    pub zoom: u32,
}

impl Default for Frame {
    fn default() -> Frame {
        Frame { focus_x: 50, focus_y: 50, zoom: 100 }
    }
}

/// A part of a picture, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

impl Frame {
    pub const ZOOM_MAX: u32 = 400;

    /// The poster's part of a picture: as large as the zoom permits, around the point as far as the
    /// borders permit. The page that previews it computes the same.
    pub fn cut(self, width: u32, height: u32) -> Cut {
        let (wide, high) = POSTER_RATIO;
        let zoom = u64::from(self.zoom.clamp(100, Frame::ZOOM_MAX));
        let unit = u64::from(width / wide).min(u64::from(height / high)) * 100 / zoom;
        let side = |ratio: u32| u32::try_from(unit.max(1) * u64::from(ratio)).unwrap_or(u32::MAX);
        let (cut_width, cut_height) = (side(wide).min(width), side(high).min(height));
        let start = |whole: u32, part: u32, focus: u32| {
            let middle = u64::from(whole) * u64::from(focus.min(100)) / 100;
            let first = middle.saturating_sub(u64::from(part / 2));
            u32::try_from(first).unwrap_or(u32::MAX).min(whole - part)
        };
        Cut {
            x: start(width, cut_width, self.focus_x),
            y: start(height, cut_height, self.focus_y),
            width: cut_width,
            height: cut_height,
        }
    }
}

/// The widths that are made of a picture: ours below its own, and its own if that is less than the
/// largest.
pub fn widths_of(width: u32) -> Vec<u32> {
    let mut widths: Vec<u32> = WIDTHS.into_iter().filter(|it| *it <= width).collect();
    let largest = widths.last().copied().unwrap_or_default();
    if width < WIDTHS[WIDTHS.len() - 1] && largest < width {
        widths.push(width);
    }
    widths
}

/// The name of stored pictures: a hash of their content, so that a file never changes under its
/// name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageHash(pub [u8; 16]);

impl fmt::Display for ImageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl ImageHash {
    pub fn parse(text: &str) -> Option<ImageHash> {
        let is_hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
        if text.len() != 32 || !text.bytes().all(is_hex) {
            return None;
        }
        let mut hash = [0; 16];
        for (index, byte) in hash.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[index * 2..index * 2 + 2], 16).ok()?;
        }
        Some(ImageHash(hash))
    }
}

/// The name of one stored file: `HASH-WIDTH.jpg`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageFile {
    pub hash: ImageHash,
    pub width: u32,
}

impl fmt::Display for ImageFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}.jpg", self.hash, self.width)
    }
}

impl FromStr for ImageFile {
    type Err = Refusal;

    /// Accepts only what `Display` writes, so a name never leaves its folder.
    fn from_str(text: &str) -> Result<ImageFile, Refusal> {
        let name = text.strip_suffix(".jpg").and_then(|it| it.split_once('-'));
        let (hash, width) = name.ok_or(Refusal::NotFound)?;
        let file = ImageFile {
            hash: ImageHash::parse(hash).ok_or(Refusal::NotFound)?,
            width: width.parse().map_err(|_error| Refusal::NotFound)?,
        };
        if file.to_string() == text { Ok(file) } else { Err(Refusal::NotFound) }
    }
}

/// A colour as red, green and blue.
pub type Rgb = [u8; 3];

/// The colour, darkened until white text on it has a contrast of 4.5 to 1 at least.
pub fn dark_tone(colour: Rgb) -> Rgb {
    let mut tone = colour;
    while contrast_with_white(tone) < 4.5 {
        tone = tone.map(|it| u8::try_from(u32::from(it) * 95 / 100).unwrap_or(it));
    }
    tone
}

/// As WCAG defines it.
fn contrast_with_white(colour: Rgb) -> f64 {
    let part = |value: u8| {
        let share = f64::from(value) / 255.0;
        if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    };
    let [red, green, blue] = colour.map(part);
    1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_format_is_told_by_the_first_bytes() {
        assert_eq!(ImageFormat::of(&[0xFF, 0xD8, 0xFF, 0xE1]), Ok(ImageFormat::Jpeg));
        assert_eq!(ImageFormat::of(b"\x89PNG\r\n\x1a\n...."), Ok(ImageFormat::Png));
        assert_eq!(ImageFormat::of(b"RIFF\0\0\0\0WEBPVP8 "), Ok(ImageFormat::Webp));
        for other in [b"GIF89a".as_slice(), b"<svg", b"", b"RIFF\0\0\0\0WAVE", b"%PDF-1.7"] {
            assert_eq!(ImageFormat::of(other), Err(Refusal::ImageType));
        }
    }

    #[test]
    fn a_size_is_refused_before_its_pixels_are_decoded() {
        assert_eq!(check_size(3_508, 4_961), Ok(()));
        assert_eq!(check_size(10_001, 300), Err(Refusal::ImageTooLarge));
        assert_eq!(check_size(6_000, 6_000), Err(Refusal::ImageTooLarge));
        assert_eq!(check_size(u32::MAX, u32::MAX), Err(Refusal::ImageTooLarge));
        assert_eq!(check_size(199, 800), Err(Refusal::ImageTooSmall));
    }

    #[test]
    fn only_smaller_pictures_are_made_of_a_picture() {
        assert_eq!(widths_of(4_000), [320, 640, 1280]);
        assert_eq!(widths_of(1_280), [320, 640, 1280]);
        assert_eq!(widths_of(480), [320, 480]);
        assert_eq!(widths_of(250), [250]);
    }

    #[test]
    fn the_whole_height_of_a_wide_picture_is_shown_around_the_point() {
        let frame = Frame { focus_x: 0, ..Frame::default() };
        let cut = frame.cut(1_600, 800);
        assert_eq!(cut, Cut { x: 0, y: 0, width: 600, height: 800 });
        assert_eq!(Frame::default().cut(1_600, 800).x, 500);
        assert_eq!(Frame { zoom: 200, ..Frame::default() }.cut(1_600, 800).height, 400);
    }

    #[test]
    fn a_name_that_we_did_not_write_is_unknown() {
        let name = "00112233445566778899aabbccddeeff-640.jpg";
        assert_eq!(name.parse::<ImageFile>().unwrap().to_string(), name);
        for wrong in [
            "00112233445566778899AABBCCDDEEFF-640.jpg",
            "00112233445566778899aabbccddeeff-0640.jpg",
            "00112233445566778899aabbccddeeff-+64.jpg",
            "../secret.key",
            "00112233445566778899aabbccddeeff.jpg",
            "é0112233445566778899aabbccddeef-640.jpg",
        ] {
            assert_eq!(wrong.parse::<ImageFile>(), Err(Refusal::NotFound), "{wrong}");
        }
    }

    #[test]
    fn white_text_is_readable_on_every_tone() {
        for colour in [[255, 255, 255], [255, 220, 0], [0, 255, 0], [20, 20, 20]] {
            assert!(4.5 <= contrast_with_white(dark_tone(colour)), "{colour:?}");
        }
        assert_eq!(dark_tone([20, 20, 20]), [20, 20, 20]);
    }

    proptest! {
        #[test]
        fn a_cut_lies_inside_its_picture(
            width in SIDE_MIN..SIDE_MAX,
            height in SIDE_MIN..SIDE_MAX,
            focus_x in 0..=100u32,
            focus_y in 0..=100u32,
            zoom in 100..=400u32,
        ) {
            let cut = Frame { focus_x, focus_y, zoom }.cut(width, height);
            prop_assert!(0 < cut.width && 0 < cut.height);
            prop_assert!(cut.x + cut.width <= width && cut.y + cut.height <= height);
            prop_assert_eq!(cut.width * 4, cut.height * 3);
        }
    }
}
