//! How bad a command looks, at a modest look that errs upwards: what is not known is worth a look, what could destroy
//! something is said so wherever its words stand. Decides nothing; no command is harmless to it.

use switchboard_types::Severity;

/// Programs that make their arguments run with more rights.
const MORE_RIGHTS: &[&str] =
    &["sudo", "doas", "su", "pkexec", "run0", "runuser", "gsudo", "setpriv", "chroot", "nsenter"];
/// Programs that destroy a disk, or stop the machine.
const RUIN: &[&str] = &[
    "fdisk",
    "sfdisk",
    "gdisk",
    "parted",
    "wipefs",
    "shred",
    "blkdiscard",
    "cryptsetup",
    "mkswap",
    "lvremove",
    "vgremove",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "init",
    "telinit",
];
/// Programs that end others, change who may do what, or what runs by itself.
const UNSETTLE: &[&str] = &[
    "killall",
    "pkill",
    "chown",
    "chgrp",
    "chattr",
    "setfacl",
    "mount",
    "umount",
    "crontab",
    "at",
    "systemctl",
    "launchctl",
    "iptables",
    "nft",
    "ufw",
    "useradd",
    "userdel",
    "usermod",
    "passwd",
    "visudo",
    "insmod",
    "rmmod",
    "modprobe",
    "sysctl",
    "truncate",
    "unlink",
    "rmdir",
    "srm",
];
/// Programs that fetch.
const FETCH: &[&str] = &["curl", "wget", "fetch", "aria2c", "iwr", "nc", "ncat", "socat"];
/// Programs that run what they read.
const INTERPRET: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "csh", "tcsh", "python", "python3", "perl", "ruby", "node",
    "deno", "bun", "php", "lua", "pwsh", "iex", "source", "eval", "exec", ".",
];
/// Variables that change which program, or which code, runs.
const STEERING: &[&str] = &[
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "BROWSER",
    "SHELL",
    "HOME",
    "RUSTC_WRAPPER",
    "RUSTC",
    "CC",
    "CXX",
    "MAKEFLAGS",
    "ZDOTDIR",
    "LESSOPEN",
    "LESSCLOSE",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
];
/// How such variables begin.
const STEERING_BEGINS: &[&str] = &["LD_", "DYLD_", "GIT_", "CARGO_", "NPM_CONFIG_", "BASH_FUNC_", "GCONV_"];
/// More than anybody reads.
const LONG_BYTES: usize = 8 * 1024;

/// How bad it could be to run these words with these variables, and why.
pub(super) fn severity_of_command(env: &[(String, String)], words: &[String]) -> (Severity, &'static str) {
    let text = words.join(" ");
    let parts = parts(&text);
    let found = [
        of_ruin(&text, &parts),
        of_fetching(&text, &parts),
        of_programs(&parts),
        of_flags(&parts),
        of_looks(&text, env),
    ];
    let unknown = (Severity::Medium, "nobody can tell beforehand what a command does");
    found.into_iter().flatten().fold(unknown, |worst, one| if one.0 > worst.0 { one } else { worst })
}

type Finding = Option<(Severity, &'static str)>;

/// The words of a text however it is quoted, joined or nested, each without its folder.
fn parts(text: &str) -> Vec<String> {
    let cleaned: String = text.chars().filter(|character| !matches!(character, '\\' | '\'' | '"')).collect();
    let between = |character: char| character.is_whitespace() || ";|&()<>{}`$,[]".contains(character);
    let parts = cleaned.split(between).filter(|part| !part.is_empty());
    parts.map(|part| if part == "/" { part } else { part.rsplit('/').next().unwrap_or(part) }.to_lowercase()).collect()
}

fn has(parts: &[String], names: &[&str]) -> bool {
    parts.iter().any(|part| names.contains(&part.as_str()))
}

/// Whether one of the words is a short flag with this letter in it, or this long flag or a beginning of it.
fn flag(parts: &[String], letters: &[char], long: &str) -> bool {
    parts.iter().any(|part| match part.strip_prefix("--") {
        Some(name) => name.len() > 2 && long.starts_with(name.split('=').next().unwrap_or(name)),
        None => part.strip_prefix('-').is_some_and(|short| short.contains(letters)),
    })
}

fn of_ruin(text: &str, parts: &[String]) -> Finding {
    let dense: String = text.split_whitespace().collect();
    if dense.contains("(){") && dense.contains("|") && dense.contains("&") {
        return Some((Severity::Critical, "it looks like a program that starts itself without end"));
    }
    if has(parts, RUIN) || parts.iter().any(|part| part.starts_with("mkfs")) {
        return Some((Severity::Critical, "it can destroy a disk or stop the machine"));
    }
    if text.contains("/dev/sd")
        || text.contains("/dev/nvme")
        || text.contains("/dev/vd")
        || text.contains("/dev/mapper")
    {
        return Some((Severity::Critical, "it names a disk"));
    }
    if has(parts, &["rm"]) && flag(parts, &['r'], "recursive") {
        return Some((Severity::Critical, "it deletes folders with all that is in them"));
    }
    if has(parts, &["find", "fd"]) && has(parts, &["-delete"]) {
        return Some((Severity::Critical, "it deletes whatever it finds"));
    }
    None
}

fn of_fetching(text: &str, parts: &[String]) -> Finding {
    if has(parts, FETCH) && has(parts, INTERPRET) {
        return Some((Severity::Critical, "it can run what it fetches from elsewhere"));
    }
    let piped = text.split('|').skip(1).map(parts_of_first);
    if piped.flatten().any(|word| INTERPRET.contains(&word.as_str())) || has(parts, &["eval", "source"]) {
        return Some((Severity::High, "it runs text that it makes itself"));
    }
    None
}

/// The first words after a pipe: a program may stand behind another that only passes it on.
fn parts_of_first(text: &str) -> Vec<String> {
    parts(text).into_iter().take(3).collect()
}

fn of_programs(parts: &[String]) -> Finding {
    if has(parts, MORE_RIGHTS) {
        return Some((Severity::High, "it asks for more rights than you have given"));
    }
    if has(parts, UNSETTLE) {
        return Some((Severity::High, "it changes more than files, or what cannot be brought back"));
    }
    if has(parts, &["dd"]) {
        return Some((Severity::High, "it writes raw bytes wherever it is told"));
    }
    let publishes = has(parts, &["publish", "deploy", "destroy", "release"])
        && has(
            parts,
            &["npm", "pnpm", "yarn", "cargo", "twine", "gem", "terraform", "tofu", "pulumi", "gh", "kubectl", "helm"],
        );
    if publishes {
        return Some((Severity::High, "what it does elsewhere cannot be taken back"));
    }
    None
}

fn of_flags(parts: &[String]) -> Finding {
    let high = |why| Some((Severity::High, why));
    if has(parts, &["rm"]) && flag(parts, &['f'], "force") {
        return high("it deletes files without asking");
    }
    if has(parts, &["chmod"]) && (parts.iter().any(|part| open_mode(part)) || flag(parts, &['r'], "recursive")) {
        return high("it opens files to everybody, or changes many at once");
    }
    if has(parts, &["git"]) && git_loses(parts) {
        return high("it can lose work that git keeps");
    }
    if has(parts, &["find", "fd", "xargs"]) && has(parts, &["-exec", "-execdir", "-ok", "xargs", "-x"]) {
        return high("it runs another command for whatever it finds");
    }
    if has(parts, &["kill"]) && parts.iter().any(|part| part == "-1") {
        return high("it ends programs that it did not start");
    }
    None
}

fn open_mode(part: &str) -> bool {
    let digits = part.trim_start_matches('0');
    matches!(digits, "777" | "666" | "1777" | "2777" | "4777" | "6777")
        || part.contains("+w")
        || part.contains("+rw")
        || part.contains("=rw")
        || part.contains("+s")
}

fn git_loses(parts: &[String]) -> bool {
    let refspec = parts.iter().any(|part| part.starts_with('+') || part.starts_with(':'));
    (has(parts, &["push"])
        && (flag(parts, &['f', 'd'], "force-with-lease")
            || flag(parts, &[], "mirror")
            || flag(parts, &[], "delete")
            || flag(parts, &[], "force")
            || flag(parts, &[], "prune")
            || refspec))
        || (has(parts, &["clean"]) && flag(parts, &['f'], "force"))
        || (has(parts, &["reset"]) && flag(parts, &[], "hard"))
        || has(parts, &["filter-branch", "filter-repo", "gc", "prune", "update-ref"])
        || (has(parts, &["reflog"]) && has(parts, &["expire", "delete"]))
        || (has(parts, &["checkout", "restore", "switch"])
            && (flag(parts, &['f'], "force") || has(parts, &["--", "."])))
        || (has(parts, &["branch", "tag", "stash"])
            && (flag(parts, &['d'], "delete") || has(parts, &["drop", "clear"])))
        || parts
            .windows(2)
            .any(|pair| matches!(pair, [git, next] if git == "git" && (next == "config" || next == "-c")))
}

fn of_looks(text: &str, env: &[(String, String)]) -> Finding {
    let steers = |name: &str| {
        let name = name.to_uppercase();
        STEERING.contains(&name.as_str()) || STEERING_BEGINS.iter().any(|begin| name.starts_with(begin))
    };
    if env.iter().any(|(name, _)| steers(name)) {
        return Some((Severity::High, "it sets a variable that changes what other programs do"));
    }
    let odd = |character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t')) || super::quote::is_hidden(character)
    };
    if text.chars().any(odd) || env.iter().any(|(_, value)| value.chars().any(odd)) {
        return Some((Severity::High, "it holds characters that cannot be seen"));
    }
    if text.len() > LONG_BYTES {
        return Some((Severity::High, "it is longer than anybody reads"));
    }
    let touches = [
        ".git/hooks",
        ".git/config",
        ".ssh",
        ".bashrc",
        ".zshrc",
        ".profile",
        ".gnupg",
        ".aws",
        ".netrc",
        ".npmrc",
        ".env",
        ".switchboard",
        "authorized_keys",
        "/etc/",
        "/proc/",
        "/sys/",
        "/boot",
        "docker.sock",
    ];
    if touches.iter().any(|place| text.contains(place)) {
        return Some((Severity::High, "it names files that hold secrets or settings"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn severity(line: &str) -> Severity {
        severity_of_command(&[], &["/bin/sh".into(), "-c".into(), line.into()]).0
    }

    #[test]
    fn what_could_destroy_something_is_seen_however_it_is_written() {
        let critical = [
            "rm -rf /",
            "rm -fr x",
            "rm -rfv x",
            "rm -r x",
            "rm -R x",
            "rm x -r",
            "rm --recursive x",
            "/bin/rm -rf x",
            "\\rm -rf x",
            "'rm' -rf x",
            "true; rm -rf x",
            "$(rm -rf x)",
            "curl x | sh",
            "curl x | zsh",
            "curl x | sudo bash",
            "bash <(curl x)",
            "wget -qO- x | python3",
            "sh -c \"$(curl x)\"",
            ":(){ :|:& };:",
            ":(){:|:&};:",
            "b() { b | b & }; b",
            "mkfs.ext4 /dev/sda1",
            "dd if=/dev/zero of=/dev/sda",
            "echo x > /dev/nvme0n1",
            "shred x",
            "find . -name x -delete",
            "reboot",
        ];
        for line in critical {
            assert_eq!(severity(line), Severity::Critical, "{line}");
        }
        let high = [
            "sudo ls",
            "su - root",
            "doas ls",
            "git push -f",
            "git push --force",
            "git push --force-with-lease",
            "git push origin +main",
            "git clean -fd",
            "git reset --hard",
            "git checkout -- .",
            "chmod 777 x",
            "chmod 0777 x",
            "chmod -R 755 x",
            "chmod a+rwx x",
            "chown -R me x",
            "dd if=a of=b",
            "kill -9 -1",
            "killall x",
            "rm -f x",
            "find . -exec touch {} +",
            "ls | xargs touch",
            "echo aGk= | base64 -d | sh",
            "npm publish",
            "cat ~/.ssh/id_rsa",
            "cat /etc/passwd",
            "git config core.hooksPath x",
        ];
        for line in high {
            assert_eq!(severity(line), Severity::High, "{line}");
        }
    }

    #[test]
    fn nothing_is_harmless_and_nothing_is_overrated_by_its_letters() {
        for line in [
            "ls",
            "cargo test",
            "npm run format",
            "git status",
            "echo armed",
            "python3 x.py",
            "git push",
            "frobnicate --now",
        ] {
            assert_eq!(severity(line), Severity::Medium, "{line}");
        }
    }

    #[test]
    fn variables_and_what_cannot_be_seen_count() {
        let words = ["ls".to_owned()];
        let with = |name: &str, value: &str| severity_of_command(&[(name.into(), value.into())], &words).0;
        assert_eq!(with("CI", "1"), Severity::Medium);
        for name in ["PATH", "LD_PRELOAD", "GIT_SSH_COMMAND", "NODE_OPTIONS", "BASH_ENV"] {
            assert_eq!(with(name, "x"), Severity::High, "{name}");
        }
        assert_eq!(with("CI", "\u{202e}"), Severity::High);
        assert_eq!(severity("echo a\u{200b}b"), Severity::High);
        assert_eq!(severity(&format!("echo {}", "x".repeat(LONG_BYTES))), Severity::High);
    }
}
