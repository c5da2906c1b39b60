//! How the seat plan editor drew a section. Only the rows are sold; the shape lets the editor change
//! the number of rows, the bend or the numbers later.

use serde::{Deserialize, Serialize};

/// Equal rows, straight or bent, around a centre.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SectionShape {
    /// The middle of the section, in the units of the seats.
    pub x: i32,
    pub y: i32,
    /// Degrees, clockwise.
    pub rotation: i32,
    pub rows: u32,
    /// The seats of the first row.
    pub seats: u32,
    pub last_seats: u32,
    /// The distance between neighbours.
    pub seat_step: u32,
    /// The distance between rows.
    pub row_step: u32,
    /// The angle of the first row in degrees; 0 is straight.
    pub bend: i32,
    pub numbering: Numbering,
    /// Seats that keep their number but aren't sold: pairs of a row and a position in it, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked: Vec<(u32, u32)>,
    /// Positions without a seat; the numbers go on beyond them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<(u32, u32)>,
}

/// Rules that number the rows and seats of a section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Numbering {
    /// The label of the first row: a number, `A` or `가`.
    pub first_row: String,
    /// The first row is the one farthest from the stage.
    #[serde(default)]
    pub from_back: bool,
    /// The number of the first seat, or `A`.
    pub first_seat: String,
    /// The first seat is the one on the right.
    #[serde(default)]
    pub from_right: bool,
    /// 2 for odd or even numbers only.
    pub step: u32,
    /// Letters skip I and O, which look like 1 and 0.
    #[serde(default, rename = "skipsIO")]
    pub skips_i_o: bool,
}
