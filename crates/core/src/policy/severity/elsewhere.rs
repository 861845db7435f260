//! What goes over the network: things fetched and run, files sent away, other machines changed.

use super::Finding;
use super::flags::Args;
use super::running::{is_code_reader, is_shell};
use crate::policy::reading::{Guess, Simple};
use crate::policy::text::{program_name, without_version};

const FETCH: &[&str] = &[
    "curl",
    "wget",
    "wget2",
    "fetch",
    "aria2c",
    "axel",
    "http",
    "https",
    "xh",
    "lynx",
    "iwr",
    "invoke-webrequest",
    "ftp",
    "tftp",
    "lwp-download",
    "scp",
    "sftp",
    "nc",
    "ncat",
    "socat",
];
const PUBLISH: &[&str] = &[
    "publish",
    "deploy",
    "destroy",
    "release",
    "unpublish",
    "apply",
    "delete",
    "drain",
    "uninstall",
    "upload",
    "push",
    "terminate",
    "yank",
    "deprecate",
    "transfer",
];
const PUBLISHERS: &[&str] = &[
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "cargo",
    "twine",
    "gem",
    "terraform",
    "tofu",
    "pulumi",
    "gh",
    "glab",
    "kubectl",
    "oc",
    "helm",
    "docker",
    "podman",
    "aws",
    "gcloud",
    "az",
    "doctl",
    "fly",
    "flyctl",
    "vercel",
    "netlify",
    "heroku",
    "firebase",
    "wrangler",
    "serverless",
    "ansible",
    "ansible-playbook",
    "poetry",
    "uv",
    "hatch",
    "vsce",
    "ovsx",
    "mvn",
    "gradle",
    "dotnet",
    "nuget",
    "s3cmd",
    "rclone",
    "gsutil",
];

pub(super) fn find(name: &str, args: Args<'_>) -> Option<Finding> {
    let high = |why: &str| Some(Finding::high(why));
    match name {
        "curl" if sends(args, "TFdK", &["upload-file", "form", "data", "config", "json", "post", "url-query"]) => {
            return high("it sends something to another machine");
        }
        "wget"
            if sends(
                args,
                "ei",
                &["post-file", "post-data", "body-file", "body-data", "execute", "use-askpass", "config"],
            ) =>
        {
            return high("it sends something to another machine");
        }
        "curl" | "wget" if args.any(|arg| arg.starts_with("file:")) => {
            return high("it reads files of this machine by address");
        }
        _ if FETCH.iter().take(13).any(|known| *known == name) => {
            return Some(Finding::medium("it fetches something from another machine"));
        }
        "nc" | "ncat" | "netcat" | "socat" | "telnet" => return Some(pipes(args)),
        "ssh" | "mosh" | "rsh" | "plink" | "autossh" => return high("it runs something on another machine"),
        "scp" | "sftp" => return Some(Finding::medium("it moves files between machines")),
        "rsync" | "rclone" => return Some(copies(args)),
        "docker" | "podman" | "nerdctl" if opens_machine(args) => {
            return high("it gives a container hold of the machine, or takes away what cannot be brought back");
        }
        "docker" | "podman" | "nerdctl" | "kubectl" | "docker-compose" if !publishes(name, args) => {
            return Some(Finding::medium("it runs containers"));
        }
        "psql" | "mysql" | "mariadb" | "sqlite3" | "mongosh" | "mongo" | "redis-cli" | "dropdb"
        | "clickhouse-client"
            if name == "dropdb" || args.any(drops) =>
        {
            return high("it can take away what a database keeps");
        }
        "gpg" | "gpg2" if args.any(|arg| arg.starts_with("--export-secret")) => {
            return high("it gives away secret keys");
        }
        _ => {}
    }
    publishes(name, args).then(|| Finding::high("what it does elsewhere cannot be taken back"))
}

fn publishes(name: &str, args: Args<'_>) -> bool {
    PUBLISHERS.contains(&name)
        && args.operands().take(4).any(|word| {
            let word = word.to_lowercase();
            PUBLISH.iter().any(|known| {
                word == *known || word.starts_with(&format!("{known}-")) || word.starts_with(&format!("{known}:"))
            })
        })
}

fn sends(args: Args<'_>, short: &str, long: &[&str]) -> bool {
    let long_flag = |arg: &str| {
        let name = arg.strip_prefix("--").map(|flag| flag.split('=').next().unwrap_or(flag));
        name.is_some_and(|name| {
            long.iter().any(|known| name.starts_with(known) || (name.len() > 3 && known.starts_with(name)))
        })
    };
    args.short(short) || args.any(long_flag)
}

fn pipes(args: Args<'_>) -> Finding {
    let runs = |arg: &str| arg.to_lowercase().contains("exec") || arg.to_lowercase().contains("system:");
    if args.short("ec") || args.any(runs) || args.short("l") {
        return Finding::high("it lets another machine run programs here, or waits for one");
    }
    Finding::medium("it opens a way to another machine")
}

fn copies(args: Args<'_>) -> Finding {
    let loses = args
        .any(|arg| arg.starts_with("--del") || arg.starts_with("--remove-source") || arg == "sync" || arg == "purge");
    if loses || args.short("e") || args.long(&["rsh", "rsync-path"]) {
        return Finding::high("it deletes what is not on the other side, or runs another program");
    }
    Finding::medium("it copies many files at once")
}

fn opens_machine(args: Args<'_>) -> bool {
    let grave = |arg: &str| {
        let value = arg.split_once('=').map_or(arg, |(_, value)| value);
        arg == "--privileged"
            || arg.starts_with("--cap-add")
            || arg.starts_with("--security-opt")
            || arg.starts_with("--device")
            || value == "host"
            || value.starts_with("/:")
            || arg.starts_with("-v/:")
            || value.contains("docker.sock")
            || value.contains("src=/,")
            || value.contains("source=/,")
    };
    args.any(grave)
        || args.has(&["prune", "--pid=host", "--net=host", "--network=host"])
        || rooted(args)
        || args.has(&["volume"]) && args.has(&["rm"])
}

/// Whether a folder near the root is lent to a container.
fn rooted(args: Args<'_>) -> bool {
    args.any(|arg| {
        let lent = arg.trim_start_matches("-v").trim_start_matches("--volume=");
        ["/etc:", "/root:", "/home:", "/var:", "/usr:", "/proc:", "/sys:", "/dev:", "/boot:"]
            .iter()
            .any(|root| lent.starts_with(root))
    })
}

fn drops(arg: &str) -> bool {
    let words = arg.to_lowercase();
    ["drop ", "truncate ", "delete from", "flushall", "flushdb", "dropdatabase", ".drop("]
        .iter()
        .any(|word| words.contains(word))
}

/// Whether one part of a line fetches and another runs what it might have fetched.
pub(super) fn fetched_and_run(commands: &[Simple], guesses: &[Guess]) -> Option<Finding> {
    let all = || commands.iter().map(|simple| &simple.words).chain(guesses.iter().map(|guess| &guess.words));
    let first = |words: &Vec<String>| words.first().map(|first| program_name(first)).unwrap_or_default();
    let fetches = all().any(|words| FETCH.contains(&first(words).as_str()));
    let runs = all().any(|words| {
        let (name, written) = (first(words), words.first().map_or("", String::as_str));
        let has_own = words.iter().skip(1).any(|arg| matches!(arg.as_str(), "-c" | "-e" | "-m" | "--version" | "-V"));
        is_shell(&name)
            || (is_code_reader(without_version(&name)) && !has_own)
            || matches!(name.as_str(), "source" | "." | "eval" | "iex")
            || written.starts_with("./")
            || written.starts_with("/tmp/")
    });
    (fetches && runs).then(|| Finding::high("it can run what it fetches from another machine"))
}
