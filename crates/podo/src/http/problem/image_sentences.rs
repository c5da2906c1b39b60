//! The sentences about pictures of events.

/// Code, Korean, English; sorted by code.
pub(crate) const IMAGES: &[(&str, &str, &str)] = &[
    (
        "GALLERY_FULL",
        "사진은 8장까지 올릴 수 있어요. 하나를 지우고 다시 올려 주세요.",
        "A gallery has room for 8 pictures. Remove one, then upload again.",
    ),
    (
        "IMAGE_DAMAGED",
        "이미지 파일이 손상되어 읽을 수 없어요.",
        "The image file is damaged and can't be read.",
    ),
    (
        "IMAGE_TOO_LARGE",
        "이미지가 너무 커요. 10MB, 3천만 화소까지 올릴 수 있어요.",
        "The image is too large. The limits are 10 MB and 30 megapixels.",
    ),
    (
        "IMAGE_TOO_SMALL",
        "이미지가 너무 작아요. 가로와 세로가 모두 200픽셀 이상이어야 해요.",
        "The image is too small. Each side needs at least 200 pixels.",
    ),
    (
        "IMAGE_TYPE",
        "JPEG, PNG, WebP 이미지만 올릴 수 있어요.",
        "Only JPEG, PNG and WebP images can be uploaded.",
    ),
];
