//! Hands without a desk, for tests: what they ask of the client is answered by the test. Does nothing by itself.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use switchboard_agent::deed::{Shown, ShownKind};
use tokio::sync::{OnceCell, mpsc};

use super::{Abilities, Deadlines, Hands, OwnCommands};
use crate::agent::desk::News;
use crate::agent::peer::{Asked, Peer};
use crate::agent::place::Place;
use crate::agent::session::{Consent, Standing};
use crate::runner::stop::Brake;

/// What no test waits for.
pub(super) const LONG: Duration = Duration::from_secs(3600);
/// What every test waits for.
pub(super) const SHORT: Duration = Duration::from_millis(20);

/// Hands in a folder, for a client that can do this; a person has agreed to everything.
pub(super) fn hands(folder: &Path, abilities: Abilities, deadlines: Deadlines) -> (Hands, Brake, mpsc::Receiver<News>) {
    let ((news, heard), (brake, stop)) = (mpsc::channel(8), Brake::new());
    let hands = Hands {
        peer: Peer { session: "s".to_owned(), news, tickets: Arc::default() },
        abilities,
        place: Arc::new(Place::open(folder, Path::new("/nobodys")).unwrap()),
        consent: Consent { writes: Some(Standing::Allowed), runs: Some(Standing::Allowed) },
        stop,
        id: "c".to_owned(),
        shown: Shown { title: String::new(), kind: ShownKind::Execute, input: Value::Null },
        cradle: Arc::new(OwnCommands { data: folder.to_owned(), made: OnceCell::new() }),
        deadlines,
    };
    (hands, brake, heard)
}

/// What comes of it, in time.
pub(super) async fn in_time<T>(waiting: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it comes in time")
}

/// The next thing that the client is asked for.
pub(super) async fn asked(heard: &mut mpsc::Receiver<News>) -> (&'static str, Value, Asked) {
    loop {
        if let News::Ask { method, params, asked } = in_time(heard.recv()).await.unwrap() {
            return (method, params, asked);
        }
    }
}
