//! Where paths of commands lead: links, steps up, what is not there, and repositories that are elsewhere.

use std::fs;
use std::os::unix::fs::symlink;

use switchboard_types::{Place, WorkspaceRoot};
use tempfile::TempDir;

use super::{Places, Root, of_argv};

struct World {
    around: TempDir,
    data: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { around: tempfile::tempdir().unwrap(), data: tempfile::tempdir().unwrap() };
        for folder in ["w/sub/deep", "w/.git/hooks", "w-evil", "elsewhere"] {
            fs::create_dir_all(world.around.path().join(folder)).unwrap();
        }
        world
    }

    fn path(&self, name: &str) -> String {
        self.around.path().canonicalize().unwrap().join(name).to_str().unwrap().to_owned()
    }

    fn root(&self) -> WorkspaceRoot {
        WorkspaceRoot::from(self.path("w").as_str())
    }

    fn place(&self, cwd: &str, written: &str) -> Place {
        let open = Root::open(&self.root(), &self.data.path().canonicalize().unwrap()).unwrap();
        Places::of(&open).of_written(&open.path().join(cwd), written)
    }

    fn outside(&self, name: &str) -> Place {
        Place::Outside(self.path(name))
    }
}

fn inside(path: &str) -> Place {
    Place::Inside(path.to_owned())
}

#[test]
fn a_path_is_where_its_links_lead() {
    let world = World::new();
    let at = |name: &str| world.path(name);
    symlink("sub/deep", at("w/near")).unwrap();
    symlink(at("elsewhere"), at("w/far")).unwrap();
    symlink("../../elsewhere", at("w/sub/up")).unwrap();
    symlink(at("w/.git"), at("elsewhere/back")).unwrap();
    symlink("nowhere/yet", at("w/dangling")).unwrap();
    symlink("loop", at("w/loop")).unwrap();
    fs::write(at("w/file"), "").unwrap();
    let cases = [
        ("", ".", inside("")),
        ("", "file", inside("file")),
        ("sub", "x", inside("sub/x")),
        ("sub", "../.git/config", inside(".git/config")),
        ("", "new/deeper/file", inside("new/deeper/file")),
        ("", "new/../.git/config", inside(".git/config")),
        ("", "new/../../w-evil/x", world.outside("w-evil/x")),
        ("", "near/x", inside("sub/deep/x")),
        // Up from where the link leads, not from where it stands.
        ("", "near/../x", inside("sub/x")),
        ("", "far/x", world.outside("elsewhere/x")),
        ("", "far/../x", world.outside("x")),
        ("", "sub/up/x", world.outside("elsewhere/x")),
        ("", "far/back/hooks/pre-commit", inside(".git/hooks/pre-commit")),
        ("", "dangling", inside("nowhere/yet")),
        ("", "..", world.outside("")),
        ("", "../w-evil", world.outside("w-evil")),
        ("", "/etc/passwd", Place::Outside("/etc/passwd".into())),
        ("", "/dev/null", Place::Outside("/dev/null".into())),
        ("", "loop", Place::Unknown),
        ("", "file/below", Place::Unknown),
        ("", "~/x", Place::Unknown),
        ("", "", Place::Unknown),
        ("", "/proc/self/cwd/x", Place::Unknown),
        ("", "/dev/stdout", Place::Unknown),
    ];
    for (cwd, written, expected) in cases {
        let expected = match expected {
            Place::Outside(path) => Place::Outside(path.trim_end_matches('/').to_owned()),
            other => other,
        };
        assert_eq!(world.place(cwd, written), expected, "{written} in {cwd:?}");
    }
    let absolute = format!("{}/sub/../.git", at("w"));
    assert_eq!(world.place("", &absolute), inside(".git"));
    assert_eq!(world.place("", &format!("{}-evil/x", at("w"))), world.outside("w-evil/x"));
    let own = format!("{}/token", world.data.path().canonicalize().unwrap().display());
    assert_eq!(world.place("", &own), Place::Outside(own.clone()));
}

#[test]
fn a_folder_that_may_not_be_looked_into_leads_nobody_knows_where() {
    let world = World::new();
    let long = format!("{}x", "a/".repeat(5000));
    assert_eq!(world.place("", &long), Place::Unknown);
}

#[test]
fn what_git_keeps_elsewhere_in_the_workspace_is_not_the_workspaces_own() {
    let world = World::new();
    fs::rename(world.path("w/.git"), world.path("w/repo")).unwrap();
    assert_eq!(world.place("", "repo/hooks/x"), inside("repo/hooks/x"));
    fs::write(world.path("w/.git"), "gitdir: repo\n").unwrap();
    assert_eq!(world.place("", "repo/hooks/x"), world.outside("w/repo/hooks/x"));
    assert_eq!(world.place("", ".git"), inside(".git"));
    fs::write(world.path("w/.git"), format!("gitdir: {}\n", world.path("elsewhere"))).unwrap();
    fs::write(world.path("elsewhere/commondir"), "../w/repo\n").unwrap();
    assert_eq!(world.place("", "repo/config"), world.outside("w/repo/config"));
    // A file that says nothing sensible is no repository.
    fs::write(world.path("w/.git"), "gitdir:\n").unwrap();
    assert_eq!(world.place("", "repo/config"), inside("repo/config"));
}

#[test]
fn programs_are_found_as_the_child_finds_them() {
    let world = World::new();
    let own = world.data.path().canonicalize().unwrap();
    let facts = |words: &[&str]| {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        of_argv(&world.root(), &own, "sub", &words).unwrap()
    };
    let found = facts(&["sh", "-c", "x"]);
    assert_eq!((found.cwd.as_str(), &found.cwd_place), (world.path("w/sub").as_str(), &inside("sub")));
    let shell = fs::canonicalize("/bin/sh").unwrap().to_str().unwrap().to_owned();
    assert_eq!(found.programs[0].path.as_deref(), Some(shell.as_str()));
    assert_eq!(found.programs[0].place, Place::Outside(shell));
    let missing = facts(&["no-such-program-anywhere"]);
    assert_eq!((&missing.programs[0].path, &missing.programs[0].place), (&None, &Place::Unknown));
}
