//! Parses the account of spans from the library's printed report.

/// `ended = exported + dropped + …`, with all terms of the report.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Account {
    ended: Option<u64>,
    /// Each number with the text after it.
    terms: Vec<(u64, String)>,
}

impl Account {
    /// Reads the first part of a printed report: `5 spans ended = 3 exported + 2 dropped; …`.
    pub fn of(report: &str) -> Self {
        let spans = report.split(';').next().unwrap_or_default();
        let (ended, terms) = spans.split_once('=').unwrap_or((spans, ""));
        let number = |text: &str| text.split_whitespace().next().and_then(|number| number.parse().ok());
        let term =
            |text: &str| Some((number(text)?, text.trim().trim_start_matches(char::is_numeric).trim().to_owned()));
        Account { ended: number(ended), terms: terms.split('+').filter_map(term).collect() }
    }

    fn term(&self, name: &str) -> u64 {
        self.terms.iter().filter(|(_, text)| text.starts_with(name)).map(|(number, _)| number).sum()
    }

    /// Returns the errors of the account, from the numbers of spans that the program recorded and that the backend
    /// received.
    pub fn failures(&self, made: u64, received: u64) -> Vec<String> {
        let Some(ended) = self.ended else { return vec!["the report has no account of spans".to_owned()] };
        let sum: u64 = self.terms.iter().map(|(number, _)| number).sum();
        let taken = self.term("exported") + self.term("unconfirmed");
        let mut failures = Vec::new();
        if made != ended {
            failures.push(format!("{made} spans were made and {ended} ended"));
        }
        if ended != sum {
            failures.push(format!("{ended} spans ended, and the account has {sum}"));
        }
        if received != taken {
            failures.push(format!("{taken} spans were exported, and the backend received {received}"));
        }
        failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str =
        "10 spans ended = 6 exported + 1 dropped + 2 pending + 1 on disk (0 replayed); 3 metric points exported";

    #[test]
    fn every_term_counts() {
        assert_eq!(Account::of(REPORT).failures(10, 6), Vec::<String>::new());
        let later = REPORT.replace("1 dropped", "1 unconfirmed");
        assert_eq!(Account::of(&later).failures(10, 7), Vec::<String>::new());
    }

    #[test]
    fn each_difference_is_a_failure() {
        assert_eq!(Account::of(REPORT).failures(11, 6).len(), 1);
        assert_eq!(Account::of(REPORT).failures(10, 5).len(), 1);
        assert_eq!(Account::of(&REPORT.replace("2 pending", "3 pending")).failures(10, 6).len(), 1);
        assert_eq!(Account::of("nothing").failures(0, 0).len(), 1);
    }
}
