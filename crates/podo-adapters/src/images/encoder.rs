//! Decodes JPEG, PNG and WebP, and encodes JPEG in several widths. Nothing else of a file survives.

use image::codecs::jpeg::JpegEncoder as Encoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder, ImageError, ImageReader, Limits, RgbImage};
use podo_app::catalog::images::port::{DecodedImages, ImageEncoder};
use podo_app::{Error, Result};
use podo_domain::Refusal;
use podo_domain::catalog::images::{
    Frame, ImageFormat, PIXELS_MAX, Rgb, SIDE_MAX, check_size, dark_tone, widths_of,
};
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Files half as large as at 92, without a visible difference on photographs.
const QUALITY: u8 = 80;

/// Four bytes of each pixel: deeper pictures have to be smaller.
const DECODED_MAX: u64 = PIXELS_MAX * 4;

/// What a decoder may allocate beside the pixels themselves.
const SCRATCH_MAX: u64 = 32 * 1024 * 1024;

pub struct JpegEncoder;

impl ImageEncoder for JpegEncoder {
    fn encode(
        &self,
        bytes: &[u8],
        format: ImageFormat,
        frame: Option<Frame>,
    ) -> Result<DecodedImages> {
        // A decoder that panics has a bug, but the file is what it is: damaged.
        let decoded = catch_unwind(AssertUnwindSafe(|| decode(bytes, format)));
        let decoded = decoded.map_err(|_panic| Refusal::ImageDamaged)??;
        write(&on_white(decoded), frame)
    }
}

fn decode(bytes: &[u8], format: ImageFormat) -> Result<DynamicImage> {
    let format = match format {
        ImageFormat::Jpeg => image::ImageFormat::Jpeg,
        ImageFormat::Png => image::ImageFormat::Png,
        ImageFormat::Webp => image::ImageFormat::WebP,
    };
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE_MAX);
    limits.max_image_height = Some(SIDE_MAX);
    limits.max_alloc = Some(DECODED_MAX + SCRATCH_MAX);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(meaning)?;
    // The header alone is read so far.
    let (width, height) = decoder.dimensions();
    check_size(width, height)?;
    if DECODED_MAX < decoder.total_bytes() {
        return Err(Refusal::ImageTooLarge.into());
    }
    let orientation = decoder.orientation().map_err(meaning)?;
    let mut decoded = DynamicImage::from_decoder(decoder).map_err(meaning)?;
    decoded.apply_orientation(orientation);
    Ok(decoded)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the list of errors is not ours")]
fn meaning(error: ImageError) -> Error {
    match error {
        ImageError::Limits(_) => Refusal::ImageTooLarge.into(),
        _ => Refusal::ImageDamaged.into(),
    }
}

/// JPEG has no transparency.
fn on_white(decoded: DynamicImage) -> RgbImage {
    if !decoded.color().has_alpha() {
        return decoded.into_rgb8();
    }
    let layered = decoded.into_rgba8();
    let mix = |value: u8, alpha: u8| {
        let (value, alpha) = (u32::from(value), u32::from(alpha));
        u8::try_from((value * alpha + 255 * (255 - alpha)) / 255).unwrap_or(255)
    };
    RgbImage::from_fn(layered.width(), layered.height(), |x, y| {
        let [red, green, blue, alpha] = layered.get_pixel(x, y).0;
        image::Rgb([red, green, blue].map(|it| mix(it, alpha)))
    })
}

fn write(whole: &RgbImage, frame: Option<Frame>) -> Result<DecodedImages> {
    let (width, height) = whole.dimensions();
    let cut = frame.map(|frame| frame.cut(width, height));
    let mut shown = match cut {
        Some(cut) => {
            image::imageops::crop_imm(whole, cut.x, cut.y, cut.width, cut.height).to_image()
        }
        None => whole.clone(),
    };
    let (width, height) = shown.dimensions();
    let widths = widths_of(width);
    let mut files = Vec::new();
    let mut largest = None;
    // Each from the next larger one, which is quick and looks the same.
    for wanted in widths.into_iter().rev() {
        if wanted < shown.width() {
            let high = (u64::from(height) * u64::from(wanted) / u64::from(width)).max(1);
            let high = u32::try_from(high).map_err(Error::broken)?;
            shown = image::imageops::resize(&shown, wanted, high, FilterType::CatmullRom);
        }
        largest.get_or_insert(shown.dimensions());
        files.push((wanted, jpeg(&shown)?));
    }
    files.reverse();
    let (width, height) = largest.ok_or(Refusal::ImageTooSmall)?;
    let [red, green, blue] = dark_tone(typical_colour(&shown));
    Ok(DecodedImages { files, width, height, tone: format!("#{red:02x}{green:02x}{blue:02x}") })
}

fn jpeg(shown: &RgbImage) -> Result<Vec<u8>> {
    let mut file = Vec::new();
    Encoder::new_with_quality(&mut file, QUALITY).encode_image(shown).map_err(Error::broken)?;
    Ok(file)
}

/// Hues that are told apart.
const HUES: usize = 12;

/// The mean of the most frequent hue: the mean of all pixels would be grey. Colourful pixels count
/// more than grey ones.
fn typical_colour(shown: &RgbImage) -> Rgb {
    let mut groups = [([0_u64; 3], 0_u64); HUES];
    for image::Rgb(colour) in shown.pixels() {
        let (hue, weight) = hue_of(*colour);
        let (sums, weights) = &mut groups[hue];
        *weights += weight;
        for (sum, part) in sums.iter_mut().zip(colour) {
            *sum += u64::from(*part) * weight;
        }
    }
    let heaviest = groups.into_iter().max_by_key(|(_, weights)| *weights);
    let (sums, weights) = heaviest.unwrap_or_default();
    sums.map(|sum| u8::try_from(sum / weights.max(1)).unwrap_or(u8::MAX))
}

/// The group of a pixel's hue, and how much the pixel counts.
fn hue_of([red, green, blue]: Rgb) -> (usize, u64) {
    let (red, green, blue) = (i32::from(red), i32::from(green), i32::from(blue));
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let range = most - least;
    let weight = u64::from(range.unsigned_abs()) + 1;
    if range == 0 {
        return (0, weight);
    }
    // In sixths of the circle of colours, times 60.
    let degrees = match most {
        it if it == red => 60 * (green - blue) / range,
        it if it == green => 120 + 60 * (blue - red) / range,
        _ => 240 + 60 * (red - green) / range,
    };
    let group = degrees.rem_euclid(360).unsigned_abs() as usize * HUES / 360;
    (group.min(HUES - 1), weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageEncoder as _, Rgba, RgbaImage};
    use proptest::prelude::*;

    fn picture(width: u32, height: u32) -> RgbImage {
        RgbImage::from_fn(width, height, |x, y| {
            image::Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, 90])
        })
    }

    fn as_file(picture: &RgbImage, format: image::ImageFormat) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        picture.write_to(&mut file, format).unwrap();
        file.into_inner()
    }

    fn encode(bytes: &[u8], frame: Option<Frame>) -> Result<DecodedImages> {
        JpegEncoder.encode(bytes, ImageFormat::of(bytes)?, frame)
    }

    fn refusal(bytes: &[u8]) -> Option<Refusal> {
        match encode(bytes, None) {
            Err(Error::Refused(refusal)) => Some(refusal),
            Err(other) => panic!("{other}"),
            Ok(_) => None,
        }
    }

    #[test]
    fn every_format_becomes_jpegs_of_our_widths() {
        for format in [image::ImageFormat::Jpeg, image::ImageFormat::Png, image::ImageFormat::WebP]
        {
            let file = as_file(&picture(900, 700), format);
            let made = encode(&file, Some(Frame::default())).unwrap();
            // The poster's part of 900 × 700 is 525 × 700.
            assert_eq!((made.width, made.height), (525, 700));
            let widths: Vec<u32> = made.files.iter().map(|(width, _)| *width).collect();
            assert_eq!(widths, [320, 525]);
            for (width, file) in &made.files {
                let read = image::load_from_memory(file).unwrap();
                assert_eq!((read.width(), read.height()), (*width, width * 4 / 3));
            }
        }
    }

    #[test]
    fn where_a_photograph_was_taken_is_forgotten_and_how_it_was_held_is_applied() {
        let mut file = Vec::new();
        let mut encoder = Encoder::new_with_quality(&mut file, 90);
        encoder.set_exif_metadata(exif_turned("37.5665N")).unwrap();
        let whole = picture(600, 400);
        encoder.write_image(&whole, 600, 400, image::ExtendedColorType::Rgb8).unwrap();
        assert!(file.windows(8).any(|it| it == b"37.5665N"));
        let made = encode(&file, None).unwrap();
        assert_eq!((made.width, made.height), (400, 600), "the phone was held upright");
        for (_, file) in &made.files {
            assert!(!file.windows(4).any(|it| it == b"Exif"));
            assert!(!file.windows(8).any(|it| it == b"37.5665N"));
        }
    }

    /// A TIFF header with the orientation 6 (turn right), followed by a text.
    fn exif_turned(text: &str) -> Vec<u8> {
        let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0".to_vec();
        exif.extend(text.as_bytes());
        exif
    }

    #[test]
    fn what_is_transparent_becomes_white() {
        let clear = RgbaImage::from_pixel(300, 300, Rgba([10, 20, 30, 0]));
        let mut file = Cursor::new(Vec::new());
        clear.write_to(&mut file, image::ImageFormat::Png).unwrap();
        let made = encode(&file.into_inner(), None).unwrap();
        let read = image::load_from_memory(&made.files[0].1).unwrap().into_rgb8();
        assert!(read.pixels().all(|it| it.0.iter().all(|part| 250 < *part)));
    }

    #[test]
    fn a_truncated_file_is_damaged_wherever_it_ends() {
        for format in [image::ImageFormat::Png, image::ImageFormat::WebP] {
            let file = as_file(&picture(300, 300), format);
            for kept in (20..file.len() - 20).step_by(file.len() / 40 + 1) {
                assert_eq!(
                    refusal(&file[..kept]),
                    Some(Refusal::ImageDamaged),
                    "{format:?} {kept}"
                );
            }
        }
        // Of a JPEG the decoder shows what has arrived, so only a missing head is damage.
        let file = as_file(&picture(300, 300), image::ImageFormat::Jpeg);
        assert_eq!(refusal(&file[..100]), Some(Refusal::ImageDamaged));
    }

    #[test]
    fn a_bomb_is_refused_by_the_size_that_it_declares() {
        let mut png = as_file(&picture(300, 300), image::ImageFormat::Png);
        // A few hundred bytes that claim 9,999 × 9,999 pixels, with the right checksum.
        png[16..20].copy_from_slice(&9_999_u32.to_be_bytes());
        png[20..24].copy_from_slice(&9_999_u32.to_be_bytes());
        let mut sum = flate2::Crc::new();
        sum.update(&png[12..29]);
        png[29..33].copy_from_slice(&sum.sum().to_be_bytes());
        assert_eq!(refusal(&png), Some(Refusal::ImageTooLarge));
        let mut jpeg = as_file(&picture(300, 300), image::ImageFormat::Jpeg);
        let frame = jpeg.windows(2).position(|it| it == [0xFF, 0xC0]).unwrap();
        jpeg[frame + 5..frame + 9].copy_from_slice(&[0xFF, 0xFF, 0xFF, 0xFF]);
        assert_eq!(refusal(&jpeg), Some(Refusal::ImageTooLarge));
    }

    #[test]
    fn a_deep_picture_may_not_decode_to_more_than_a_flat_one() {
        // 16 bits of each of four channels: eight bytes a pixel, of zeros that compress to nothing.
        let deep = image::ImageBuffer::from_pixel(4_000, 5_000, Rgba([0_u16; 4]));
        let mut file = Cursor::new(Vec::new());
        DynamicImage::ImageRgba16(deep).write_to(&mut file, image::ImageFormat::Png).unwrap();
        let file = file.into_inner();
        assert!(file.len() < 1_000_000, "{}", file.len());
        assert_eq!(refusal(&file), Some(Refusal::ImageTooLarge));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Any bytes behind any head are an answer, never a panic.
        #[test]
        fn garbage_is_refused(
            head in 0..3_usize,
            garbage in proptest::collection::vec(any::<u8>(), 0..2_000),
        ) {
            let head: &[u8] =
                [b"\xFF\xD8\xFF\xE0".as_slice(), b"\x89PNG\r\n\x1a\n", b"RIFF\x10\0\0\0WEBP"][head];
            let file = [head, &garbage].concat();
            prop_assert!(refusal(&file).is_some());
        }

        /// A file with some bytes changed is a picture or a refusal.
        #[test]
        fn a_changed_file_is_a_picture_or_a_refusal(
            format in 0..3_usize,
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let formats =
                [image::ImageFormat::Jpeg, image::ImageFormat::Png, image::ImageFormat::WebP];
            let mut file = as_file(&picture(220, 220), formats[format]);
            for (at, value) in changes {
                let at = at.index(file.len());
                file[at] = value;
            }
            refusal(&file);
        }
    }
}
