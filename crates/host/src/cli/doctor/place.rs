//! The data folder, its disk and its rights. Only looks: a start would mend some of it by itself.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::Report;
use crate::cli::args::Cli;
use crate::folder::Folder;
use crate::secrets::{Keep, Secrets};

/// Less room than this is a warning,
const LITTLE_ROOM: u64 = 1024 * 1024 * 1024;
/// and less than this an error.
const NO_ROOM: u64 = 64 * 1024 * 1024;
/// The bits of a mode that let others in.
const OTHERS: u32 = 0o077;
/// Numbers of file systems that are on another machine, or may be: locks and shared memory are not what they seem there.
const REMOTE: [(i64, &str); 7] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
];

/// Looks at the data folder; gives its path if a store may be in it.
pub(super) fn look(cli: &Cli, report: &mut Report) -> Option<PathBuf> {
    let path = match Folder::usual_or(cli.flags.data.as_deref()) {
        Ok(path) => path,
        Err(error) => {
            report.wrong("data folder", error.to_string(), "set HOME, or give `--data DIR`");
            return None;
        }
    };
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            report.good("data folder", format!("{} is not there yet; the first start makes it", path.display()));
            nearest(&path).into_iter().for_each(|there| disk(&there, report));
            return None;
        }
        Err(error) => {
            let mend = "check its permissions, or give another folder with `--data DIR`";
            report.wrong("data folder", format!("{}: {error}", path.display()), mend);
            return None;
        }
        Ok(found) => folder(&path, &found, report),
    }
    token(&path.join("token"), report);
    secrets(&path, report);
    disk(&path, report);
    Some(path)
}

fn nearest(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|there| there.is_dir()).map(Path::to_owned)
}

fn folder(path: &Path, found: &Metadata, report: &mut Report) {
    let shown = path.display();
    if !found.is_dir() {
        report.wrong("data folder", format!("{shown} is not a folder"), "move it away, or give `--data DIR`");
    } else if found.uid() != geteuid().as_raw() {
        report.wrong(
            "data folder",
            format!("{shown} belongs to another user"),
            "give `--data DIR` with a folder of yours",
        );
    } else if found.permissions().mode() & OTHERS != 0 {
        report.wrong("data folder", format!("{shown} is open to other users"), format!("chmod 700 '{shown}'"));
    } else {
        report.good("data folder", format!("{shown}"));
    }
}

/// Where secrets are, and whether those that are stored can be had.
fn secrets(path: &Path, report: &mut Report) {
    let secrets = Secrets::of(path);
    let (kept, place) = secrets.kept_in();
    match secrets.list() {
        Err(error) => report.wrong("secrets", error.to_string(), ""),
        Ok(all) if kept == Keep::File && all.iter().any(|listed| listed.kept == Keep::Keyring) => report.doubtful(
            "secrets",
            format!("some are in the keyring of your desktop, and new ones go to {place}"),
            "start the keyring, or store those secrets again; `switchboard secrets list` names them",
        ),
        Ok(_) => report.good("secrets", format!("new ones go to {place}")),
    }
}

fn token(path: &Path, report: &mut Report) {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            report.good("token", "is not there yet; the first start makes it");
        }
        Err(error) => report.wrong("token", error.to_string(), format!("check the permissions of {}", path.display())),
        Ok(found) if !found.is_file() => {
            report.wrong(
                "token",
                format!("{} is not a file", path.display()),
                "delete it; the next start makes a new one",
            );
        }
        Ok(found) if found.permissions().mode() & OTHERS != 0 => {
            let mend = format!("chmod 600 '{0}', or delete it to get a new one", path.display());
            report.wrong("token", "others may read it, and whoever has it can run commands as you", mend);
        }
        Ok(found) if found.len() < 64 => {
            report.wrong(
                "token",
                "it is damaged",
                format!("delete {}; the next start makes a new one", path.display()),
            );
        }
        Ok(_) => report.good("token", "only you can read it"),
    }
}

fn disk(path: &Path, report: &mut Report) {
    match rustix::fs::statvfs(path) {
        Err(error) => report.doubtful("disk", format!("its room is not known: {error}"), ""),
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            let message = format!("{} MiB are free", free / 1024 / 1024);
            if free < NO_ROOM {
                report.wrong("disk", message, "free some space; a full disk stops every session");
            } else if free < LITTLE_ROOM {
                report.doubtful("disk", message, "free some space soon");
            } else {
                report.good("disk", message);
            }
        }
    }
    let kind = rustix::fs::statfs(path).map(|found| found.f_type & 0xffff_ffff);
    let remote = kind.ok().and_then(|kind| REMOTE.iter().find(|(number, _)| *number == kind));
    if let Some((_, name)) = remote {
        let mend = "keep the data on a local disk: `--data DIR`";
        report.doubtful("file system", format!("{name} may be on another machine, where locks are not safe"), mend);
    }
}
