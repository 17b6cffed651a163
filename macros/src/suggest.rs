//! "Did you mean": the nearest known word to a misspelled one.

/// Returns the error for a word that is not in `known`: suggests the nearest known word, if one is near, and lists all. `what`
/// names the kind of word.
pub(crate) fn unknown(what: &str, word: &str, known: &[&str]) -> String {
    let list = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let list = if known.len() == 1 { list } else { format!("one of {list}") };
    match nearest(word, known) {
        Some(near) => format!("unknown {what} `{word}`; did you mean `{near}`? expected {list}"),
        None => format!("unknown {what} `{word}`; expected {list}"),
    }
}

/// Returns the known word that is nearest to `word`; `None` if the distance is more than a third of the length of `word`. One
/// edit is always accepted.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    known
        .iter()
        .map(|candidate| (distance(word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the edit distance of two words. Swapping two neighbouring characters counts as one edit: `nmae` for `name`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        assert_eq!(nearest(word, &["attrs", "kind", "links", "parent", "no_err"]), expected);
    }

    #[test]
    fn slips_are_recognised() {
        check("atrs", Some("attrs"));
        check("knid", Some("kind"));
        check("parnet", Some("parent"));
        check("noerr", Some("no_err"));
    }

    #[test]
    fn other_words_are_not() {
        check("level", None);
        check("", None);
    }

    #[test]
    fn the_message_lists_what_there_is() {
        assert_eq!(
            unknown("kind", "cleint", &["client", "server"]),
            "unknown kind `cleint`; did you mean `client`? expected one of `client`, `server`"
        );
        assert_eq!(unknown("option", "a", &["baggage"]), "unknown option `a`; expected `baggage`");
    }
}
