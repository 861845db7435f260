//! What changes more than files: rights, other programs, services, what is installed, what runs by itself.

use super::Finding;
use super::flags::Args;

const MORE_RIGHTS: &[&str] = &[
    "sudo",
    "sudoedit",
    "doas",
    "su",
    "pkexec",
    "run0",
    "runuser",
    "gsudo",
    "runas",
    "setpriv",
    "chroot",
    "nsenter",
    "unshare",
    "machinectl",
    "visudo",
    "sg",
    "newgrp",
    "capsh",
    "setcap",
];
const UNSETTLE: &[&str] = &[
    "mount",
    "umount",
    "chattr",
    "setfacl",
    "batch",
    "at",
    "atd",
    "launchctl",
    "useradd",
    "userdel",
    "usermod",
    "adduser",
    "deluser",
    "groupadd",
    "groupdel",
    "gpasswd",
    "passwd",
    "chpasswd",
    "chsh",
    "insmod",
    "rmmod",
    "modprobe",
    "kexec",
    "swapoff",
    "swapon",
    "systemd-run",
    "update-alternatives",
    "ldconfig",
    "loginctl",
    "iptables-restore",
    "sysctl",
];
const PACKAGES: &[&str] = &[
    "apt", "apt-get", "aptitude", "dpkg", "yum", "dnf", "rpm", "zypper", "pacman", "apk", "brew", "port", "snap",
    "flatpak", "emerge", "nix-env", "choco", "winget", "scoop",
];
const WALLS: &[&str] = &["iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "ipset", "netsh", "pfctl"];

pub(super) fn find(name: &str, args: Args<'_>) -> Option<Finding> {
    if MORE_RIGHTS.contains(&name) {
        return Some(Finding::high("it asks for more rights than you have given"));
    }
    match name {
        "chmod" => return Some(permission(args)),
        "chown" | "chgrp" if args.short("R") || args.long(&["recursive"]) => {
            return Some(Finding::high("it gives many files to somebody else at once"));
        }
        "chown" | "chgrp" => return Some(Finding::medium("it gives files to somebody else")),
        "kill" if args.any(|arg| arg == "-1") => return Some(Finding::high("it ends every program that it can")),
        "kill" => return Some(Finding::medium("it ends programs")),
        "killall" | "killall5" | "pkill" | "skill" | "taskkill" => return Some(killing(name, args)),
        "crontab" if args.0.len() == 1 && args.has(&["-l"]) => {
            return Some(Finding::medium("it shows what runs by itself"));
        }
        "crontab" => return Some(Finding::high("it changes what runs by itself")),
        "systemctl" | "service" | "rc-service" | "initctl" => {
            return Some(Finding::medium("it may stop or change services of the machine"));
        }
        "export" | "declare" | "typeset" | "readonly" | "local" | "setenv" if args.any(sets) => {
            return Some(Finding::high("it sets a variable that changes what other programs do"));
        }
        _ => {}
    }
    if UNSETTLE.contains(&name) {
        return Some(Finding::high("it changes the machine itself, or what runs by itself"));
    }
    if PACKAGES.contains(&name) {
        return Some(Finding::medium("it may install or remove programs of the machine"));
    }
    if WALLS.contains(&name) {
        return Some(Finding::medium("it may change who can reach the machine"));
    }
    None
}

/// Whether a word sets a variable that steers.
fn sets(word: &str) -> bool {
    super::steers(word.split(['=', '+']).next().unwrap_or_default())
}

fn killing(name: &str, args: Args<'_>) -> Finding {
    let kills = |arg: &str| {
        let signal = arg.trim_start_matches('-').to_uppercase();
        let signal = signal.rsplit('=').next().unwrap_or_default();
        let signal = signal.strip_prefix('S').filter(|rest| matches!(*rest, "9" | "KILL")).unwrap_or(signal);
        matches!(signal, "9" | "KILL" | "SIGKILL")
    };
    if name == "killall5" || args.any(kills) || args.any(|arg| arg.eq_ignore_ascii_case("/f")) {
        return Finding::high("it ends programs by name, without letting them save anything");
    }
    Finding::medium("it ends programs by name")
}

/// What `chmod` is told to do. A mode may stand anywhere among its words.
fn permission(args: Args<'_>) -> Finding {
    if args.any(opens) {
        return Finding::high("it opens files to everybody, or lets them run with somebody else's rights");
    }
    if args.short("R") || args.long(&["recursive", "reference"]) {
        return Finding::medium("it changes who may do what with many files at once");
    }
    Finding::new(switchboard_types::Severity::Medium, super::Cover::Switch, "it changes who may do what with a file")
}

/// Whether a mode lets everybody write, or passes rights on.
fn opens(mode: &str) -> bool {
    let mode = mode.trim_start_matches('=');
    if !mode.is_empty() && mode.chars().all(|digit| digit.is_digit(8)) {
        let value = u32::from_str_radix(mode, 8).unwrap_or(u32::MAX);
        return value & 0o002 != 0 || value & 0o6000 != 0;
    }
    mode.split(',').any(|clause| {
        let Some((at, sign)) = clause.char_indices().find(|(_, sign)| matches!(sign, '+' | '=' | '-')) else {
            return false;
        };
        let (who, what) = clause.split_at(at);
        let is_mode = who.chars().all(|who| "ugoa".contains(who));
        let everybody = who.is_empty() || who.contains(['o', 'a']);
        // Without a name before it, the sign means everybody, but for what the shell's own mask takes away.
        let opens_all = everybody && what.contains('w') && (!who.is_empty() || what.contains('r'));
        sign != '-'
            && is_mode
            && (opens_all || what.contains('s') || (everybody && what.contains(['u', 'g']) && sign == '='))
    })
}
