//! Scripts of `sed`: whether they only replace, print or delete lines.

use crate::policy::severity::flags::Args;

/// Whether every script among the words is plain.
pub(super) fn scripts_are_plain(args: Args<'_>) -> bool {
    let mut scripts = Vec::new();
    let mut rest = args.0.iter();
    while let Some(arg) = rest.next() {
        if let Some(script) = arg.strip_prefix("--expression=") {
            scripts.push(script);
        } else if arg == "-e"
            || arg == "--expression"
            || (arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('e'))
        {
            scripts.extend(rest.next().map(String::as_str));
        } else if arg.starts_with("-e") {
            scripts.extend(arg.strip_prefix("-e"));
        }
    }
    if scripts.is_empty() {
        scripts.extend(args.operands().next());
    }
    !scripts.is_empty() && scripts.into_iter().all(is_plain)
}

/// Whether a script of `sed` only replaces, prints or deletes lines.
pub(in crate::policy::severity) fn is_plain(script: &str) -> bool {
    let script = script.trim();
    let rest = without_addresses(script);
    if matches!(rest, "p" | "d" | "q" | "=" | "P" | "D" | "$!d" | "!p" | "!d") {
        return true;
    }
    let Some(rest) = rest.strip_prefix('s') else { return false };
    let Some(sign) = rest.chars().next().filter(|sign| "/|,#@:!%_".contains(*sign)) else { return false };
    let mut parts = Vec::new();
    let (mut part, mut escaped) = (String::new(), false);
    for character in rest.chars().skip(1) {
        if character == sign && !escaped {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(character);
        }
        escaped = character == '\\' && !escaped;
    }
    parts.len() == 2 && part.chars().all(|flag| "gpiI0123456789".contains(flag))
}

/// A script behind the lines that it is for.
fn without_addresses(script: &str) -> &str {
    let mut rest = script;
    for _ in 0..2 {
        rest = rest.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == '$');
        if let Some(pattern) = rest.strip_prefix('/') {
            match pattern.find('/') {
                Some(at) if !pattern.contains('\\') => rest = pattern.get(at + 1..).unwrap_or_default(),
                _ => return "",
            }
        }
        rest = rest.strip_prefix(',').unwrap_or(rest);
    }
    rest
}
