//! The model's server: what it is and has, and its answers as they stream in. Follows nothing elsewhere, and says nothing of a
//! token. How it wants to be asked is `switchboard_agent::server`'s business.

mod wait;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Incoming};
use switchboard_agent::said::{End, Said};
use switchboard_agent::server::{self, About, Answer, Close, Flavor, models::Model};
use switchboard_agent::talk::Ask;
use switchboard_agent::trouble::{Trouble, TroubleKind};
use switchboard_dialects::agent::engine::{AnswerTo, EngineRequest, Failure, Method, Payload, Request, Response, Sent};
use tokio::sync::mpsc;
use tokio::time::{sleep_until, timeout, timeout_at};

use wait::{Times, USUAL, Wait};

use super::desk::News;
use crate::calling::{Address, Caller, broke, whole};
use crate::server::Secret;

/// How long a look at what the server has may take.
const LOOK: Duration = Duration::from_secs(10);
/// How long it may then take to learn what its models can do: who is slow there costs that, and not the list.
const DESCRIBE: Duration = Duration::from_secs(5);
/// Bytes of a refusal.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;
/// Bytes of one answer.
const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Who is called.
#[derive(Debug)]
pub(super) struct Far {
    base_url: String,
    /// Why nobody can be called, if that is so.
    caller: Result<Caller, String>,
    had_token: bool,
    times: Times,
}

/// What is known of the server.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) flavor: Flavor,
    pub(super) models: Vec<Model>,
}

/// Where an answer goes.
#[derive(Clone, Debug)]
pub(super) struct Ear {
    pub(super) session: String,
    pub(super) question: u64,
    pub(super) news: mpsc::Sender<News>,
}

impl Ear {
    async fn said(&self, said: Vec<Said>) -> Option<()> {
        let (session, question) = (self.session.clone(), self.question);
        self.news.send(News::Said { session, question, said }).await.ok()
    }

    /// The number of the first call that the server gives no name: none of an earlier life of the session is near it.
    fn first_call(&self) -> u32 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        u32::try_from(since.as_millis() / 10 % u128::from(u32::MAX / 2)).unwrap_or_default()
    }

    async fn note(&self, text: String) {
        let _ = self.news.send(News::Note { session: self.session.clone(), question: self.question, text }).await;
    }
}

impl Known {
    /// What a server has told of a model before counts until it tells otherwise.
    pub(super) fn remember(&mut self, before: &Self) {
        if self.flavor != before.flavor {
            return;
        }
        for model in self.models.iter_mut().filter(|model| model.context.is_none()) {
            if let Some(told) = before.models.iter().find(|told| told.name == model.name) {
                model.context = told.context;
                model.tools = model.tools.or(told.tools);
                model.images = model.images.or(told.images);
                model.thinks = model.thinks.or(told.thinks);
            }
        }
    }

    /// The model of this name; Ollama's `latest` may be left out.
    pub(super) fn model(&self, name: &str) -> Option<&Model> {
        let latest = |model: &&Model| model.name.strip_suffix(":latest") == Some(name);
        self.models.iter().find(|model| model.name == name).or_else(|| self.models.iter().find(latest))
    }

    /// What is taken if nobody chooses: the first that can call tools, else the first.
    pub(super) fn first(&self) -> Option<&Model> {
        self.models.iter().find(|model| model.tools == Some(true)).or(self.models.first())
    }

    fn names(&self) -> Vec<String> {
        self.models.iter().map(|model| model.name.clone()).collect()
    }
}

impl Far {
    pub(super) fn new(base_url: &str, token: Option<&Secret>) -> Self {
        // Paths are put together below the origin, since each way of talking has its own below the same address.
        let origin = Address::read(base_url).and_then(|address| Address::read(&address.origin()));
        let caller = origin.and_then(|address| Caller::new(address, token));
        Self { base_url: base_url.to_owned(), caller, had_token: token.is_some(), times: USUAL }
    }

    fn about<'a>(&'a self, model: &'a str, models: &'a [String]) -> About<'a> {
        About { base_url: &self.base_url, model, had_token: self.had_token, models }
    }

    /// Looks what it is and what it has; of the wanted models, also what they can do.
    pub(super) async fn look(&self, wanted: Vec<String>) -> Result<Known, Trouble> {
        let name = wanted.first().map_or("", String::as_str);
        let late = |_| server::unreachable(&self.about(name, &[]), &format!("no answer within {} s", LOOK.as_secs()));
        let mut known = timeout(LOOK, self.list(name)).await.map_err(late)??;
        let _ = timeout(DESCRIBE, self.describe(&mut known, &wanted)).await;
        Ok(known)
    }

    async fn list(&self, name: &str) -> Result<Known, Trouble> {
        let tags = self.get(Flavor::Ollama, name).await?;
        if tags.status == 200
            && let Some(models) = server::models::read_list(Flavor::Ollama, &tags.body)
        {
            return Ok(Known { flavor: Flavor::Ollama, models });
        }
        let list = self.get(Flavor::OpenAi, name).await?;
        match list.status {
            // Some have no list; they are asked all the same.
            404 | 405 | 501 => Ok(Known { flavor: Flavor::OpenAi, models: Vec::new() }),
            200 => match server::models::read_list(Flavor::OpenAi, &list.body) {
                Some(models) => Ok(Known { flavor: Flavor::OpenAi, models }),
                None => Err(Trouble {
                    kind: TroubleKind::Garbage,
                    message: format!(
                        "what answers at {} is no server of models; check the address and the port",
                        self.base_url
                    ),
                    retry_after_ms: None,
                }),
            },
            status => Err(server::refused(&self.about(name, &[]), status, None, &list.body)),
        }
    }

    /// Asks what models can do, where the list does not tell and there is a way.
    async fn describe(&self, known: &mut Known, wanted: &[String]) {
        match known.flavor {
            Flavor::Ollama => self.describe_each(known, wanted).await,
            Flavor::OpenAi => {
                if known.models.is_empty() || known.models.iter().any(|model| model.context.is_some()) {
                    return;
                }
                let told = self.send(Method::Get, server::models::BESIDE_PATH, Payload::None).await;
                if let Ok(told) = told
                    && told.status == 200
                {
                    server::models::read_beside(&told.body, &mut known.models);
                }
            }
        }
    }

    /// The wanted ones, and the one that would be taken if there are none.
    async fn describe_each(&self, known: &mut Known, wanted: &[String]) {
        let mut names: Vec<String> =
            wanted.iter().filter_map(|name| known.model(name)).map(|one| one.name.clone()).collect();
        if names.is_empty() {
            names.extend(known.first().map(|model| model.name.clone()));
        }
        for name in names {
            let Some(post) = server::models::show(known.flavor, &name) else { continue };
            let Ok(response) = self.send(Method::Post, &post.path, Payload::Json(post.body)).await else { continue };
            let model = known.models.iter_mut().find(|model| model.name == name);
            if let Some(model) = model.filter(|_| response.status == 200) {
                server::models::read_show(&response.body, model);
            }
        }
    }

    async fn get(&self, flavor: Flavor, model: &str) -> Result<Response, Trouble> {
        let sent = self.send(Method::Get, server::models::list_path(flavor), Payload::None).await;
        sent.map_err(|reason| server::unreachable(&self.about(model, &[]), &reason))
    }

    async fn send(&self, method: Method, path: &str, payload: Payload) -> Result<Response, String> {
        let caller = self.caller.as_ref().map_err(Clone::clone)?;
        let path = server::path_below(&self.base_url, path);
        let request = Request { no: EngineRequest(0), session: None, method, path, payload, answer: AnswerTo::Dialect };
        caller.call(request).await.map_err(|failure| failure.message)
    }

    /// Asks the model and says what it answers, to its end, which always comes.
    pub(super) async fn answer(self: Arc<Self>, known: Result<Arc<Known>, Trouble>, ask: Box<Ask>, ear: Ear) {
        let end = match known {
            Ok(known) => self.answer_of(&known, &ask, &ear).await,
            Err(trouble) => Some(vec![Said::End(End::Failed(trouble))]),
        };
        if let Some(said) = end {
            let _ = ear.said(said.into_iter().map(|said| self.hushed(said)).collect()).await;
        }
    }

    /// The last of what is said; none if nobody listens any more.
    async fn answer_of(&self, known: &Known, ask: &Ask, ear: &Ear) -> Option<Vec<Said>> {
        let names = known.names();
        let about = self.about(&ask.model, &names);
        let failed = |trouble: Trouble| Some(vec![Said::End(End::Failed(trouble))]);
        if ask.model.is_empty() {
            let message =
                format!("no model is chosen, and {} has none; let it fetch one, then choose it", self.base_url);
            return failed(Trouble { kind: TroubleKind::NoModel, message, retry_after_ms: None });
        }
        let caller = match &self.caller {
            Ok(caller) => caller,
            Err(why) => return failed(server::unreachable(&about, why)),
        };
        let post = server::ask(known.flavor, ask);
        let mut wait = Wait::begin(self.times, ear, &ask.model);
        let response = match self.first_byte(caller, post, &mut wait).await {
            Ok(response) => response,
            Err(Failure { sent: Sent::No, message }) => return failed(server::unreachable(&about, &message)),
            Err(Failure { sent: Sent::Perhaps, message }) => {
                let message = format!("{} took the question and gave no answer: {message}", self.base_url);
                return failed(Trouble { kind: TroubleKind::BrokenOff, message, retry_after_ms: None });
            }
        };
        let status = response.status().as_u16();
        if status != 200 {
            let later = response.headers().get("retry-after").and_then(|value| value.to_str().ok()).map(str::to_owned);
            let body = timeout(LOOK, whole(response.into_body(), MAX_REFUSAL_BYTES)).await;
            let body = caller.hush().body(body.ok().and_then(Result::ok).unwrap_or_default());
            return failed(server::refused(&about, status, later.as_deref(), &body));
        }
        let mut answer = Answer::new(known.flavor, ask.calling).numbered_from(ear.first_call());
        let close = self.follow(response.into_body(), &mut answer, &mut wait).await?;
        Some(answer.end(close))
    }

    /// Until the answer begins, with a word to the person now and then.
    async fn first_byte(
        &self,
        caller: &Caller,
        post: server::Post,
        wait: &mut Wait<'_>,
    ) -> Result<hyper::Response<Incoming>, Failure> {
        let path = server::path_below(&self.base_url, &post.path);
        let answered = caller.post(&path, post.body);
        tokio::pin!(answered);
        loop {
            tokio::select! {
                answered = &mut answered => return answered,
                () = sleep_until(wait.due()) => {}
            }
            wait.go_on().await.map_err(|message| Failure { sent: Sent::Perhaps, message })?;
        }
    }

    /// Reads the stream to its end; none if nobody listens any more.
    async fn follow<B>(&self, mut body: B, answer: &mut Answer, wait: &mut Wait<'_>) -> Option<Close>
    where
        B: Body<Data = Bytes, Error = hyper::Error> + Unpin,
    {
        let mut room = MAX_ANSWER_BYTES;
        loop {
            let data: Bytes = match timeout_at(wait.due(), body.frame()).await {
                Err(_) => match wait.go_on().await {
                    Ok(()) => continue,
                    Err(why) => return Some(Close::Broken(why)),
                },
                Ok(None) => return Some(Close::Clean),
                Ok(Some(Err(error))) => return Some(Close::Broken(broke(&error))),
                Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            };
            let Some(left) = room.checked_sub(data.len()) else {
                return Some(Close::Broken(format!("the answer is over {MAX_ANSWER_BYTES} bytes")));
            };
            room = left;
            let said = answer.read(&data);
            wait.hear(&data, &said);
            if !said.is_empty() {
                let is_over = said.iter().any(|said| matches!(said, Said::End(_)));
                wait.ear.said(said.into_iter().map(|said| self.hushed(said)).collect()).await?;
                if is_over {
                    // The end was said; what may still come is nothing to anybody.
                    return None;
                }
            }
        }
    }

    /// The same without the token, should the server repeat it.
    fn hushed(&self, said: Said) -> Said {
        let Ok(caller) = &self.caller else { return said };
        let hush = |text: String| caller.hush().text(&text).unwrap_or(text);
        match said {
            Said::Text(text) => Said::Text(hush(text)),
            Said::Thought(text) => Said::Thought(hush(text)),
            Said::End(End::Refused(why)) => Said::End(End::Refused(hush(why))),
            Said::End(End::Failed(trouble)) => {
                Said::End(End::Failed(Trouble { message: hush(trouble.message), ..trouble }))
            }
            other @ (Said::Call(_) | Said::Used(_) | Said::End(End::Done | End::Cut)) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream::unfold;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use switchboard_agent::talk::Calling;

    use super::*;

    const WORD: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
    const LONG: Duration = Duration::from_secs(3600);

    fn ear() -> (Ear, mpsc::Receiver<News>) {
        let (news, heard) = mpsc::channel(8);
        (Ear { session: "s".to_owned(), question: 1, news }, heard)
    }

    #[tokio::test]
    async fn a_model_has_the_time_of_a_first_word_although_its_server_has_answered() {
        let (ear, mut heard) = ear();
        let mut far = Far::new("http://127.0.0.1:1", None);
        let silence = Duration::from_millis(10);
        far.times = Times { first_word: LONG, takes_long: [silence * 5, LONG, LONG, LONG], silence };
        let (give, given) = mpsc::channel::<&'static str>(4);
        let body = StreamBody::new(Box::pin(unfold(given, |mut given| async move {
            let text = given.recv().await?;
            Some((Ok::<_, hyper::Error>(Frame::data(Bytes::from(text))), given))
        })));
        let following = async {
            let mut wait = Wait::begin(far.times, &ear, "small");
            far.follow(body, &mut Answer::new(Flavor::OpenAi, Calling::Native), &mut wait).await
        };
        let listening = async {
            // It is still for longer than it may be once it speaks; a person is told.
            let note = heard.recv().await.unwrap();
            assert!(matches!(&note, News::Note { text, .. } if text.contains("`small` has not answered")), "{note:?}");
            give.send(WORD).await.unwrap();
            let said = heard.recv().await.unwrap();
            assert!(matches!(&said, News::Said { said, .. } if *said == [Said::Text("hi".to_owned())]), "{said:?}");
        };
        let both = async { tokio::join!(following, listening) };
        let (close, ()) = timeout(Duration::from_secs(60), both).await.expect("it comes in time");
        assert!(matches!(&close, Some(Close::Broken(why)) if why.contains("nothing came")), "it speaks and is still");
        drop(give);
    }

    #[test]
    fn what_was_told_of_a_model_counts_until_its_server_tells_otherwise() {
        let model = |name: &str, context| Model { name: name.to_owned(), context, ..Model::default() };
        let before = Known { flavor: Flavor::OpenAi, models: vec![model("a", Some(1)), model("b", Some(2))] };
        let mut known =
            Known { models: vec![model("a", None), model("b", Some(3)), model("c", None)], ..before.clone() };
        known.remember(&before);
        assert_eq!(known.models, [model("a", Some(1)), model("b", Some(3)), model("c", None)]);
        let mut another = Known { flavor: Flavor::Ollama, models: vec![model("a", None)] };
        another.remember(&before);
        assert_eq!(another.models, [model("a", None)]);
    }
}
