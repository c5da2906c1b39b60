//! Names that a fan may mean while typing: by their beginning, by Korean initial consonants, and
//! with a spelling mistake.

/// Fewest letters of a word whose spelling is compared: everything is close to a shorter one.
const SPELLED_MIN: usize = 3;

/// Most mistakes in a word.
const MISTAKES_MAX: usize = 3;

/// The names that match the text, the best first.
pub fn matching<'n>(text: &str, names: &[&'n str], limit: usize) -> Vec<&'n str> {
    let wanted = folded(text);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<(usize, &str)> =
        names.iter().filter_map(|name| Some((rank(&wanted, name)?, *name))).collect();
    // Stable, so that equals stay in the order of the list.
    found.sort_by_key(|(rank, _)| *rank);
    let mut names: Vec<&str> = Vec::new();
    for (_, name) in found {
        if !names.contains(&name) && names.len() < limit {
            names.push(name);
        }
    }
    names
}

/// How well a name matches; `None` if it doesn't.
fn rank(wanted: &str, name: &str) -> Option<usize> {
    let whole = folded(name);
    let starts = |part: &str| folded(part).starts_with(wanted);
    if whole.starts_with(wanted) {
        Some(0)
    } else if words(name).any(starts) {
        Some(1)
    } else if whole.contains(wanted) {
        Some(2)
    } else if is_initials(wanted) && words(name).any(|word| initials(word).starts_with(wanted)) {
        Some(3)
    } else {
        None
    }
}

/// The name, or the word of one, that the text most likely misspells.
pub fn spelled<'n>(text: &str, names: &[&'n str]) -> Option<&'n str> {
    let wanted = letters(text);
    if wanted.len() < SPELLED_MIN {
        return None;
    }
    let allowed = (wanted.len() / 4).clamp(1, MISTAKES_MAX);
    let near = |name: &'n str| {
        let n_mistakes = distance(&wanted, &letters(name), allowed)?;
        (n_mistakes > 0).then_some((n_mistakes, name))
    };
    let candidates = names.iter().flat_map(|name| std::iter::once(*name).chain(words(name)));
    candidates.filter_map(near).min_by_key(|(n_mistakes, _)| *n_mistakes).map(|(_, name)| name)
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|it: char| !it.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Without spaces, punctuation and upper case.
fn folded(text: &str) -> String {
    text.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

const SYLLABLES: std::ops::RangeInclusive<u32> = 0xac00..=0xd7a3;
const FINALS: u32 = 28;
const VOWELS_AND_FINALS: u32 = 588;

/// The initial consonants in the order of the syllables, as keyboards write them.
const INITIALS: [char; 19] = [
    'ㄱ', 'ㄲ', 'ㄴ', 'ㄷ', 'ㄸ', 'ㄹ', 'ㅁ', 'ㅂ', 'ㅃ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅉ', 'ㅊ', 'ㅋ',
    'ㅌ', 'ㅍ', 'ㅎ',
];

fn is_initials(text: &str) -> bool {
    text.chars().all(|it| INITIALS.contains(&it))
}

/// `ㅊㅍㄷ` of `청포도`.
fn initials(word: &str) -> String {
    let initial = |it: char| {
        let code = u32::from(it);
        if !SYLLABLES.contains(&code) {
            return it;
        }
        let at = (code - SYLLABLES.start()) / VOWELS_AND_FINALS;
        INITIALS.get(at as usize).copied().unwrap_or(it)
    };
    word.chars().map(initial).collect()
}

/// The letters of a text; a Korean syllable has two or three, so that one wrong vowel is one
/// mistake and not a whole wrong syllable.
fn letters(text: &str) -> Vec<u32> {
    let mut letters = Vec::new();
    for it in folded(text).chars() {
        let code = u32::from(it);
        if !SYLLABLES.contains(&code) {
            letters.push(code);
            continue;
        }
        let index = code - SYLLABLES.start();
        letters.push(0x1100 + index / VOWELS_AND_FINALS);
        letters.push(0x1161 + index % VOWELS_AND_FINALS / FINALS);
        if !index.is_multiple_of(FINALS) {
            letters.push(0x11a7 + index % FINALS);
        }
    }
    letters
}

/// Letters to insert, remove, replace or swap; `None` if more than allowed.
fn distance(a: &[u32], b: &[u32], allowed: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > allowed {
        return None;
    }
    let mut two_above = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1; b.len() + 1];
        for (j, other) in b.iter().enumerate() {
            let replaced = above[j] + usize::from(letter != other);
            row[j + 1] = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i - 1] == *other && b[j - 1] == *letter {
                row[j + 1] = row[j + 1].min(two_above[j - 1] + 1);
            }
        }
        two_above = std::mem::replace(&mut above, row);
    }
    above.last().copied().filter(|n_mistakes| *n_mistakes <= allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] =
        ["청포도", "청포도 전국 투어: 여름의 끝", "거봉", "Harvest Moon", "머스캣 오케스트라"];

    #[test]
    fn a_name_is_suggested_by_its_beginning_a_word_or_its_initials() {
        let found = |text: &str| matching(text, &NAMES, 5);
        assert_eq!(found("청포"), [NAMES[0], NAMES[1]]);
        assert_eq!(found("moon"), ["Harvest Moon"]);
        assert_eq!(found("HARVESTM"), ["Harvest Moon"], "without the space");
        assert_eq!(found("ㅊㅍㄷ"), [NAMES[0], NAMES[1]]);
        assert_eq!(found("ㅇㅋ"), ["머스캣 오케스트라"], "of any word");
        assert_eq!(found("투어"), [NAMES[1]]);
        assert!(found("없는").is_empty() && found(" ").is_empty() && found("...").is_empty());
        assert_eq!(matching("청포", &NAMES, 1).len(), 1);
        assert_eq!(matching("청포도", &["청포도", "청포도"], 5), ["청포도"], "none twice");
    }

    #[test]
    fn a_misspelt_word_finds_the_right_one() {
        let right = |text: &str| spelled(text, &NAMES);
        assert_eq!(right("청포두"), Some("청포도"), "a wrong vowel");
        assert_eq!(right("harvset"), Some("Harvest"), "swapped letters");
        assert_eq!(right("머스켓"), Some("머스캣"));
        assert_eq!(right("오캐스트라"), Some("오케스트라"));
        assert_eq!(right("청포도"), None, "what is right needs no help");
        assert_eq!(right("바나나"), None);
        assert_eq!(right("거"), None, "too short to judge");
    }

    #[test]
    fn mistakes_are_counted_by_letter() {
        let n = |a: &str, b: &str| distance(&letters(a), &letters(b), 3);
        assert_eq!(n("봄", "봄"), Some(0));
        assert_eq!(n("봄", "붐"), Some(1));
        assert_eq!(n("봄", "보"), Some(1), "a missing final consonant");
        assert_eq!(n("ab", "ba"), Some(1));
        assert_eq!(n("abcd", "wxyz"), None);
        assert_eq!(n("", "abcd"), None);
    }
}
