//! What cannot be brought back: files deleted in heaps, disks overwritten, the machine stopped.

use super::Finding;
use super::flags::Args;
use crate::policy::reading::{Note, standard_device};

const DISKS: &[&str] = &[
    "fdisk",
    "sfdisk",
    "cfdisk",
    "gdisk",
    "sgdisk",
    "parted",
    "partprobe",
    "wipefs",
    "blkdiscard",
    "mkswap",
    "cryptsetup",
    "lvremove",
    "vgremove",
    "pvremove",
    "mke2fs",
    "newfs",
    "diskpart",
    "format-volume",
    "badblocks",
    "hdparm",
    "sg_format",
];
const STOPS: &[&str] = &["shutdown", "reboot", "halt", "poweroff", "telinit"];
const ERASERS: &[&str] = &["shred", "srm", "wipe", "scrub", "nwipe"];

pub(super) fn find(name: &str, args: Args<'_>, note: Note) -> Option<Finding> {
    if name == "rm" {
        return Some(removal(args, note));
    }
    if name.starts_with("mkfs") || DISKS.contains(&name) {
        return Some(Finding::critical("it can destroy all that is on a disk"));
    }
    if STOPS.contains(&name) || (name == "init" && args.any(|arg| matches!(arg, "0" | "1" | "6" | "s" | "S"))) {
        return Some(Finding::critical("it stops the machine"));
    }
    if name == "systemctl" && args.has(&["poweroff", "reboot", "halt", "kexec", "soft-reboot", "emergency", "rescue"]) {
        return Some(Finding::critical("it stops the machine"));
    }
    if ERASERS.contains(&name) {
        return Some(Finding::critical("it deletes files so that nobody can bring them back"));
    }
    if matches!(name, "zfs" | "zpool" | "btrfs" | "lvm" | "nvme" | "diskutil") && args.any(destroys) {
        return Some(Finding::critical("it can destroy all that is on a disk"));
    }
    if matches!(name, "find" | "gfind" | "fd" | "fdfind") && args.has(&["-delete"]) {
        return Some(Finding::critical("it deletes whatever it finds"));
    }
    if name == "dd" && args.any(|arg| writes_device(arg.strip_prefix("of=").unwrap_or_default())) {
        return Some(Finding::critical("it writes straight to a device"));
    }
    let only_looks =
        matches!(name, "ls" | "stat" | "file" | "df" | "lsblk" | "blkid" | "echo" | "printf" | "grep" | "rg");
    if !only_looks && args.any(|arg| is_disk(arg.rsplit('=').next().unwrap_or(arg))) {
        return Some(Finding::critical("it names a disk as a whole"));
    }
    let whole = args.operands().any(is_root);
    if matches!(name, "chmod" | "chown" | "chgrp" | "chattr") && recursive(args) && whole {
        return Some(Finding::critical("it changes who may do what with every file there is"));
    }
    if name == "mv" && args.operands().any(|path| path == "/dev/null") {
        return Some(Finding::critical("it moves files to where nothing comes back from"));
    }
    None
}

fn removal(args: Args<'_>, note: Note) -> Finding {
    if args.short("rRf") || args.long(&["recursive", "force", "no-preserve-root"]) {
        return Finding::critical("it deletes folders with all that is in them, or files without a question");
    }
    if note.has_open_words() || note.substituted {
        return Finding::high("it deletes files that are chosen only when it runs");
    }
    Finding::medium("it deletes files")
}

fn destroys(arg: &str) -> bool {
    ["destroy", "delete", "erase", "format", "remove", "rollback", "wipe", "sanitize"]
        .iter()
        .any(|word| arg.contains(word))
}

fn writes_device(path: &str) -> bool {
    path.starts_with("/dev/") && !standard_device(path) && !path.starts_with("/dev/shm/")
}

/// Whether a path names a disk, or a part of one, as a device.
fn is_disk(path: &str) -> bool {
    let Some(device) = path.strip_prefix("/dev/") else { return false };
    ["sd", "hd", "vd", "xvd", "nvme", "mmcblk", "mapper/", "disk", "rdisk", "md", "dm-", "loop", "zvol/"]
        .iter()
        .any(|begin| device.starts_with(begin))
}

fn is_root(path: &str) -> bool {
    matches!(path.trim_end_matches('*'), "/" | "~" | "/*" | "//" | "/." | "/home" | "/etc" | "/usr" | "/var")
}

fn recursive(args: Args<'_>) -> bool {
    args.short("R") || args.long(&["recursive"])
}
