//! What the checks found, in the order of the files. Decides nothing.

use std::fmt;

/// One thing that is wrong, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// All that the checks have to say.
#[derive(Debug, Default)]
pub(crate) struct Report {
    findings: Vec<Finding>,
    hints: Vec<Finding>,
}

impl Report {
    /// Something that must be mended.
    pub(crate) fn find(&mut self, path: &str, line: usize, what: impl Into<String>) {
        self.findings.push(Finding { path: path.to_owned(), line, what: what.into() });
    }

    /// Something to keep an eye on; never makes the run fail.
    pub(crate) fn hint(&mut self, path: &str, line: usize, what: impl Into<String>) {
        self.hints.push(Finding { path: path.to_owned(), line, what: what.into() });
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    fn sorted(all: &[Finding]) -> Vec<&Finding> {
        let mut sorted: Vec<&Finding> = all.iter().collect();
        sorted.sort();
        sorted.dedup();
        sorted
    }

    /// The findings as they are printed.
    #[cfg(test)]
    pub(crate) fn lines(&self) -> Vec<String> {
        Self::sorted(&self.findings).into_iter().map(ToString::to_string).collect()
    }

    /// The hints as they are printed.
    #[cfg(test)]
    pub(crate) fn hint_lines(&self) -> Vec<String> {
        Self::sorted(&self.hints).into_iter().map(ToString::to_string).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hint in Self::sorted(&self.hints) {
            writeln!(f, "hint: {hint}")?;
        }
        let findings = Self::sorted(&self.findings);
        for finding in &findings {
            writeln!(f, "{finding}")?;
        }
        match findings.len() {
            0 => writeln!(f, "tidy: nothing to mend"),
            1 => writeln!(f, "tidy: 1 thing to mend"),
            many => writeln!(f, "tidy: {many} things to mend"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_findings_are_printed_in_order_and_once() {
        let mut report = Report::default();
        report.find("b.rs", 2, "is wrong");
        report.find("a.rs", 10, "is wrong");
        report.find("a.rs", 9, "is wrong");
        report.find("a.rs", 9, "is wrong");
        report.hint("c.rs", 1, "grows");
        let expected =
            "hint: c.rs:1: grows\na.rs:9: is wrong\na.rs:10: is wrong\nb.rs:2: is wrong\ntidy: 3 things to mend\n";
        assert_eq!(report.to_string(), expected);
        assert!(!report.is_clean());
    }

    #[test]
    fn a_hint_alone_leaves_the_report_clean() {
        let mut report = Report::default();
        report.hint("c.rs", 1, "grows");
        assert!(report.is_clean());
    }
}
