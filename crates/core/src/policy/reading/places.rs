//! Which words of a program are files, and what it does with them. Knows the usual programs; the others' words are their own.

use super::{Target, Touch};
use crate::policy::text::program_name;

/// Devices that take or give without keeping anything.
pub(crate) fn standard_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero" | "/dev/full")
}

/// Programs that take their words as files to read, and the short options of theirs that take a value.
const READERS: &[(&str, &str)] = &[
    ("cat", ""),
    ("head", "nc"),
    ("tail", "nc"),
    ("wc", ""),
    ("nl", ""),
    ("od", "tAjNw"),
    ("hexdump", "nse"),
    ("strings", "nte"),
    ("cut", "dfcb"),
    ("sort", "kto"),
    ("uniq", "fsw"),
    ("comm", ""),
    ("diff", "UC"),
    ("cmp", "in"),
    ("paste", "d"),
    ("fold", "w"),
    ("column", "sct"),
    ("tac", ""),
    ("rev", ""),
    ("stat", "cf"),
    ("file", ""),
    ("du", "d"),
    ("df", "B"),
    ("tree", "LPI"),
    ("ls", "IwT"),
    ("realpath", ""),
    ("readlink", ""),
    ("md5sum", ""),
    ("sha1sum", ""),
    ("sha256sum", ""),
    ("sha512sum", ""),
    ("b2sum", ""),
    ("cksum", ""),
    ("test", ""),
    ("less", ""),
    ("more", ""),
    ("bat", ""),
    ("base64", "w"),
    ("xxd", "lsc"),
    ("zcat", ""),
    ("source", ""),
    (".", ""),
];
/// Programs whose first word is a pattern, or a program of their own, and the rest files.
const SEARCHERS: &[(&str, &str)] = &[
    ("grep", "ABCmefdD"),
    ("egrep", "ABCmefdD"),
    ("fgrep", "ABCmefdD"),
    ("rg", "ABCmefgtTjrM"),
    ("sed", "efl"),
    ("awk", "vfF"),
    ("gawk", "vfF"),
    ("mawk", "vfF"),
    ("jq", "fL"),
];
/// Programs that change every file that they are given.
const WRITERS: &[(&str, &str, usize)] = &[
    ("tee", "", 0),
    ("touch", "drt", 0),
    ("truncate", "sr", 0),
    ("rm", "", 0),
    ("rmdir", "", 0),
    ("unlink", "", 0),
    ("mkdir", "m", 0),
    ("mkfifo", "m", 0),
    ("mknod", "m", 0),
    ("shred", "ns", 0),
    ("srm", "", 0),
    ("chmod", "", 1),
    ("chown", "", 1),
    ("chgrp", "", 1),
    ("chattr", "", 1),
    ("setfacl", "mxMX", 0),
    ("gzip", "S", 0),
    ("gunzip", "S", 0),
    ("xz", "", 0),
    ("bzip2", "", 0),
    ("zstd", "o", 0),
    ("patch", "pdio", 0),
    ("zip", "", 0),
    ("split", "", 0),
    ("vi", "", 0),
    ("vim", "", 0),
    ("nano", "", 0),
    ("ed", "", 0),
    ("ex", "", 0),
];

/// All files that a command names.
pub(super) fn touched(words: &[String]) -> Vec<Target> {
    let Some((first, args)) = words.split_first() else { return Vec::new() };
    let name = program_name(first);
    let mut targets = Vec::new();
    let mut add = |touch: Touch, path: &str| {
        if !path.is_empty() && path != "-" && !standard_device(path) {
            targets.push(Target { path: path.to_owned(), touch });
        }
    };
    if let Some((_, values)) = READERS.iter().find(|(known, _)| *known == name) {
        operands(args, values).into_iter().for_each(|path| add(Touch::Reads, path));
    }
    if let Some((_, values)) = SEARCHERS.iter().find(|(known, _)| *known == name) {
        let has_script =
            args.iter().any(|arg| is_flag(arg, "ef", &["--regexp", "--file", "--expression", "--from-file"]));
        let in_place = name == "sed" && args.iter().any(|arg| is_flag(arg, "i", &["--in-place"]));
        let touch = if in_place { Touch::Writes } else { Touch::Reads };
        operands(args, values).into_iter().skip(usize::from(!has_script)).for_each(|path| add(touch, path));
    }
    if let Some((_, values, skip)) = WRITERS.iter().find(|(known, ..)| *known == name) {
        operands(args, values).into_iter().skip(*skip).for_each(|path| add(Touch::Writes, path));
    }
    match name.as_str() {
        "cp" | "mv" | "ln" | "install" | "rsync" | "scp" => moved(&name, args, &mut add),
        "dd" => {
            args.iter().filter_map(|arg| arg.strip_prefix("of=")).for_each(|path| add(Touch::Writes, path));
            args.iter().filter_map(|arg| arg.strip_prefix("if=")).for_each(|path| add(Touch::Reads, path));
        }
        "curl" | "wget" => fetched(&name, args, &mut add),
        "tar" | "bsdtar" | "unzip" | "7z" => unpacked(&name, args, &mut add),
        "find" | "gfind" => {
            args.iter().take_while(|arg| !arg.starts_with(['-', '(', '!'])).for_each(|path| add(Touch::Reads, path));
        }
        "git" => operands(args, "cC").into_iter().skip(1).for_each(|path| add(Touch::Reads, path)),
        _ => {}
    }
    written_by_flag(&name, args, &mut add);
    targets
}

/// Files that a flag names.
fn written_by_flag(name: &str, args: &[String], add: &mut impl FnMut(Touch, &str)) {
    let known: (&str, &[&str]) = match name {
        "sort" => ("o", &["--output"]),
        "tree" | "zstd" | "patch" => ("o", &["--output"]),
        "git" => ("", &["--output"]),
        "find" | "gfind" => ("", &["-fprint", "-fprintf", "-fprint0", "-fls"]),
        "gcc" | "cc" | "clang" | "g++" | "rustc" | "go" | "tsc" | "esbuild" => ("o", &["--outfile", "--outDir"]),
        "openssl" => ("", &["-out"]),
        _ => return,
    };
    values_of(args, known.0, known.1).into_iter().for_each(|path| add(Touch::Writes, path));
}

fn moved(name: &str, args: &[String], add: &mut impl FnMut(Touch, &str)) {
    let values = if matches!(name, "rsync" | "scp") { "eTfoPiFlSc" } else { "tSmog" };
    let folders = values_of(args, "t", &["--target-directory"]);
    let mut sources: Vec<&str> = operands(args, values).into_iter().filter(|path| !folders.contains(path)).collect();
    let into: Vec<&str> = match (folders.is_empty(), sources.len()) {
        (true, 0) => return,
        // A link with one name is made in the folder itself.
        (true, 1) => vec!["."],
        (true, _) => sources.pop().into_iter().collect(),
        (false, _) => folders,
    };
    let from = if name == "mv" { Touch::Writes } else { Touch::Reads };
    for folder in &into {
        if *folder != "." {
            add(Touch::Writes, folder);
        }
        for source in &sources {
            let end = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            if !end.is_empty() && end != "." && end != ".." {
                add(Touch::Writes, &format!("{}/{end}", folder.trim_end_matches('/')));
            }
        }
    }
    sources.into_iter().for_each(|source| add(from, source));
}

fn fetched(name: &str, args: &[String], add: &mut impl FnMut(Touch, &str)) {
    let (short, long): (&str, &[&str]) = match name {
        "curl" => ("oDc", &["--output", "--output-dir", "--dump-header", "--cookie-jar", "--trace", "--trace-ascii"]),
        _ => ("OPoa", &["--output-document", "--directory-prefix", "--output-file", "--append-output"]),
    };
    let named = values_of(args, short, long);
    let by_address = match name {
        "wget" => named.is_empty(),
        _ => args.iter().any(|arg| is_flag(arg, "OJ", &["--remote-name"])),
    };
    if by_address {
        for address in args.iter().filter(|arg| !arg.starts_with('-')) {
            let path = address.split(['?', '#']).next().unwrap_or_default();
            add(Touch::Writes, path.rsplit('/').next().unwrap_or_default());
        }
    }
    named.into_iter().for_each(|path| add(Touch::Writes, path));
}

fn unpacked(name: &str, args: &[String], add: &mut impl FnMut(Touch, &str)) {
    let (short, long): (&str, &[&str]) = match name {
        "unzip" => ("d", &[]),
        "7z" => ("o", &[]),
        _ => ("C", &["--directory"]),
    };
    let folders = values_of(args, short, long);
    if folders.is_empty() {
        add(Touch::Writes, ".");
    }
    folders.into_iter().for_each(|path| add(Touch::Writes, path));
    let archives = values_of(args, "f", &["--file"]);
    let bundled = args.first().filter(|first| !first.starts_with('-') && first.contains('f') && name != "unzip");
    let archives = archives.into_iter().chain(bundled.and_then(|_| args.get(1)).map(String::as_str));
    archives.for_each(|path| add(Touch::Writes, path));
}

/// Whether a word is one of these flags.
fn is_flag(arg: &str, short: &str, long: &[&str]) -> bool {
    match arg.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') => long.contains(&arg.split('=').next().unwrap_or(arg)),
        Some(letters) => letters.chars().any(|letter| short.contains(letter)),
        None => false,
    }
}

/// The words that are no flags and no values of flags.
fn operands<'a>(args: &'a [String], values: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let (mut rest, mut only) = (args.iter(), false);
    while let Some(arg) = rest.next() {
        if only || !arg.starts_with('-') || arg == "-" {
            found.push(arg.as_str());
        } else if arg == "--" {
            only = true;
        } else if !arg.starts_with("--") && arg.chars().last().is_some_and(|last| values.contains(last)) {
            rest.next();
        } else if let Some((_, value)) = arg.split_once('=') {
            found.push(value);
        }
    }
    found
}

/// The values of some flags, however they are joined to them.
fn values_of<'a>(args: &'a [String], short: &str, long: &[&str]) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = args.iter().peekable();
    while let Some(arg) = rest.next() {
        let joined = arg.split_once('=');
        if long.contains(&arg.as_str()) {
            found.extend(rest.peek().map(|next| next.as_str()));
        } else if let Some((_, value)) = joined.filter(|(flag, _)| long.contains(flag)) {
            found.push(value);
        } else if let Some(letters) = arg.strip_prefix('-').filter(|letters| !letters.starts_with('-'))
            && let Some((at, letter)) = letters.char_indices().find(|(_, letter)| short.contains(*letter))
        {
            match letters.get(at + letter.len_utf8()..).filter(|value| !value.is_empty()) {
                Some(value) => found.push(value),
                None => found.extend(rest.peek().map(|next| next.as_str())),
            }
        }
    }
    found
}

/// Whether paths may lead elsewhere once this has run.
pub(super) fn moves_paths(words: &[String]) -> bool {
    let Some((first, args)) = words.split_first() else { return false };
    match program_name(first).as_str() {
        "ln" | "mv" | "git" | "tar" | "bsdtar" | "unzip" | "patch" | "rsync" => {
            !matches!(args.first().map(String::as_str), Some("status" | "diff" | "log" | "show"))
        }
        "cp" => {
            args.iter().any(|arg| is_flag(arg, "adPRr", &["--archive", "--recursive", "--no-dereference", "--link"]))
        }
        _ => false,
    }
}

/// Whether this only makes sense within the shell that runs it.
pub(super) fn changes_the_shell(words: &[String]) -> bool {
    const BUILTINS: &[&str] = &[
        "cd",
        "pushd",
        "popd",
        "export",
        "alias",
        "unalias",
        "set",
        "unset",
        "shopt",
        "trap",
        "umask",
        "source",
        ".",
        "eval",
        "exec",
        "builtin",
        "hash",
        "read",
        "mapfile",
        "readarray",
        "wait",
        "ulimit",
        "declare",
        "local",
        "typeset",
        "readonly",
        "let",
        "return",
        "exit",
        "break",
        "continue",
        "shift",
        "enable",
        "bind",
        "fg",
        "bg",
        "jobs",
        "disown",
        "logout",
        "suspend",
        ":",
    ];
    words.first().is_some_and(|first| BUILTINS.contains(&first.as_str()))
}
