//! A program's words by their form: short flags joined or apart, long flags whole or shortened, the rest.

/// The words behind a program's name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Args<'a>(pub(super) &'a [String]);

impl<'a> Args<'a> {
    /// Whether one of these letters is among the short flags, joined or not.
    pub(super) fn short(self, letters: &str) -> bool {
        self.flags().any(|arg| {
            arg.strip_prefix('-')
                .is_some_and(|flags| !flags.starts_with('-') && flags.chars().any(|flag| letters.contains(flag)))
        })
    }

    /// Whether one of these long flags is there, also shortened.
    pub(super) fn long(self, names: &[&str]) -> bool {
        self.flags().any(|arg| {
            let name = arg.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or(flag));
            name.is_some_and(|name| !name.is_empty() && names.iter().any(|known| known.starts_with(name)))
        })
    }

    /// Whether a word begins one of these long flags at least that far; for names that others share the beginning of.
    pub(super) fn long_whole(self, names: &[&str]) -> bool {
        self.flags().any(|arg| {
            let name = arg.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or(flag));
            name.is_some_and(|name| names.contains(&name))
        })
    }

    /// Whether one of these words is there.
    pub(super) fn has(self, words: &[&str]) -> bool {
        self.0.iter().any(|arg| words.contains(&arg.as_str()))
    }

    /// Whether some word fits.
    pub(super) fn any(self, fits: impl Fn(&str) -> bool) -> bool {
        self.0.iter().any(|arg| fits(arg))
    }

    /// The words that are no flags.
    pub(super) fn operands(self) -> impl Iterator<Item = &'a str> {
        let mut only = false;
        self.0.iter().map(String::as_str).filter(move |arg| {
            if only {
                return true;
            }
            only = *arg == "--";
            !arg.starts_with('-')
        })
    }

    /// The first word that is no flag.
    pub(super) fn verb(self) -> &'a str {
        self.operands().next().unwrap_or_default()
    }

    fn flags(self) -> impl Iterator<Item = &'a str> {
        self.0.iter().map(String::as_str).take_while(|arg| *arg != "--").filter(|arg| arg.starts_with('-'))
    }
}
