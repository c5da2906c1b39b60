//! Layouts exported by other systems: a plain list of seats per section, each with its row.

use crate::catalog::template::rows::{RowTemplate, SingleSeat};
use crate::catalog::template::{SectionTemplate, SectionedTemplate, text_or_number};
use serde::Deserialize;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatList {
    pub sections: Vec<SeatListSection>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeatListSection {
    #[serde(deserialize_with = "text_or_number")]
    pub name: String,
    /// The grade of its seats; the section's name if absent.
    #[serde(default)]
    pub grade: Option<String>,
    pub seats: Vec<ListedSeat>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedSeat {
    #[serde(deserialize_with = "text_or_number")]
    pub row: String,
    #[serde(deserialize_with = "text_or_number")]
    pub number: String,
    pub x: i32,
    pub y: i32,
    #[serde(default)]
    pub grade: Option<String>,
    #[serde(default)]
    pub accessible: bool,
    #[serde(default)]
    pub companion: bool,
    #[serde(default, alias = "view_restricted", alias = "restrictedView")]
    pub restricted_view: bool,
}

impl From<SeatList> for SectionedTemplate {
    fn from(list: SeatList) -> SectionedTemplate {
        let sections = list.sections.into_iter().map(SectionTemplate::from).collect();
        SectionedTemplate { stage: None, focus: None, sections }
    }
}

impl From<SeatListSection> for SectionTemplate {
    fn from(section: SeatListSection) -> SectionTemplate {
        let mut rows: Vec<RowTemplate> = Vec::new();
        for seat in section.seats {
            let index = rows.iter().position(|row| row.label == seat.row).unwrap_or_else(|| {
                rows.push(RowTemplate { label: seat.row.clone(), ..RowTemplate::default() });
                rows.len() - 1
            });
            rows[index].seats.push(SingleSeat {
                number: seat.number,
                x: seat.x,
                y: seat.y,
                grade: seat.grade,
                accessible: seat.accessible,
                companion: seat.companion,
                restricted_view: seat.restricted_view,
            });
        }
        let grade = section.grade.unwrap_or_else(|| section.name.clone());
        SectionTemplate {
            name: section.name,
            grade: Some(grade),
            rows,
            standing: None,
            shape: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::SeatTemplate;
    use serde_json::json;

    #[test]
    fn seats_are_grouped_by_row_and_take_the_grade_of_their_section() {
        let seat = |row: &str, number: u32| json!({"row": row, "number": number, "x": 10, "y": 5});
        let list = json!({"sections": [
            {"name": "VIP", "seats": [seat("A", 1), seat("B", 1), seat("A", 2)]},
            {"name": "Balcony", "grade": "S", "seats": [
                {"row": 1, "number": 7, "x": 1, "y": 2, "accessible": true, "view_restricted": true}]},
        ]});
        let list: SeatList = serde_json::from_value(list).unwrap();
        let plan = SeatTemplate::Sections(list.into()).plan().unwrap();
        let seats: Vec<(&str, &str)> =
            plan.seats.iter().map(|it| (it.number.as_str(), it.grade.as_str())).collect();
        let expected =
            [("VIP-A-1", "VIP"), ("VIP-A-2", "VIP"), ("VIP-B-1", "VIP"), ("Balcony-1-7", "S")];
        assert_eq!(seats, expected);
        assert!(plan.seats[3].accessible && plan.seats[3].restricted_view);
    }
}
