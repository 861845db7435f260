//! The listening socket, the connections and their end. Reads no header itself; the guard does.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use socket2::{SockRef, TcpKeepalive};
use switchboard_types::LinkId;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use super::access::{Access, AccessError};
use super::artifact::Artifacts;
use super::guard::{Guard, Rules};
use super::metrics::Metrics;
use super::names::{self, Names};
use super::routes;
use super::v1::desk::Desk;
use super::ws::MakeDialect;
use crate::attachments::Attachments;
use crate::library::Library;
use crate::link::ViewInput;
use crate::store::Store;
use crate::wire::Recorder;

/// Connections at one time; one more is dropped at once.
pub const MAX_CONNECTIONS: u32 = 20_000;
/// How long a request's head may take, and how long a connection may idle between requests.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// Headers of one request.
const MAX_HEADERS: usize = 64;
/// The head of one request.
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// How long the end waits for what is under way.
const DRAIN_TIME: Duration = Duration::from_secs(5);
/// The pause after the system could give no connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// A peer that says nothing is asked for a sign of life after this time, then every [`KEEPALIVE_EVERY`].
const KEEPALIVE_AFTER: Duration = Duration::from_secs(60);
const KEEPALIVE_EVERY: Duration = Duration::from_secs(15);
const KEEPALIVE_TRIES: u32 = 4;

/// Why there is no server.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The listening socket is not usable.
    #[error("the listening socket cannot be used: {0}")]
    Socket(#[from] std::io::Error),
}

/// What stands behind the doors and who may come in.
pub struct Doors {
    /// The credentials.
    pub access: Access,
    /// Names under which the host is reached, besides the local ones.
    pub allowed_hosts: Vec<String>,
    /// Pages that may speak to the host, besides our own.
    pub allowed_origins: Vec<String>,
    /// The way to the host's task.
    pub inbox: mpsc::Sender<ViewInput>,
    /// Where to count.
    pub metrics: Arc<Metrics>,
    /// What is stored, to be read. The host's task alone keeps it open.
    pub store: Weak<dyn Store>,
    /// What is found again; nothing if it cannot be opened.
    pub library: Weak<Library>,
    /// Where what is recorded goes.
    pub recorder: Recorder,
    /// What can be fetched for a short while.
    pub artifacts: Arc<Artifacts>,
    /// What was uploaded.
    pub attachments: Attachments,
    /// The dialects behind `/ws/…`.
    pub dialects: MakeDialect,
}

/// What every door can reach.
pub(crate) struct Shared {
    pub(crate) access: Arc<Access>,
    pub(crate) inbox: mpsc::Sender<ViewInput>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) store: Weak<dyn Store>,
    pub(crate) library: Weak<Library>,
    pub(crate) recorder: Recorder,
    pub(crate) wire_readers: Arc<Semaphore>,
    pub(crate) artifacts: Arc<Artifacts>,
    pub(crate) attachments: Attachments,
    pub(crate) desk: Desk,
    pub(crate) dialects: MakeDialect,
    pub(crate) phase: watch::Receiver<Phase>,
    url: String,
    links: Arc<AtomicU64>,
}

/// A name for a link, never used again.
pub(crate) fn next_link(links: &AtomicU64) -> LinkId {
    LinkId(links.fetch_add(1, Ordering::Relaxed) + 1)
}

impl Shared {
    pub(crate) fn next_link(&self) -> LinkId {
        next_link(&self.links)
    }

    pub(crate) fn login_link(&self, now: Instant) -> Result<String, AccessError> {
        let code = self.access.new_code(now)?;
        Ok(format!("{}/login?code={}", self.url, code.reveal()))
    }
}

/// How far the server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It takes connections.
    Open,
    /// It takes none; what is under way ends by itself.
    Draining,
    /// Whatever is left ends now.
    Gone,
}

/// A connection's place among the [`MAX_CONNECTIONS`]; whoever goes on with the connection keeps it.
#[derive(Clone)]
pub(crate) struct Place(#[expect(dead_code, reason = "held for its drop")] Arc<HeldPlace>);

struct HeldPlace {
    metrics: Arc<Metrics>,
    _permit: OwnedSemaphorePermit,
}

impl Place {
    fn new(permit: OwnedSemaphorePermit, metrics: &Arc<Metrics>) -> Self {
        metrics.connections_open.up();
        Self(Arc::new(HeldPlace { metrics: Arc::clone(metrics), _permit: permit }))
    }
}

impl Drop for HeldPlace {
    fn drop(&mut self) {
        self.metrics.connections_open.down();
    }
}

/// The doors of a host, at one address.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    rules: Arc<Rules>,
    shared: Arc<Shared>,
    phase: watch::Sender<Phase>,
    places: Arc<Semaphore>,
}

impl Server {
    /// Doors at a socket that listens already; nobody is let in before [`Server::run`].
    pub fn new(listener: TcpListener, doors: Doors) -> Result<Self, ServerError> {
        let address = listener.local_addr()?;
        let (phase, seen_phase) = watch::channel(Phase::Open);
        let access = Arc::new(doors.access);
        let names = Names::new(address, &doors.allowed_hosts, &doors.allowed_origins);
        let rules = Rules { access: Arc::clone(&access), names, metrics: Arc::clone(&doors.metrics) };
        let links = Arc::new(AtomicU64::new(0));
        let desk = Desk::new(doors.inbox.clone(), Arc::clone(&links));
        let shared = Shared {
            access,
            inbox: doors.inbox,
            metrics: doors.metrics,
            store: doors.store,
            library: doors.library,
            recorder: doors.recorder,
            wire_readers: Arc::new(Semaphore::new(super::wire::MAX_READERS)),
            artifacts: doors.artifacts,
            attachments: doors.attachments,
            desk,
            dialects: doors.dialects,
            phase: seen_phase,
            url: names::url(address),
            links,
        };
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS as usize));
        Ok(Self { listener, address, rules: Arc::new(rules), shared: Arc::new(shared), phase, places })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its address for a browser on this machine, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.shared.url
    }

    /// A fresh one-time link to the page.
    pub fn login_link(&self, now: Instant) -> Result<String, AccessError> {
        self.shared.login_link(now)
    }

    /// Lets views in until `stop` turns true or its sender is gone; then waits, for a bounded time, for what is under way.
    ///
    /// Links end when the host's task closes them; what is left after the wait is cut off.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        let Self { listener, rules, shared, phase, places, .. } = self;
        let metrics = Arc::clone(&shared.metrics);
        let doorman = Doorman { rules, router: routes::router(shared), phase: phase.subscribe() };
        tokio::select! {
            () = doorman.accept(&listener, &places, &metrics) => {}
            // An error says that the sender is gone, which is a stop, too.
            _ = stop.wait_for(|stop| *stop) => {}
        }
        drop(listener);
        drop(doorman);
        phase.send_replace(Phase::Draining);
        if tokio::time::timeout(DRAIN_TIME, places.acquire_many(MAX_CONNECTIONS)).await.is_err() {
            tracing::warn!("connections were cut off, since they did not end in time");
        }
        phase.send_replace(Phase::Gone);
    }
}

/// Takes connections and hands each to a task of its own.
struct Doorman {
    rules: Arc<Rules>,
    router: Router,
    phase: watch::Receiver<Phase>,
}

impl Doorman {
    async fn accept(&self, listener: &TcpListener, places: &Arc<Semaphore>, metrics: &Arc<Metrics>) {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Mostly too many open files; those that close make room.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            metrics.connections.one();
            let Ok(permit) = Arc::clone(places).try_acquire_owned() else {
                metrics.connections_dropped.one();
                continue;
            };
            let place = Place::new(permit, metrics);
            let guard = Guard { rules: Arc::clone(&self.rules), router: self.router.clone(), place };
            tokio::spawn(serve(stream, guard, self.phase.clone()));
        }
    }
}

async fn serve(stream: TcpStream, guard: Guard, mut phase: watch::Receiver<Phase>) {
    if let Err(error) = tune(&stream) {
        tracing::debug!(%error, "a connection's socket takes no options");
    }
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(guard))
        .with_upgrades();
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => Some(ended),
        _ = phase.wait_for(|phase| *phase >= Phase::Draining) => None,
    };
    let ended = match ended {
        Some(ended) => ended,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                _ = phase.wait_for(|phase| *phase >= Phase::Gone) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

fn tune(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let keepalive =
        TcpKeepalive::new().with_time(KEEPALIVE_AFTER).with_interval(KEEPALIVE_EVERY).with_retries(KEEPALIVE_TRIES);
    SockRef::from(stream).set_tcp_keepalive(&keepalive)
}
