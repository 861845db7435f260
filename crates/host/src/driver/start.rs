//! Joins core, store, agents and server into a running host, and takes them apart again in the right order. Decides
//! nothing while the host runs.

use std::sync::Arc;

use switchboard_types::{Change, Commit, Ticket, WorkspaceRoot, WorkspaceRow};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};

use super::{Driver, Parts, STORE_ANSWERS, StoreAnswer, readiness};
use crate::agents::{Agents, Graces};
use crate::attachments::Attachments;
use crate::cli::exit::Failure;
use crate::cli::serve::{Listen, PortTaken, Ready, Serve};
use crate::clock::Clock;
use crate::config::watch::{UserConfig, Wanted};
use crate::config::{self, Config, Durability, HoldingMode};
use crate::folder::{Folder, Lease};
use crate::library::Library;
use crate::link::{INBOX_MESSAGES, Trust};
use crate::runner::Runner;
use crate::runner::contain::{self, Walls};
use crate::secrets::Secrets;
use crate::server::{Access, Artifacts, DataId, Doors, Metrics, Secret, Server, make_dialect};
use crate::store::{self, Notes, Options, SqliteStore};
use crate::wire::{Recorder, WireFolder, Writer};

/// Runs the host until it is asked to stop.
pub async fn run(serve: Serve) -> Result<(), Failure> {
    let asked_to_stop = serve.stop.asked().map_err(|error| Failure::failed(format!("no signals: {error}")))?;
    let clock = Clock::start();
    let metrics = Arc::new(Metrics::default());
    let (answer_to, answers) = mpsc::channel(STORE_ANSWERS);
    let notes = Notes::default();
    let store = Arc::new(open_store(&serve, answer_to.clone(), notes.clone())?);
    let library = open_library(&serve, &store, notes);
    let writer = Writer::start(WireFolder::within(serve.folder.path()), clock)
        .map_err(|error| Failure::failed(format!("the wire cannot be recorded: {error}")))?;
    writer.recorder().hide(vec![serve.folder.token()?.reveal().to_owned()]);
    let listener = bind(serve.listen).await?;
    let (inbox, views) = mpsc::channel(INBOX_MESSAGES);
    let (words_to, words) = mpsc::channel(INBOX_MESSAGES);
    let artifacts = Arc::new(Artifacts::default());
    let agents = Agents::start(serve.folder.path(), words_to, clock, Graces::default())
        .map_err(|error| Failure::failed(format!("agents cannot be started: {error}")))?
        .with_secrets(Secrets::of(serve.folder.path()).hidden_from(writer.recorder()))
        .with_shelf(Arc::clone(&artifacts));
    let secrets = agents.secrets().clone();
    let (tell_walls, walls) = Walls::soon();
    let (errands_to, errands) = mpsc::channel(INBOX_MESSAGES);
    let runner = Runner::start(serve.folder.path(), errands_to, Graces::default(), walls)
        .map_err(|error| Failure::failed(format!("nothing can be done for agents: {error}")))?;
    let (ready_to, readiness) = mpsc::channel(readiness::MAX_READINESS);
    let (watching, wanted) = watch::channel(Wanted::default());
    let (seen_to, seen) = mpsc::channel(1);
    let driver = Driver::new(Parts {
        store: Arc::clone(&store) as Arc<dyn store::Store>,
        library: library.clone(),
        answers: (answer_to, answers),
        views,
        words,
        agents,
        runner,
        errands,
        readiness,
        config: serve.config.clone(),
        source: serve.source.clone(),
        watching: (watching, seen),
        home: serve.workspace.clone(),
        data: serve.folder.path().to_owned(),
        artifacts: Arc::clone(&artifacts),
        clock,
        metrics: Arc::clone(&metrics),
        recorder: writer.recorder(),
        seed: getrandom::u64().map_err(|error| Failure::failed(format!("no randomness: {error}")))?,
    })
    .map_err(|error| Failure::failed(error.to_string()))?;
    let server =
        Server::new(listener, doors(&serve, inbox, metrics, (&store, &library), (writer.recorder(), artifacts))?)
            .map_err(|error| Failure::failed(error.to_string()))?;
    let login = server.login_link(std::time::Instant::now()).map_err(|error| Failure::failed(error.to_string()))?;
    let ready = Ready { url: server.url().to_owned(), login };

    // It ends when the driver does, since nobody wants to know any more.
    tokio::spawn(config::watch::run((serve.source.clone(), secrets), serve.config.clone(), wanted, seen_to));
    tokio::spawn(readiness::find_out(ready_to, wanted_walls(&serve.config, &serve.source), tell_walls));
    let (stop, stopping) = watch::channel(false);
    let doors = tokio::spawn(server.run(stopping.clone()));
    let mut host = tokio::spawn(driver.run(stopping));
    serve.ready(&ready)?;
    let ended = tokio::select! {
        signal = asked_to_stop => {
            tracing::info!(signal, "the host stops");
            // Nobody listens any more only if both tasks are gone already.
            let _ = stop.send(true);
            host.await
        }
        // Without its task the host is a locked door; better that the next start finds none.
        ended = &mut host => ended,
    };
    let _ = stop.send(true);
    let _ = doors.await;
    // What it still writes is on the disk's way in a moment; nobody waits for it but the end of the program.
    let _ = tokio::task::spawn_blocking(move || writer.finish()).await;
    if let Ok(library) = library {
        // Its thread reads the store, which is closed after it.
        let _ = tokio::task::spawn_blocking(move || library.stop()).await;
    }
    match Arc::try_unwrap(store) {
        Ok(store) => store.close().map_err(|error| Failure::failed(error.to_string()))?,
        // A read is still under way; what was acknowledged is on the disk all the same.
        Err(_) => tracing::warn!("the store is still being read; it is left as it is"),
    }
    ended.map_err(|error| Failure::failed(format!("the host's task ended badly: {error}")))
}

/// What the configuration wants of the walls around commands.
pub(crate) fn wanted_walls(config: &Config, source: &UserConfig) -> contain::Wanted {
    let mode = match config.tools.holding.mode {
        HoldingMode::Auto => contain::Mode::Auto,
        HoldingMode::Required => contain::Mode::Required,
        HoldingMode::Off => contain::Mode::Off,
    };
    // Whoever can read it learns which secrets there are; whoever can write it decides who starts.
    let hidden = source.file.iter().map(|(file, _)| file.clone()).collect();
    contain::Wanted { mode, writable: config.tools.holding.writable.clone(), hidden, program: None }
}

/// Without it everything works but search and usage, so its want is no reason not to start.
fn open_library(serve: &Serve, store: &Arc<SqliteStore>, notes: Notes) -> Result<Arc<Library>, String> {
    let store: std::sync::Weak<SqliteStore> = Arc::downgrade(store);
    Library::start(serve.folder.path(), store, notes).map(Arc::new).map_err(|error| {
        tracing::warn!(%error, "nothing can be searched");
        error.to_string()
    })
}

fn open_store(serve: &Serve, answer_to: mpsc::Sender<StoreAnswer>, notes: Notes) -> Result<SqliteStore, Failure> {
    let options = Options { durability: durability(serve.config.durability), notes, ..Options::default() };
    // The queue holds more answers than can be asked for, so this waits never; a store that has ended answers on the
    // driver's own thread, which must not wait at all.
    let on_done = move |done| {
        if let Err(mpsc::error::TrySendError::Full(answer)) = answer_to.try_send(StoreAnswer::Done(done)) {
            drop(answer_to.blocking_send(answer));
        }
    };
    let (store, report) =
        SqliteStore::open(serve.folder.path(), options, on_done).map_err(|error| Failure::failed(error.to_string()))?;
    for note in report.notes {
        tracing::warn!("{note}");
    }
    Ok(store)
}

fn durability(chosen: Durability) -> store::Durability {
    match chosen {
        Durability::Full => store::Durability::Full,
        Durability::Normal => store::Durability::Normal,
    }
}

async fn bind(listen: Listen) -> Result<TcpListener, Failure> {
    match TcpListener::bind(listen.addr).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse && listen.if_taken == PortTaken::PickAnother => {
            let any = std::net::SocketAddr::new(listen.addr.ip(), 0);
            TcpListener::bind(any).await.map_err(|error| Failure::failed(format!("cannot listen at {any}: {error}")))
        }
        Err(error) => Err(Failure::failed(format!(
            "cannot listen at {}: {error}; choose another address with --listen, or :0 for any free port",
            listen.addr
        ))),
    }
}

fn doors(
    serve: &Serve,
    inbox: mpsc::Sender<crate::link::ViewInput>,
    metrics: Arc<Metrics>,
    (store, library): (&Arc<SqliteStore>, &Result<Arc<Library>, String>),
    (recorder, artifacts): (Recorder, Arc<Artifacts>),
) -> Result<Doors, Failure> {
    // By a weak handle: whoever is at a door must not keep the store open.
    let store = Arc::downgrade(&(Arc::clone(store) as Arc<dyn store::Store>));
    let failed = |error: &dyn std::fmt::Display| Failure::failed(error.to_string());
    let token = Secret::new(serve.folder.token()?.reveal());
    let data = DataId::new(serve.folder.id()?.as_str()).map_err(|error| failed(&error))?;
    Ok(Doors {
        access: Access::new(&token, &data).map_err(|error| failed(&error))?,
        allowed_hosts: serve.config.server.allowed_hosts.clone(),
        allowed_origins: serve.config.server.allowed_origins.clone(),
        inbox,
        metrics,
        store,
        library: library.as_ref().map_or_else(|_| std::sync::Weak::new(), Arc::downgrade),
        recorder,
        artifacts,
        attachments: Attachments::within(serve.folder.path()),
        dialects: make_dialect,
    })
}

/// Writes down that a workspace is trusted, or no longer, while no host runs; the lease shows that none does.
pub fn set_trust_in_store(folder: &Folder, _lease: &Lease, root: &WorkspaceRoot, trust: Trust) -> Result<(), Failure> {
    let (answer_to, answer) = std::sync::mpsc::sync_channel(1);
    let on_done = move |done| drop(answer_to.send(done));
    let (store, report) = SqliteStore::open(folder.path(), Options::default(), on_done)
        .map_err(|error| Failure::failed(error.to_string()))?;
    for note in report.notes {
        tracing::warn!("{note}");
    }
    let trusted = (trust == Trust::Trusted).then(|| Clock::start().now());
    let change = Change::Workspace(WorkspaceRow { root: root.clone(), trusted });
    store::Store::commit(&store, Commit { ticket: Ticket(1), entries: Vec::new(), changes: vec![change] });
    let done = answer.recv().map_err(|_| Failure::failed("the store ended without an answer"))?;
    store.close().map_err(|error| Failure::failed(error.to_string()))?;
    done.changes_failed.map_or(Ok(()), |reason| Err(Failure::failed(reason)))
}
