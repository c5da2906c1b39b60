//! Lists come in pages, each with the cursor of the next.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// Most rows of one page.
pub const PAGE_MAX: u32 = 100;

/// Which page is asked for: at most `limit` rows, behind `after`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageAsk {
    pub limit: u32,
    pub after: Option<Uuid>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Pass it as `cursor` to get the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Makes a page of rows that were asked for with one more than the limit.
    pub fn cut(mut rows: Vec<T>, limit: u32, id: impl Fn(&T) -> Uuid) -> Page<T> {
        let has_more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let last = rows.last().map(|row| id(row).to_string());
        Page { items: rows, next_cursor: last.filter(|_| has_more) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_with_more_behind_it_has_a_cursor() {
        let ids: Vec<Uuid> = (1..=3).map(Uuid::from_u128).collect();
        let page = Page::cut(ids.clone(), 2, |id| *id);
        assert_eq!(page.items, ids[..2]);
        assert_eq!(page.next_cursor, Some(ids[1].to_string()));
        assert_eq!(Page::cut(ids, 3, |id| *id).next_cursor, None);
    }
}
