//! Stored decisions: whether one matches, what would be the narrowest for something, and how to say one in words. A rule
//! is about a program's file, its words and a folder, never about text.

use switchboard_types::{ArgPattern, RuleEffect, RuleWhat};

use crate::policy::files;
use crate::policy::text::shown;

/// Files that stand for many programs: which one runs is in the name, and a rule knows only the file.
const MANY_IN_ONE: &[&str] =
    &["busybox", "toybox", "coreutils", "uutils", "systemctl", "kmod", "multicall", "sbase-box", "ubase-box"];

/// How closely a rule fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It leaves something open.
    Open,
    /// Every word is the one that it names.
    Exact,
}

/// Whether a rule is about a program with these arguments in this folder.
pub(crate) fn fits_command(what: &RuleWhat, program: &str, args: &[String], cwd: &str) -> Option<Fit> {
    let RuleWhat::Command { program: wanted, args: patterns, cwd: root } = what else { return None };
    if wanted != program || !is_below(cwd, root) {
        return None;
    }
    fits_args(patterns, args)
}

fn fits_args(patterns: &[ArgPattern], args: &[String]) -> Option<Fit> {
    let mut rest = args.iter();
    let mut fit = Fit::Exact;
    for (at, pattern) in patterns.iter().enumerate() {
        match pattern {
            ArgPattern::Is { arg } => {
                if rest.next()? != arg {
                    return None;
                }
            }
            ArgPattern::Any {} => {
                fit = Fit::Open;
                if rest.next()?.starts_with('-') {
                    return None;
                }
            }
            // Anything behind it would never be looked at.
            ArgPattern::Rest {} => return (at + 1 == patterns.len()).then_some(Fit::Open),
        }
    }
    rest.next().is_none().then_some(fit)
}

/// Whether a rule is about changes of this file.
pub(crate) fn fits_edit(what: &RuleWhat, path: &str) -> bool {
    matches!(what, RuleWhat::Edit { glob } if files::matches(glob, path))
}

/// Whether a folder is another or below it, part by part.
fn is_below(folder: &str, root: &str) -> bool {
    let parts = |path: &str| path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let (folder_parts, root_parts) = (parts(folder), parts(root));
    let is_plain = |parts: &[String]| parts.iter().all(|part| part != ".." && part != ".");
    folder.starts_with('/')
        && root.starts_with('/')
        && is_plain(&folder_parts)
        && is_plain(&root_parts)
        && folder_parts.starts_with(&root_parts)
}

/// Whether one file stands for many programs.
pub(crate) fn is_many_in_one(program: &str) -> bool {
    MANY_IN_ONE.contains(&program.rsplit('/').next().unwrap_or(program))
}

/// The narrowest rule for a program with these arguments in this folder.
pub(crate) fn narrow(program: &str, args: &[String], cwd: &str) -> RuleWhat {
    let args = args.iter().map(|arg| ArgPattern::Is { arg: arg.clone() }).collect();
    RuleWhat::Command { program: program.to_owned(), args, cwd: cwd.to_owned() }
}

/// Whether a rule can be stored as it stands.
///
/// # Errors
/// What is wrong with it, in plain words.
pub fn check_rule(effect: RuleEffect, what: &RuleWhat) -> Result<(), String> {
    match what {
        RuleWhat::Command { program, args, cwd } => {
            if !program.starts_with('/') {
                return Err(format!("{} is no absolute path of a program", shown(program)));
            }
            if effect == RuleEffect::Allow && is_many_in_one(program) {
                return Err(format!("{} stands for many programs; a rule cannot tell which one runs", shown(program)));
            }
            if !is_below(cwd, cwd) {
                return Err(format!("{} is no absolute path of a folder", shown(cwd)));
            }
            let last = args.len().saturating_sub(1);
            match args.iter().position(|arg| matches!(arg, ArgPattern::Rest {})) {
                Some(at) if at != last => Err("what stands for all further arguments must come last".to_owned()),
                _ => Ok(()),
            }
        }
        RuleWhat::Edit { glob } => files::check_glob(glob),
        RuleWhat::Tool { .. } => Ok(()),
    }
}

/// What a rule is about, in plain words.
#[must_use]
pub fn describe(what: &RuleWhat) -> String {
    match what {
        RuleWhat::Command { program, args, cwd } => {
            let mut words = vec![shown(program)];
            words.extend(args.iter().map(|arg| match arg {
                ArgPattern::Is { arg } if arg.is_empty() || arg.contains(char::is_whitespace) => {
                    format!("\"{}\"", shown(arg))
                }
                ArgPattern::Is { arg } => shown(arg),
                ArgPattern::Any {} => "<any one argument>".to_owned(),
                ArgPattern::Rest {} => "<any further arguments>".to_owned(),
            }));
            format!("running {} in {} or below it", words.join(" "), shown(cwd))
        }
        RuleWhat::Edit { glob } => format!("changing files that match {}", shown(glob)),
        RuleWhat::Tool { tool } => format!("calling the tool {}", shown(tool.as_str())),
    }
}
