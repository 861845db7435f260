//! A workspace, a data folder and a session's log for the tests of this folder. Holds no claim of its own.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Weak};

use switchboard_host::files::{self, FilePlace};
use switchboard_host::store::{MemoryStore, Store};
use switchboard_types::{
    Body, Change, Commit, Entry, Epoch, FileAnswer, FileRequest, PageBuilder, Reject, RejectCode, Seq, SessionId,
    SessionKeeps, SessionRow, SnippetCut, Ticket, Time, Trust, TurnId, WorkspaceRoot,
};
use tempfile::TempDir;

pub(crate) const SESSION: SessionId = SessionId(1);

pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) trust: Trust,
    next: u64,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        let mut stage = Self { folder, store: Arc::new(MemoryStore::new(|_| {})), trust: Trust::Trusted, next: 1 };
        stage.log(&[Body::SessionOpened { agent: "demo".into(), workspace: stage.root() }]);
        stage
    }

    pub(crate) fn root(&self) -> WorkspaceRoot {
        WorkspaceRoot::from(self.path("").to_str().unwrap().trim_end_matches('/'))
    }

    /// A path in the workspace, whether it is there or not.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("workspace").join(name)
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Adds events to the session's log.
    pub(crate) fn log(&mut self, bodies: &[Body]) {
        let mut page = PageBuilder::new(Seq(self.next));
        for body in bodies {
            page.push(Time(9), Some(TurnId(1)), body);
        }
        let ticket = Ticket(self.next);
        self.next += bodies.len() as u64;
        let row = SessionRow {
            session: SESSION,
            epoch: Epoch(1),
            workspace: self.root(),
            agent: "demo".into(),
            title: String::new(),
            tab: None,
            agent_session: None,
            keeps: SessionKeeps::default(),
            created: Time(1),
            updated: Time(1),
        };
        let page = Arc::new(page.take().unwrap());
        let entries = vec![Entry { session: SESSION, page, changes: vec![Change::Session(row)] }];
        self.store.commit(Commit { ticket, entries, changes: Vec::new() });
    }

    pub(crate) fn place(&self) -> FilePlace {
        let store: Weak<dyn Store> = Arc::downgrade(&(Arc::clone(&self.store) as Arc<dyn Store>));
        FilePlace { session: SESSION, root: self.root(), trust: self.trust, data: self.beside("data"), store }
    }

    pub(crate) fn ask(&self, what: &FileRequest) -> Result<FileAnswer, Reject> {
        files::answer(&self.place(), what, |_, path| Ok(format!("link to {path}")))
    }

    pub(crate) fn list(&self, path: &str) -> Result<FileAnswer, Reject> {
        self.ask(&FileRequest::List { path: path.to_owned() })
    }

    pub(crate) fn read(&self, path: &str, cut: (usize, usize, usize)) -> Result<FileAnswer, Reject> {
        let cut = SnippetCut { head_lines: cut.0, tail_lines: cut.1, max_bytes: cut.2 };
        self.ask(&FileRequest::Read { path: path.to_owned(), cut })
    }

    pub(crate) fn diff(&self, path: &str, before: Option<&str>, after: Option<&str>) -> Result<FileAnswer, Reject> {
        let (before, after) = (before.map(str::to_owned), after.map(str::to_owned));
        self.ask(&FileRequest::Diff { path: path.to_owned(), before, after })
    }

    pub(crate) fn artifact(&self, path: &str) -> Result<FileAnswer, Reject> {
        self.ask(&FileRequest::Artifact { path: path.to_owned() })
    }

    /// Runs git in the workspace as its owner would.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.current_dir(self.path("")).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(arguments);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let out = git.output().unwrap();
        assert!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    }

    /// The text of a diff.
    pub(crate) fn diff_text(&self, path: &str, before: Option<&str>, after: Option<&str>) -> String {
        match self.diff(path, before, after).unwrap() {
            FileAnswer::Diff { diff, .. } => diff,
            other => panic!("no diff: {other:?}"),
        }
    }
}

pub(crate) fn code<T: std::fmt::Debug>(result: Result<T, Reject>) -> RejectCode {
    result.unwrap_err().code
}
