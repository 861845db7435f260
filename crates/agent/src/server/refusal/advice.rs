//! The words for a person: what happened, what the server says, and what to do next.

use super::About;
use super::judge::Fault;
use super::words::{Complaint, clean, without_tokens};
use crate::server::shown_address;

/// Models that are listed.
const MAX_LISTED: usize = 8;

/// What to say of a fault.
pub(super) fn advice(fault: Fault, status: u16, about: Option<&About<'_>>, complaint: &Complaint) -> String {
    let place = about
        .map_or_else(|| "the server".to_owned(), |about| format!("the server at {}", shown_address(about.base_url)));
    let model = about.map_or_else(|| "the model".to_owned(), |about| format!("the model {}", name(about.model)));
    let says =
        if complaint.words.is_empty() { String::new() } else { format!(" It says: {}", ended(&complaint.words)) };
    let http = if status == 0 { String::new() } else { format!(" (HTTP {status})") };
    let text = match fault {
        Fault::Unwelcome => {
            let what = match about {
                Some(about) if about.had_token => "does not accept the token. Set another one for it",
                Some(_) => "wants a token, and none is set. Set one for it",
                None => "does not accept the token. Set another one for it",
            };
            format!("{place} {what}, and check that it may use {model}{http}.{says}")
        }
        Fault::NoModel => return missing(about, &place, complaint, &says),
        Fault::NothingLoaded => {
            let load =
                about.map_or_else(String::new, |about| format!(", for example with `lms load {}`", bare(about.model)));
            format!("{place} has no model loaded. Load one{load}, then ask again.{says}")
        }
        Fault::TooLong => format!(
            "The conversation is longer than {model} can read. Make it shorter with /compact, begin a new session, or give the model \
             a larger context on its server.{says}"
        ),
        Fault::NoTools => format!(
            "{model} cannot call tools by its server's own way. Calls can be read from its text instead; or choose another model, or \
             switch tools on at the server (vLLM: `--enable-auto-tool-choice --tool-call-parser NAME`, llama.cpp: `--jinja`).{says}"
        ),
        Fault::NoImages => format!("{model} takes no pictures. Leave them out, or choose a model that sees.{says}"),
        Fault::Busy => format!("{place} is asked too often{http}. Try again later.{says}"),
        Fault::Quota => {
            format!("{place} will not answer before the account is topped up, or its limit is raised{http}.{says}")
        }
        Fault::Loading => format!("{place} is still loading the model{http}. Try again in a moment.{says}"),
        Fault::Unloadable => {
            let get = about
                .filter(|about| is_ollama(about, complaint) && !bare(about.model).is_empty())
                .map_or_else(String::new, |about| format!(" with `ollama pull {}`", bare(about.model)));
            format!(
                "{place} cannot load {model}{http}: its files may be damaged, or made for a newer version of the server. Get the model \
                 again{get}, bring the server up to date, or choose another model.{says}"
            )
        }
        Fault::Ill if status == 0 => format!("{place} has failed. Try again; its own log may say more.{says}"),
        Fault::Ill => {
            format!("{place} is out of order{http}. Try again; if it stays so, look at the server's own log.{says}")
        }
        Fault::TooLarge => {
            format!("{model} is too large for its machine. Choose a smaller one, or a smaller context.{says}")
        }
        Fault::BadCall => format!(
            "{model} wrote a call of a tool that its server could not read. Ask again, or choose another model.{says}"
        ),
        Fault::WrongPath => format!(
            "{place} does not know what was asked of it{http}. Is the base address right? It should be that of Ollama or of a server \
             with /v1/chat/completions.{says}"
        ),
        Fault::Other if complaint.words.is_empty() => {
            format!("{place} refused the question{http}, and does not say why.")
        }
        Fault::Other => format!("{place} refused the question{http}.{says}"),
    };
    capital(&text)
}

/// The model is not there: what is, nearest first.
fn missing(about: Option<&About<'_>>, place: &str, complaint: &Complaint, says: &str) -> String {
    let Some(about) = about else { return capital(&format!("{place} does not have the model.{says}")) };
    let mut text = format!("{place} does not have the model {}.", name(about.model));
    let model = bare(about.model);
    if is_ollama(about, complaint) && !model.is_empty() {
        text.push_str(&format!(" Get it with `ollama pull {model}`, or choose another."));
    } else {
        text.push_str(" Choose another.");
    }
    let mut there: Vec<&String> = about.models.iter().collect();
    there.sort_by_cached_key(|there| (distance(about.model, there), (*there).clone()));
    if there.is_empty() {
        text.push_str(says);
    } else {
        let listed = there.iter().take(MAX_LISTED).map(|there| clean(there, 80)).collect::<Vec<_>>().join(", ");
        let more = there.len().saturating_sub(MAX_LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        text.push_str(&format!(" It has: {listed}{more}."));
    }
    capital(&text)
}

/// Whether it is Ollama that complains, as far as can be told.
fn is_ollama(about: &About<'_>, complaint: &Complaint) -> bool {
    let said = ["try pulling", "llama runner process"];
    about.base_url.contains(":11434") || said.iter().any(|said| complaint.all.contains(said))
}

/// What to say when nobody answers.
pub(super) fn nobody(about: &About<'_>, reason: &str) -> String {
    let address = shown_address(about.base_url);
    let why = if reason.is_empty() { String::new() } else { format!(" ({reason})") };
    let small = reason.to_lowercase();
    let says = |spellings: &[&str]| spellings.iter().any(|spelling| small.contains(spelling));
    let todo = if says(&["certificate", "tls", "ssl", "handshake"]) {
        "The link to it cannot be made safe: check that the address begins as it should (http or https), and its certificate."
    } else if says(&["dns", "resolve", "lookup", "name or service not known", "no such host"]) {
        "Its name is not known here: check the address for a slip."
    } else if address.contains(":11434") {
        "Is it running? Start it with `ollama serve`, or set another address."
    } else if address.contains(":1234") {
        "Is it running? Start it in LM Studio or with `lms server start`, or set another address."
    } else if address.contains(":8080") {
        "Is it running? Start it, for example with `llama-server -m MODEL.gguf --jinja`, or set another address."
    } else if address.contains(":8000") {
        "Is it running? Start it, for example with `vllm serve MODEL`, or set another address."
    } else {
        "Is it running, and is the address right? For a model on this machine: `ollama serve`, and http://127.0.0.1:11434."
    };
    format!("No server answers at {address}{why}. {todo}")
}

/// A model's name as it may be shown.
fn name(model: &str) -> String {
    format!("\"{}\"", clean(&without_tokens(model), 120))
}

/// A model's name as it may be typed; nothing if it could be anything but a name.
fn bare(model: &str) -> &str {
    let fits = |each: char| each.is_ascii_alphanumeric() || matches!(each, '_' | '-' | '.' | ':' | '/');
    if !model.starts_with('-') && model.len() <= 200 && model.chars().all(fits) { model } else { "" }
}

fn ended(words: &str) -> String {
    if words.ends_with(['.', '!', '?', '…']) { words.to_owned() } else { format!("{words}.") }
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// How far two names are from each other: changed letters, but what only lacks a tag or a maker is near.
fn distance(wanted: &str, there: &str) -> usize {
    let (wanted, there) = (wanted.to_lowercase(), there.to_lowercase());
    let family =
        |name: &str| name.rsplit('/').next().unwrap_or_default().split(':').next().unwrap_or_default().to_owned();
    if family(&wanted) == family(&there) {
        return 0;
    }
    let (wanted, there): (Vec<char>, Vec<char>) = (wanted.chars().take(64).collect(), there.chars().take(64).collect());
    let mut row: Vec<usize> = (0..=there.len()).collect();
    for (i, left) in wanted.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, right) in there.iter().enumerate() {
            let at = |row: &[usize], k: usize| row.get(k).copied().unwrap_or(usize::MAX / 2);
            let changed = at(&row, j) + usize::from(left != right);
            next.push(changed.min(at(&row, j + 1) + 1).min(at(&next, j) + 1));
        }
        row = next;
    }
    1 + row.last().copied().unwrap_or_default()
}
