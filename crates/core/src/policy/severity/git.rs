//! What `git` does, by its subcommand and flags: it can run programs, lose work, or only look.

use switchboard_types::Severity;

use super::flags::Args;
use super::{Cover, Finding};

/// Settings that only change how something looks.
const LOOKS: &[&str] =
    &["color.", "core.quotepath", "advice.", "log.", "column.", "user.name", "user.email", "status.", "diff.algorithm"];
/// Flags of any subcommand that make it run something.
const RUNS: &[&str] = &[
    "--upload-pack",
    "--receive-pack",
    "--exec",
    "--ext-diff",
    "--textconv",
    "--open-files-in-pager",
    "--template",
    "--exec-path",
    "--config-env",
    "--extcmd",
    "--tool",
    "--paginate",
    "--index-filter",
    "--tree-filter",
    "--msg-filter",
    "--env-filter",
    "--sequence-editor",
];
/// Subcommands that can lose work.
const LOSES: &[&str] = &[
    "reset",
    "clean",
    "checkout",
    "restore",
    "switch",
    "branch",
    "tag",
    "stash",
    "reflog",
    "gc",
    "prune",
    "rebase",
    "filter-repo",
    "update-ref",
    "worktree",
    "push",
    "rm",
    "mv",
    "replace",
    "repack",
    "symbolic-ref",
    "read-tree",
    "update-index",
    "notes",
];
/// Flags that looking is allowed to have.
const LOOKING: &[&str] = &[
    "--oneline",
    "--stat",
    "--shortstat",
    "--numstat",
    "--name-only",
    "--name-status",
    "--summary",
    "--graph",
    "--all",
    "--decorate",
    "--no-decorate",
    "--short",
    "--branch",
    "--porcelain",
    "--long",
    "--cached",
    "--staged",
    "--patch",
    "--no-patch",
    "--raw",
    "--minimal",
    "--word-diff",
    "--color",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--follow",
    "--reverse",
    "--merges",
    "--no-merges",
    "--first-parent",
    "--abbrev-commit",
    "--max-count",
    "--since",
    "--until",
    "--after",
    "--before",
    "--author",
    "--grep",
    "--format",
    "--pretty",
    "--date",
    "--show-current",
    "--list",
    "--verbose",
    "--remotes",
    "--show-toplevel",
    "--abbrev-ref",
    "--is-inside-work-tree",
    "--verify",
    "--quiet",
    "--count",
    "--others",
    "--modified",
    "--exclude-standard",
    "--ignored",
    "--untracked-files",
    "--tags",
    "--always",
    "--dirty",
    "--no-renames",
    "--find-renames",
    "--ignore-all-space",
    "--ignore-space-change",
    "--unified",
    "--check",
    "--no-pager",
    "--full-index",
    "--left-right",
    "--merge-base",
    "--sort",
    "--contains",
    "--points-at",
    "--version",
    "--ignore-blank-lines",
    "--function-context",
    "--no-prefix",
    "--exit-code",
    "--relative",
    "--no-show-signature",
    "--name",
    "--tree",
    "--line-number",
    "--files-with-matches",
];

pub(super) fn find(name: &str, args: Args<'_>) -> Option<Finding> {
    if name != "git" {
        return None;
    }
    let call = Call::of(args);
    if call.config
        || args.any(|arg| RUNS.iter().any(|flag| starts(arg, flag)))
        || args.any(|arg| arg.starts_with("ext::"))
    {
        return Some(Finding::high("git can be made to run any program by these words"));
    }
    if let Some(finding) = by_verb(&call, args) {
        return Some(finding);
    }
    if call.is_plain && looks(&call) {
        return Some(Finding::new(Severity::Low, Cover::Switch, "git only looks"));
    }
    if LOSES.contains(&call.verb) && loses(&call) {
        return Some(Finding::medium("it can lose work that git keeps, or that it does not keep yet"));
    }
    Some(Finding::medium("git may change files, run hooks of the folder, or reach another machine"))
}

/// Whether a word is this flag, whole or shortened, with a value or without.
fn starts(arg: &str, flag: &str) -> bool {
    let name = arg.split('=').next().unwrap_or(arg);
    name == flag || (name.len() > 6 && name.starts_with("--") && flag.starts_with(name))
}

fn by_verb(call: &Call<'_>, args: Args<'_>) -> Option<Finding> {
    let rest = Args(call.rest);
    let high = |why: &str| Some(Finding::high(why));
    match call.verb {
        "config"
            if !(rest.long_whole(&["get", "list", "get-all", "get-regexp"])
                || rest.short("l")
                || matches!(rest.verb(), "get" | "list")) =>
        {
            high("it changes git's own settings, which can run programs")
        }
        "filter-branch" | "daemon" | "instaweb" | "difftool" | "mergetool" | "shell" | "credential" | "hook" => {
            high("git runs other programs for this")
        }
        "bisect" if rest.verb() == "run" => high("git runs other programs for this"),
        "submodule" if rest.verb() == "foreach" => high("git runs other programs for this"),
        "rebase" if rest.short("x") => high("git runs other programs for this"),
        "grep" if rest.short("O") => high("git runs other programs for this"),
        "clone" | "fetch" | "pull" | "ls-remote" | "push" if rest.short("u") && call.verb == "clone" => {
            high("git can be made to run any program by these words")
        }
        "archive" if rest.short("o") || args.any(|arg| arg.starts_with("--remote")) => {
            Some(Finding::medium("git writes a file or asks another machine"))
        }
        _ => None,
    }
}

fn loses(call: &Call<'_>) -> bool {
    let rest = Args(call.rest);
    match call.verb {
        "push" => {
            rest.short("fd")
                || rest.any(|arg| arg.starts_with("--force") || arg.starts_with("--fo"))
                || rest.long(&["mirror", "delete", "prune"])
                || rest.operands().any(|word| word.starts_with(['+', ':']))
        }
        "branch" | "tag" | "notes" => rest.short("dDfmM") || rest.long(&["delete", "force"]) || rest.verb() == "remove",
        "stash" => matches!(rest.verb(), "drop" | "clear" | "pop"),
        "reflog" => matches!(rest.verb(), "expire" | "delete"),
        "worktree" => matches!(rest.verb(), "remove" | "prune"),
        _ => true,
    }
}

/// Whether a call only looks, with none but known flags.
fn looks(call: &Call<'_>) -> bool {
    let rest = Args(call.rest);
    let free = match call.verb {
        "status" | "log" | "diff" | "show" | "blame" | "shortlog" | "describe" | "rev-parse" | "rev-list"
        | "ls-files" | "ls-tree" | "merge-base" | "name-rev" | "count-objects" | "version" | "grep" | "cat-file"
        | "diff-tree" | "show-ref" | "for-each-ref" => true,
        "branch" | "remote" => rest.operands().next().is_none() && !rest.short("dDmMcCfu"),
        "tag" => rest.operands().next().is_none() || rest.short("l") || rest.long_whole(&["list"]),
        "stash" | "worktree" => rest.verb() == "list",
        "reflog" => matches!(rest.verb(), "" | "show"),
        _ => false,
    };
    let letters = match call.verb {
        "grep" => "niIlcwFEPveqhHABC0123456789",
        "cat-file" => "pste",
        "blame" => "LwsefnMC0123456789",
        _ => "nspuUvzarlbwBMCSGtc10123456789",
    };
    free && call.rest.iter().all(|arg| is_looking(arg, letters))
}

fn is_looking(arg: &str, letters: &str) -> bool {
    if arg.starts_with("--") {
        return arg == "--" || LOOKING.contains(&arg.split('=').next().unwrap_or(arg));
    }
    match arg.strip_prefix('-') {
        // Some letters carry a value of any form.
        Some(flags) if flags.starts_with(['S', 'G', 'L', 'n', 'e']) => {
            letters.contains(flags.chars().next().unwrap_or('?'))
        }
        Some(flags) => flags.chars().all(|flag| letters.contains(flag)),
        None => true,
    }
}

/// Whether words of this call may be commands.
pub(super) fn runs_words(args: Args<'_>) -> bool {
    let call = Call::of(args);
    call.config
        || matches!(
            call.verb,
            "bisect" | "submodule" | "filter-branch" | "difftool" | "mergetool" | "rebase" | "config"
        )
        || args.any(|arg| RUNS.iter().any(|flag| starts(arg, flag)))
}

/// A call of git, taken apart.
struct Call<'a> {
    verb: &'a str,
    rest: &'a [String],
    /// A setting is given that can run something.
    config: bool,
    /// It works where it stands, with the settings that are there.
    is_plain: bool,
}

impl<'a> Call<'a> {
    fn of(args: Args<'a>) -> Self {
        let mut call = Self { verb: "", rest: &[], config: false, is_plain: true };
        let mut at = 0;
        while let Some(arg) = args.0.get(at) {
            at += 1;
            match arg.as_str() {
                "-c" | "--config-env" => {
                    let setting = args.0.get(at).map_or("", String::as_str);
                    call.set(setting);
                    at += 1;
                }
                "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--super-prefix" => {
                    call.is_plain = false;
                    at += 1;
                }
                "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" | "--version" => {}
                _ if arg.starts_with("-c") => call.set(arg.trim_start_matches("-c")),
                _ if arg.starts_with('-') => call.is_plain = false,
                _ => {
                    call.verb = arg;
                    call.rest = args.0.get(at..).unwrap_or_default();
                    return call;
                }
            }
        }
        if args.has(&["--version"]) {
            call.verb = "version";
        }
        call
    }

    fn set(&mut self, setting: &str) {
        let key = setting.split('=').next().unwrap_or_default().to_lowercase();
        self.is_plain = false;
        self.config |= !LOOKS.iter().any(|known| key.starts_with(known));
    }
}
