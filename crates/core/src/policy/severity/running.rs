//! Programs that run others, or code that stands in their words.

use super::Finding;
use super::flags::Args;
use crate::policy::reading::Note;
use crate::policy::text::without_version;

const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "mksh",
    "pdksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "rbash",
    "rzsh",
    "yash",
    "nu",
    "elvish",
    "xonsh",
    "pwsh",
    "powershell",
    "cmd",
    "osh",
];
const LANGUAGES: &[&str] = &[
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "tclsh",
    "wish",
    "rscript",
    "r",
    "julia",
    "groovy",
    "jshell",
    "ghci",
    "runghc",
    "irb",
    "ipython",
    "osascript",
    "guile",
    "racket",
    "sbcl",
    "clojure",
    "elixir",
    "erl",
    "swift",
    "scala",
    "kotlin",
    "tsx",
    "ts-node",
    "iex",
    "expect",
    "gdb",
    "lldb",
    "emacs",
    "octave",
];
const BUILDERS: &[&str] = &[
    "make",
    "gmake",
    "cmake",
    "ninja",
    "meson",
    "just",
    "task",
    "rake",
    "scons",
    "bazel",
    "buck",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "bunx",
    "cargo",
    "go",
    "gradle",
    "gradlew",
    "mvn",
    "ant",
    "sbt",
    "lein",
    "pytest",
    "tox",
    "nox",
    "pip",
    "pip3",
    "pipx",
    "poetry",
    "uv",
    "uvx",
    "pipenv",
    "conda",
    "bundle",
    "gem",
    "composer",
    "dotnet",
    "msbuild",
    "tsc",
    "jest",
    "vitest",
    "mocha",
    "eslint",
    "prettier",
    "webpack",
    "vite",
    "turbo",
    "nx",
    "lerna",
    "pre-commit",
    "lefthook",
    "husky",
    "direnv",
    "mise",
    "asdf",
    "nix",
    "nix-build",
    "nix-shell",
    "mix",
    "stack",
    "cabal",
    "zig",
    "swift",
    "xcodebuild",
    "flutter",
    "dart",
    "ansible",
    "vagrant",
    "act",
    "rustup",
    "corepack",
    "fnm",
    "volta",
];

/// Whether a program runs what it reads as commands.
pub(crate) fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name) || SHELLS.contains(&without_version(name))
}

/// Whether a program runs what it reads as code of some language.
pub(crate) fn is_code_reader(name: &str) -> bool {
    LANGUAGES.contains(&without_version(name)) || is_awk(name)
}

fn is_awk(name: &str) -> bool {
    matches!(name, "awk" | "gawk" | "mawk" | "nawk")
}

pub(super) fn find(name: &str, args: Args<'_>, note: Note) -> Option<Finding> {
    if is_shell(name) {
        return Some(shell(args, note));
    }
    if name == "eval" {
        return Some(Finding::high("it runs text that it makes itself"));
    }
    if matches!(name, "source" | ".") {
        return Some(if note.substituted || note.piped {
            Finding::high("it runs text that it makes itself")
        } else {
            Finding::medium("it runs a script")
        });
    }
    if is_awk(name) {
        return awk(args);
    }
    if is_code_reader(name) {
        return Some(language(without_version(name), args, note));
    }
    if let Some(why) = by_flag(name, args) {
        return Some(Finding::high(why));
    }
    if BUILDERS.contains(&name) {
        return Some(Finding::medium("it runs what files of the folder say, which nobody has read here"));
    }
    let passes_on = [
        "env",
        "command",
        "builtin",
        "exec",
        "nohup",
        "setsid",
        "time",
        "nice",
        "ionice",
        "timeout",
        "gtimeout",
        "stdbuf",
        "chrt",
        "taskset",
        "unbuffer",
        "caffeinate",
        "busybox",
        "toybox",
        "strace",
        "ltrace",
        "flock",
        "watch",
        "fakeroot",
        "firejail",
        "entr",
        "dotenv",
        "coproc",
    ];
    passes_on.contains(&name).then(|| Finding::medium("it runs another program"))
}

fn shell(args: Args<'_>, note: Note) -> Finding {
    if note.substituted {
        return Finding::high("it runs text that another command makes");
    }
    let has_text = args.0.iter().any(|arg| !arg.starts_with("--") && arg.starts_with('-') && arg.contains('c'));
    if note.piped && !has_text {
        return Finding::high("it runs text that another command makes");
    }
    if args.has(&["/dev/stdin", "-s", "-"]) || args.short("s") {
        return Finding::high("it runs text that it reads");
    }
    Finding::medium(if has_text { "it runs a text as commands" } else { "it runs a script" })
}

fn language(name: &str, args: Args<'_>, note: Note) -> Finding {
    let letters = match name {
        "python" | "pypy" | "ipython" => "c",
        "php" => "rBRE",
        _ => "eEp",
    };
    let code = args.short(letters)
        || args.long(&["eval", "print", "execute", "command", "run", "eval-command"])
        || args.has(&["eval"]);
    if code || args.any(|arg| arg == "-ex" || arg.starts_with("--eval")) {
        return Finding::high("it runs code that stands in its words");
    }
    if note.substituted || (note.piped && args.operands().next().is_none()) || args.has(&["-", "/dev/stdin"]) {
        return Finding::high("it runs text that another command makes");
    }
    Finding::medium("it runs a program that nobody has read here")
}

fn awk(args: Args<'_>) -> Option<Finding> {
    let risky = |arg: &str| {
        ["system", "getline", "|", ">", "@load", "@include", "close("].iter().any(|sign| arg.contains(sign))
    };
    if args.any(risky) || args.short("ilE") || args.long(&["include", "load", "exec"]) {
        return Some(Finding::high("its text can run programs or write files"));
    }
    if args.short("f")
        || args.long(&["file"])
        || args.short("SdDop")
        || args.long(&["profile", "dump-variables", "debug", "pretty-print"])
    {
        return Some(Finding::medium("it runs a script"));
    }
    None
}

/// Flags that make harmless programs run others.
fn by_flag(name: &str, args: Args<'_>) -> Option<&'static str> {
    let runs = "one of its flags makes it run another program";
    let found = match name {
        "xargs" | "gxargs" | "parallel" => return Some("it runs another command for whatever it is given"),
        "find" | "gfind" => {
            if args.has(&["-exec", "-execdir", "-ok", "-okdir"]) {
                return Some("it runs another command for whatever it finds");
            }
            false
        }
        "fd" | "fdfind" => args.short("xX") || args.long(&["exec", "exec-batch"]),
        "rg" => args.long(&["pre", "pre-glob", "hostname-bin"]),
        "sort" => args.long(&["compress-program"]),
        "tar" | "bsdtar" | "gtar" => {
            args.short("IF")
                || args.any(|arg| arg.starts_with("--to-c") || arg.starts_with("--check") || arg.starts_with("--use-c"))
                || args.long(&[
                    "to-command",
                    "checkpoint-action",
                    "use-compress-program",
                    "rsh-command",
                    "info-script",
                    "new-volume-script",
                ])
        }
        "zip" => args.short("T") || args.long(&["unzip-command", "test"]),
        "sed" | "gsed" => args.any(sed_runs),
        "man" => args.short("PH") || args.long(&["pager", "html"]),
        "vi" | "vim" | "nvim" | "ex" | "view" | "ed" => {
            args.short("cS") || args.any(|arg| arg.starts_with('+') || arg == "--cmd")
        }
        "less" | "more" | "most" => args.any(|arg| arg.starts_with('+')),
        "install" => args.long_whole(&["strip-program"]),
        "split" => args.long(&["filter"]),
        "git-upload-pack" | "git-receive-pack" | "git-shell" => true,
        "tcpdump" => args.short("z"),
        "bat" => args.long_whole(&["pager"]),
        "nmap" => args.long(&["script", "interactive"]),
        "openssl" => args.long(&["engine"]) || args.has(&["-engine", "-provider"]),
        "env" => args.short("S") || args.long(&["split-string"]),
        "script" | "expect" | "tmux" | "screen" => args.short("cX"),
        _ => false,
    };
    found.then_some(runs)
}

/// Whether a script of `sed` runs or writes something: `e` and `w` as commands or flags.
fn sed_runs(script: &str) -> bool {
    if super::harmless::is_plain_sed(script) {
        return false;
    }
    let ends = |flags: &str| {
        let last = script.rsplit(['/', '|', ',', '#', '@', '!', ':']).next().unwrap_or_default();
        let is_flags = last.len() < 6 && last.chars().all(|flag| "gpiIemMw0123456789".contains(flag));
        is_flags && last.contains(|flag: char| flags.contains(flag))
    };
    let commands = |sign: char| {
        script.split([';', '{', '\n']).any(|part| {
            let command =
                part.trim().trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '$' | '!' | ' '));
            command.starts_with(sign) && !command.starts_with("end")
        }) || script.contains(&format!("/{sign} "))
    };
    let is_script = script.contains(['/', ';', '|', ' ', '{']) || script.len() < 4;
    is_script && (commands('e') || commands('w') || commands('W') || (script.trim_start().contains('s') && ends("ew")))
}
