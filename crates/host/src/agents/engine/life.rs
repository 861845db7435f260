//! The task that owns one engine's dialect: the host's asks in, its words out, requests and streams beside. Takes from no stream
//! while the host does not take words.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use serde_json::value::RawValue;
use switchboard_dialects::agent::engine::{
    AnswerTo, Engine, EngineRequest, EngineSettings, Failure, Heard, Method, Output, Payload, Request, Response,
    StreamNo, StreamOrder,
};
use switchboard_types::{LifeId, Time, Word};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{Instant, sleep_until, timeout};

use super::super::life::{Around, asked_to_stop, deliver};
use super::super::quiet::{self, Pass, Quiet};
use super::super::shown::shown;
use super::super::spec::{AgentKind, AgentSpec};
use super::super::tape::Tape;
use super::stream::{self, Batch};
use crate::calling::{Address, Caller};
use crate::files::artifact::safe_mime;
use crate::link::{AgentInput, AgentOrder};
use crate::secrets::Secrets;
use crate::server::{Artifacts, Shelved};

/// Batches of all streams that wait for the host.
const BATCHES: usize = 16;
/// Requests under way at once; the others wait.
const MAX_REQUESTS: usize = 32;
/// How long requests that are under way may take once the life is to end.
const LAST_REQUESTS: Duration = Duration::from_secs(2);
/// Bytes at the beginning of what is fetched that say what it is.
const TELLING_BYTES: usize = 8 * 1024;
/// Characters of noise that the log shows.
const NOISE_CHARS: usize = 200;

type Answered = (EngineRequest, Result<Response, Failure>);

/// Follows the engine until it is told to stop.
pub(in super::super) async fn live(life: LifeId, spec: AgentSpec, around: Around) {
    let (inbox, stop) = (around.inbox.clone(), around.stop.clone());
    let message = match caller(&spec, around.secrets.clone()).await {
        Ok((caller, settings)) => Life::new(life, &spec, caller, settings, around).run().await,
        Err(why) => format!("agent `{}` cannot be reached: {why}", spec.name),
    };
    tracing::info!(agent = %spec.name, life = life.0, "{message}");
    deliver(&inbox, stop, AgentInput::Ended { life, message }).await;
}

async fn caller(spec: &AgentSpec, secrets: Secrets) -> Result<(Caller, EngineSettings), String> {
    let AgentKind::Engine { url, secret, config_path, workspace } = spec.kind.clone() else {
        return Err("it is no engine".to_owned());
    };
    let settings = EngineSettings { agent: spec.name.to_string(), config_path, workspace };
    let made = tokio::task::spawn_blocking(move || {
        let address = Address::read(&url)?;
        let token = secret.map(|secret| secrets.for_origin(&secret, &address.origin()));
        let token = token.transpose().map_err(|error| error.to_string())?;
        Caller::new(address, token.as_ref())
    });
    let caller = made.await.map_err(|error| error.to_string())??;
    Ok((caller, settings))
}

struct Life {
    life: LifeId,
    agent: String,
    engine: Engine,
    caller: Arc<Caller>,
    streams: HashMap<StreamNo, AbortHandle>,
    heard: mpsc::Receiver<Batch>,
    hear: mpsc::Sender<Batch>,
    requests: JoinSet<Answered>,
    waiting: std::collections::VecDeque<Request>,
    words: Vec<Word>,
    tape: Tape,
    outgoing: Option<AgentInput>,
    quiet: Quiet,
    around: Around,
}

impl Life {
    fn new(life: LifeId, spec: &AgentSpec, caller: Caller, settings: EngineSettings, around: Around) -> Self {
        let (hear, heard) = mpsc::channel(BATCHES);
        Self {
            life,
            agent: spec.name.to_string(),
            engine: Engine::new(settings),
            caller: Arc::new(caller),
            streams: HashMap::new(),
            heard,
            hear,
            requests: JoinSet::new(),
            waiting: std::collections::VecDeque::new(),
            words: Vec::new(),
            tape: Tape::new(around.taping),
            outgoing: Some(AgentInput::Started { life }),
            quiet: Quiet::new(quiet::LOG, Instant::now()),
            around,
        }
    }

    /// Gives the message about its end.
    async fn run(mut self) -> String {
        self.engine.begin();
        self.carry_out();
        let why = self.serve().await;
        self.around.orders.close();
        self.streams.drain().for_each(|(_, stream)| stream.abort());
        // What was asked just now, such as to stop, should still arrive.
        let _ = timeout(LAST_REQUESTS, async { while self.requests.join_next().await.is_some() {} }).await;
        self.requests.abort_all();
        format!("agent `{}` is no longer followed ({why}); what it does goes on where it works", self.agent)
    }

    async fn serve(&mut self) -> &'static str {
        let inbox = self.around.inbox.clone();
        loop {
            self.hand_in();
            let free = self.outgoing.is_none();
            let due = self.engine.due().map(|due| self.instant(due));
            tokio::select! {
                permit = inbox.reserve(), if !free => {
                    let (Ok(permit), Some(input)) = (permit, self.outgoing.take()) else { return "the host is gone" };
                    permit.send(input);
                }
                batch = self.heard.recv(), if free => {
                    if let Some((stream, heard)) = batch {
                        self.hear(stream, heard);
                    }
                }
                answered = self.requests.join_next(), if free && !self.requests.is_empty() => {
                    if let Some(Ok((no, answer))) = answered {
                        self.answered(no, answer);
                    }
                    self.send_waiting();
                }
                () = sleep_until(due.unwrap_or_else(Instant::now)), if free && due.is_some() => {
                    self.engine.tick(self.around.clock.now());
                    self.carry_out();
                }
                order = self.around.orders.recv() => match order {
                    Some(AgentOrder::Ask(ask)) => {
                        self.engine.ask(self.around.clock.now(), ask);
                        self.carry_out();
                    }
                    Some(AgentOrder::Tape(taping)) => self.tape.set(taping),
                    Some(AgentOrder::End(_)) => return "it was told to end",
                    None => return "the host is gone",
                },
                () = asked_to_stop(&mut self.around.stop) => return "the host stops",
            }
        }
    }

    fn instant(&self, due: Time) -> Instant {
        Instant::now() + Duration::from_millis(due.since(self.around.clock.now()))
    }

    /// The tape first: it holds words that came before the others.
    fn hand_in(&mut self) {
        if self.outgoing.is_some() {
            return;
        }
        let life = self.life;
        if let Some(items) = self.tape.take() {
            self.outgoing = Some(AgentInput::Taped { life, items });
        } else if !self.words.is_empty() {
            self.outgoing = Some(AgentInput::Words { life, words: std::mem::take(&mut self.words) });
        }
    }

    fn hear(&mut self, stream: StreamNo, heard: Vec<Heard>) {
        for heard in heard {
            let raw = match &heard {
                Heard::Event(event) => event.data.clone(),
                Heard::Opened | Heard::Comment | Heard::Retry(_) | Heard::Ended(_) => Bytes::new(),
            };
            if matches!(heard, Heard::Ended(_)) {
                self.streams.remove(&stream);
            }
            let now = self.around.clock.now();
            let noise = self.engine.heard(now, stream, heard).err();
            if let Some(reason) = &noise {
                self.noise(reason);
            }
            self.carry_out_heard(&raw, noise);
        }
    }

    fn noise(&mut self, reason: &str) {
        if let Pass::Yes { left_out } = self.quiet.ask(Instant::now()) {
            let reason = shown(reason, NOISE_CHARS);
            tracing::warn!(agent = %self.agent, left_out, "an event of the engine means nothing: {reason}");
        }
    }

    fn answered(&mut self, no: EngineRequest, answer: Result<Response, Failure>) {
        let raw = match &answer {
            Ok(response) => {
                let body: Option<&RawValue> = serde_json::from_slice(&response.body).ok();
                json!({ "response": { "status": response.status, "body": body } }).to_string()
            }
            Err(failure) => json!({ "failure": failure.message }).to_string(),
        };
        self.engine.answered(self.around.clock.now(), no, answer);
        self.carry_out_heard(&Bytes::from(raw), None);
    }

    /// Does what the dialect wants done.
    fn carry_out(&mut self) {
        self.carry_out_heard(&Bytes::new(), None);
    }

    fn carry_out_heard(&mut self, raw: &Bytes, noise: Option<String>) {
        let Output { words, requests, streams } = self.engine.poll();
        let now = self.around.clock.now();
        let from = self.words.len();
        self.words.extend(words);
        if !raw.is_empty() || self.words.len() > from {
            self.tape.heard(now, raw, &mut self.words, from, noise);
        }
        for order in streams {
            match order {
                StreamOrder::Open { stream, session, path, last_id } => {
                    let told = json!({ "request": { "method": "GET", "path": path, "lastEventId": last_id } });
                    self.tape.told(now, told.to_string().as_bytes(), Some(session));
                    let reading = stream::read(self.caller.clone(), stream, (path, last_id), self.hear.clone());
                    self.streams.insert(stream, tokio::spawn(reading).abort_handle());
                }
                StreamOrder::Close { stream } => {
                    if let Some(reading) = self.streams.remove(&stream) {
                        reading.abort();
                    }
                }
            }
        }
        for request in requests {
            self.tape.told(now, taped(&request).as_bytes(), request.session);
            self.waiting.push_back(request);
        }
        self.send_waiting();
    }

    fn send_waiting(&mut self) {
        while self.requests.len() < MAX_REQUESTS
            && let Some(request) = self.waiting.pop_front()
        {
            let (caller, shelf) = (self.caller.clone(), Arc::clone(&self.around.shelf));
            self.requests.spawn(async move {
                let (no, to) = (request.no, request.answer.clone());
                let answer = caller.call(request).await;
                match to {
                    AnswerTo::Dialect => (no, answer),
                    AnswerTo::Shelf { path } => (no, answer.map(|response| shelve(&path, response, &shelf))),
                }
            });
        }
    }
}

/// Puts what was fetched where views can fetch it; the answer says where. One that is not good stays as it is.
fn shelve(path: &str, response: Response, shelf: &Artifacts) -> Response {
    if !response.is_good() {
        return response;
    }
    let Response { status, body } = response;
    let name = path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("artifact").to_owned();
    let mime = safe_mime(body.get(..TELLING_BYTES).unwrap_or(&body));
    let size = body.len();
    match shelf.shelve(Shelved { name: name.clone(), mime, bytes: body }, std::time::Instant::now()) {
        Ok(url) => {
            let told = json!({ "name": name, "mime": mime, "size": size, "url": url });
            Response { status, body: Bytes::from(told.to_string()) }
        }
        Err(reject) => Response { status: 413, body: Bytes::from(json!({ "message": reject.message }).to_string()) },
    }
}

/// A request as the record of the wire has it.
fn taped(request: &Request) -> String {
    let method = match request.method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Delete => "DELETE",
    };
    let (body, files): (Option<&RawValue>, Vec<&str>) = match &request.payload {
        Payload::None => (None, Vec::new()),
        Payload::Json(body) => (serde_json::from_slice(body).ok(), Vec::new()),
        Payload::Upload(files) => (None, files.iter().map(|file| file.name.as_str()).collect()),
    };
    json!({ "request": { "method": method, "path": request.path, "body": body, "files": files } }).to_string()
}
