//! Files read and written: by the client where it can, else by itself with the host's own readers and writers. A file is
//! written only if it still is what the model saw.

use std::path::{Path, PathBuf};

use serde_json::json;
use switchboard_agent::deed::Outcome;
use switchboard_types::{ErrandCode, ErrandFailure};

use super::consent::Verdict;
use super::{Done, Hands, failed, off_task, refused};
use crate::agent::peer::Within;
use crate::agent::session::Sort;
use crate::agent::show;
use crate::runner::place::Root;
use crate::runner::reading::{self, Lines};
use crate::runner::writing;

/// Bytes of a file that one reading gives: an edit wants all of it, and a model cannot read more anyway.
const MAX_READ_BYTES: usize = 1024 * 1024;

/// A file to be written.
pub(super) struct Write {
    pub(super) path: String,
    pub(super) before: Option<String>,
    pub(super) after: String,
}

impl Hands {
    /// Some lines of a file, or all. Who asks for a file by itself gives it up when the time of its tool is over.
    pub(super) async fn read(&self, asked: &str, line: Option<u32>, limit: Option<u32>) -> Outcome {
        self.read_within(asked, line, limit, Within::Ever).await
    }

    async fn read_within(&self, asked: &str, line: Option<u32>, limit: Option<u32>, within: Within) -> Outcome {
        let path = match self.place.whole(asked) {
            Ok(path) => path,
            Err(why) => return Outcome::Failed(why),
        };
        let read = if self.abilities.reads {
            self.read_there(&path, line, limit, within).await
        } else {
            self.read_here(&path, line, limit).await
        };
        match read {
            Outcome::Done(text) if text.len() > MAX_READ_BYTES => Outcome::Failed(format!(
                "`{asked}` has {} bytes and {MAX_READ_BYTES} can be read at once; ask for some of its lines",
                text.len()
            )),
            other => other,
        }
    }

    /// The path of a file as the client is told it: no link in it leads out of the workspace. The client follows links by itself,
    /// and asks nobody. What is not on the disk may still be in the client's editor.
    async fn safe(&self, path: &Path) -> Result<PathBuf, Outcome> {
        let (place, path) = (self.place.clone(), path.to_string_lossy().into_owned());
        let looked = tokio::task::spawn_blocking(move || {
            let root = Root::open(&place.root, &place.own)?;
            let found = match root.existing(&path) {
                Err(failure) if failure.code == ErrandCode::NotFound => root.target(&path)?.path(),
                found => found?,
            };
            Ok::<_, ErrandFailure>(place.given.join(found))
        });
        match looked.await {
            Ok(safe) => safe.map_err(failed),
            Err(error) => Err(Outcome::Failed(format!("it ended badly: {error}"))),
        }
    }

    async fn read_there(&self, path: &Path, line: Option<u32>, limit: Option<u32>, within: Within) -> Outcome {
        let path = match self.safe(path).await {
            Ok(path) => path,
            Err(outcome) => return outcome,
        };
        let mut asked = json!({"path": path});
        for (name, number) in [("line", line), ("limit", limit)] {
            if let Some(number) = number {
                asked[name] = number.into();
            }
        }
        match self.peer.ask("fs/read_text_file", asked, &self.stop, within).await {
            Ok(answer) => match answer["content"].as_str() {
                Some(text) => Outcome::Done(text.to_owned()),
                None => Outcome::Failed("the client's answer holds no text".to_owned()),
            },
            // Not every client says by the code that a file is not there.
            Err(_) if self.place.lacks(&path) => Outcome::NotThere,
            Err(error) => refused(error),
        }
    }

    async fn read_here(&self, path: &Path, line: Option<u32>, limit: Option<u32>) -> Outcome {
        let (place, path) = (self.place.clone(), path.to_string_lossy().into_owned());
        off_task(move || {
            let read = Root::open(&place.root, &place.own)
                .and_then(|root| reading::read(&root, &path, Lines { from: line, limit }));
            read.map_or_else(failed, Outcome::Done)
        })
        .await
    }

    pub(super) async fn write(&self, write: Write) -> Done {
        let path = match self.place.whole(&write.path) {
            Ok(path) => path,
            Err(why) => return Outcome::Failed(why).into(),
        };
        // Nobody is asked about what would not be written.
        if let Some(why) = self.changed(&write).await {
            return why.into();
        }
        let content = vec![show::diff(&path, write.before.as_deref(), &write.after)];
        let remember = match self.may(Sort::Write, content).await {
            Verdict::Yes(remember) => remember,
            Verdict::No(outcome, remember) => return Done { outcome, remember },
        };
        let outcome = if self.abilities.writes {
            self.write_there(&path, &write).await
        } else {
            self.write_here(path, write).await
        };
        Done { outcome, remember }
    }

    /// Why it is not to be written: it is not what it was.
    async fn changed(&self, write: &Write) -> Option<Outcome> {
        let within = Within::Time(self.deadlines.telling);
        match (self.read_within(&write.path, None, None, within).await, &write.before) {
            (Outcome::Done(now), Some(before)) if now == *before => None,
            (Outcome::NotThere, None) => None,
            (Outcome::Done(_) | Outcome::NotThere, _) => Some(Outcome::Failed(changed(&write.path))),
            (other, _) => Some(other),
        }
    }

    async fn write_there(&self, path: &Path, write: &Write) -> Outcome {
        // A person may have taken long to answer. A client that asks by itself looks once more when it writes.
        if !self.abilities.gate
            && let Some(why) = self.changed(write).await
        {
            return why;
        }
        let path = match self.safe(path).await {
            Ok(path) => path,
            Err(outcome) => return outcome,
        };
        let asked = json!({"path": path, "content": write.after});
        match self.peer.ask("fs/write_text_file", asked, &self.stop, self.doing()).await {
            Ok(_) => Outcome::Done(written(&write.after)),
            Err(error) => refused(error),
        }
    }

    async fn write_here(&self, path: PathBuf, write: Write) -> Outcome {
        let place = self.place.clone();
        off_task(move || {
            let (asked, said) = (path.to_string_lossy().into_owned(), written(&write.after));
            let differs = || ErrandFailure::new(ErrandCode::Changed, changed(&write.path));
            let prepared = match &write.before {
                Some(before) => writing::prepare_edit(&place.root, &place.own, asked, |now| {
                    if now == before { Ok(write.after.clone()) } else { Err(differs()) }
                }),
                None => writing::prepare(&place.root, &place.own, asked, write.after.clone())
                    .and_then(|(plan, shown)| if plan.is_new() { Ok((plan, shown)) } else { Err(differs()) }),
            };
            match prepared.and_then(|(plan, _)| writing::perform(&plan, &place.own)) {
                Ok(_) => Outcome::Done(said),
                Err(failure) => failed(failure),
            }
        })
        .await
    }
}

fn changed(path: &str) -> String {
    format!("`{path}` is not what it was when it was read, so it was not written; read it again")
}

fn written(text: &str) -> String {
    format!("written: {} bytes", text.len())
}

#[cfg(test)]
mod tests {
    use super::super::stage::{LONG, SHORT, asked, hands, in_time};
    use super::super::{Abilities, Deadlines};
    use super::*;

    fn write() -> Write {
        Write { path: "a".to_owned(), before: Some("old".to_owned()), after: "new".to_owned() }
    }

    #[tokio::test]
    async fn a_client_that_never_tells_a_files_text_keeps_no_write_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let abilities = Abilities { reads: true, writes: true, gate: true, ..Abilities::default() };
        let deadlines = Deadlines { telling: SHORT, doing: LONG, undoing: LONG };
        let (hands, _brake, mut heard) = hands(folder.path(), abilities, deadlines);
        std::fs::write(folder.path().join("a"), "old").unwrap();
        let writing = tokio::spawn(async move { hands.write(write()).await.outcome });
        let (method, _, _left) = asked(&mut heard).await;
        assert_eq!(method, "fs/read_text_file");
        let outcome = in_time(writing).await.unwrap();
        assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("has not answered")), "{outcome:?}");
    }

    #[tokio::test]
    async fn a_client_that_never_writes_is_given_up_where_a_person_was_asked_before() {
        let folder = tempfile::tempdir().unwrap();
        let abilities = Abilities { writes: true, ..Abilities::default() };
        let deadlines = Deadlines { telling: LONG, doing: SHORT, undoing: LONG };
        let (hands, _brake, mut heard) = hands(folder.path(), abilities, deadlines);
        std::fs::write(folder.path().join("a"), "old").unwrap();
        let writing = tokio::spawn(async move { hands.write(write()).await.outcome });
        let (method, _, _left) = asked(&mut heard).await;
        assert_eq!(method, "fs/write_text_file");
        let outcome = in_time(writing).await.unwrap();
        assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("has not answered")), "{outcome:?}");
    }
}
