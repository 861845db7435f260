//! The short list: programs that are known to do what their words say and nothing else, with the flags for which that is
//! true. What is not listed is not known.

mod sed;
mod table;

use switchboard_types::Severity;

use self::table::KNOWN;
use super::flags::Args;
use super::{Cover, Finding};

pub(super) use self::sed::is_plain as is_plain_sed;

/// A program with the flags that are known.
struct Known {
    name: &'static str,
    /// Short flags.
    short: &'static str,
    /// Short flags with a value, joined or behind it.
    values: &'static str,
    /// Long flags, with a value behind an equals sign or without.
    long: &'static [&'static str],
    does: Does,
}

/// What a listed program does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    /// It reads files, or says something.
    Reads,
    /// It changes the files that it names.
    Writes,
}

/// Whether a program is on the list.
pub(super) fn is_listed(name: &str) -> bool {
    KNOWN.iter().any(|known| known.name == name)
}

/// What a listed program does with these words; none if it is not listed, or a word is not known.
pub(super) fn find(written: &str, name: &str, args: Args<'_>) -> Option<Finding> {
    let known = KNOWN.iter().find(|known| known.name == name)?;
    if !is_plainly_named(written) {
        return Some(Finding::medium(format!("nobody can tell whether this is the {name} that everybody knows")));
    }
    let is_known =
        if name == "find" { finds(args) } else { flags_are_known(known, args) && words_are_fine(name, args) };
    if !is_known {
        return Some(Finding::medium(format!("nobody can tell beforehand what {name} does with these words")));
    }
    let writes = known.does == Does::Writes || (name == "sed" && args.short("i"));
    Some(match writes {
        true => Finding::new(Severity::Medium, Cover::Switch, "it changes the files that it names"),
        false => Finding::new(Severity::Low, Cover::Switch, "it only reads"),
    })
}

/// Whether a program is named as the system names it, not by a folder that somebody may have filled.
fn is_plainly_named(written: &str) -> bool {
    let folders = ["/bin/", "/usr/bin/", "/usr/local/bin/"];
    let plain =
        |name: &str| name.chars().all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '+' | '.'));
    plain(written) || folders.iter().any(|folder| written.strip_prefix(folder).is_some_and(plain))
}

fn flags_are_known(known: &Known, args: Args<'_>) -> bool {
    let mut rest = args.0.iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            return true;
        }
        if let Some(long) = arg.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            let edits = known.name == "sed" && name == "in-place" && !long.contains('=');
            if !known.long.contains(&name) && !edits && !matches!(name, "help" | "version") {
                return false;
            }
            continue;
        }
        // Signs and words of these programs begin like flags and are none.
        if matches!(known.name, "echo" | "printf" | "test" | "tr") || arg == "-" {
            continue;
        }
        let Some(letters) = arg.strip_prefix('-') else { continue };
        let mut letters = letters.chars();
        while let Some(letter) = letters.next() {
            if known.values.contains(letter) {
                if letters.next().is_none() {
                    rest.next();
                }
                break;
            }
            let edits = known.name == "sed" && letter == 'i';
            if edits && letters.next().is_some() {
                return false;
            }
            if !known.short.contains(letter) && !edits {
                return false;
            }
        }
    }
    true
}

/// What flags alone do not say.
fn words_are_fine(name: &str, args: Args<'_>) -> bool {
    match name {
        // A second word is a file that it writes.
        "uniq" => args.operands().count() <= 1,
        // A word that is no format sets the clock.
        "date" => args.operands().all(|word| word.starts_with('+') || args.has(&["-d", "--date"])),
        "sed" => sed::scripts_are_plain(args),
        "awk" | "gawk" | "mawk" => args.operands().next().is_some_and(|script| !script.contains("ENVIRON")),
        "jq" => args.operands().next().is_some_and(|filter| {
            !["env", "input", "import", "include", "$__"].iter().any(|word| filter.contains(word))
        }),
        "dd" => args.0.iter().all(|arg| {
            ["if=", "of=", "bs=", "count=", "skip=", "seek=", "status="].iter().any(|known| arg.starts_with(known))
        }),
        "which" => args.operands().count() > 0,
        _ => true,
    }
}

/// Whether `find` only looks.
fn finds(args: Args<'_>) -> bool {
    const LOOKS: &[&str] = &[
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-wholename",
        "-regex",
        "-iregex",
        "-type",
        "-maxdepth",
        "-mindepth",
        "-size",
        "-mtime",
        "-mmin",
        "-newer",
        "-empty",
        "-print",
        "-print0",
        "-not",
        "-o",
        "-a",
        "-and",
        "-or",
        "-prune",
        "-depth",
        "-xdev",
        "-mount",
        "-perm",
        "-user",
        "-group",
        "-ls",
        "-true",
        "-false",
        "-L",
        "-P",
        "-H",
        "-readable",
        "-writable",
        "-executable",
        "-quit",
        "-printf",
        "-links",
        "-atime",
        "-ctime",
        "-cmin",
        "-amin",
        "-samefile",
        "-follow",
        "-daystart",
    ];
    // A value may begin like a flag: `-mtime -7`.
    let is_number = |arg: &str| {
        arg.trim_start_matches(['-', '+']).chars().all(|sign| sign.is_ascii_alphanumeric())
            && arg.chars().nth(1).is_some_and(|sign| sign.is_ascii_digit())
    };
    args.0.iter().all(|arg| !arg.starts_with('-') || LOOKS.contains(&arg.as_str()) || is_number(arg))
}
