//! Model servers on this very machine: where Ollama would be, and whether it is there. Asks no other machine, and sends no token.

use std::net::IpAddr;
use std::time::Duration;

use switchboard_types::{ModelServer, ServerKind, SettingsAnswer};

use super::probe::{self, Token, counted};
use crate::agent::base_url_of_ollama;
use crate::calling::Address;

/// The variable that says where Ollama listens, and where those who call it look for it.
pub(crate) const OLLAMA_HOST: &str = "OLLAMA_HOST";
/// How long a server of this machine may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where Ollama is to be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// On this machine.
    Here(String),
    /// On another one, which is asked only if a person names it.
    Elsewhere(String),
    /// The variable makes no sense.
    Nowhere,
}

/// The same as an answer.
pub(super) async fn servers(named: Option<&str>) -> SettingsAnswer {
    let (servers, message) = look(named).await;
    SettingsAnswer::Servers { servers, message }
}

/// Looks where Ollama would be, and says what came of it; `named` is what [`OLLAMA_HOST`] says.
pub(super) async fn look(named: Option<&str>) -> (Vec<ModelServer>, String) {
    let none = |message: String| (Vec::new(), message);
    let base_url = match place(named) {
        Place::Here(base_url) => base_url,
        Place::Elsewhere(base_url) => {
            return none(format!(
                "{OLLAMA_HOST} names another machine, `{base_url}`, which is not asked by itself; test its address"
            ));
        }
        Place::Nowhere => return none(format!("{OLLAMA_HOST} holds no address that could be asked; mend or unset it")),
    };
    let found = probe::look(&base_url, Token::None, PATIENCE).await;
    let Some((kind, models)) = found.served else {
        return none(format!("no model server was found at `{base_url}`: {}", found.message));
    };
    let who = match kind {
        ServerKind::Ollama => "Ollama",
        ServerKind::OpenAi => "a model server",
    };
    let message = format!("{who} answers at `{base_url}`: {}", counted(models.len()));
    (vec![ModelServer { base_url, kind, models }], message)
}

/// What the variable means, as the built-in agent takes it too.
fn place(named: Option<&str>) -> Place {
    let base_url = base_url_of_ollama(named);
    let Ok(address) = Address::read(&base_url) else { return Place::Nowhere };
    let host = address.bare_host();
    let is_here = host.parse::<IpAddr>().map_or(host == "localhost", |ip| ip.is_loopback());
    if is_here { Place::Here(base_url) } else { Place::Elsewhere(base_url) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_on_this_machine_is_looked_at() {
        let here = |place: &str| Place::Here(place.to_owned());
        let elsewhere = |place: &str| Place::Elsewhere(place.to_owned());
        for (named, meant) in [
            ("", here("http://127.0.0.1:11434")),
            ("0.0.0.0:8080", here("http://127.0.0.1:8080")),
            ("[::]:8080", here("http://[::1]:8080")),
            (":8080", here("http://127.0.0.1:8080")),
            ("127.0.0.5:9", here("http://127.0.0.5:9")),
            ("localhost:1234", here("http://localhost:1234")),
            ("LOCALHOST", here("http://LOCALHOST:11434")),
            ("https://localhost/", here("https://localhost:443")),
            ("[::1]", here("http://[::1]:11434")),
            ("::1", here("http://[::1]:11434")),
            ("10.0.0.7", elsewhere("http://10.0.0.7:11434")),
            ("https://gpu.example", elsewhere("https://gpu.example:443")),
            ("127.0.0.1.example", elsewhere("http://127.0.0.1.example:11434")),
            ("localhost.example", elsewhere("http://localhost.example:11434")),
            ("ftp://localhost", Place::Nowhere),
            ("127.0.0.1:70000", Place::Nowhere),
            ("user@127.0.0.1", Place::Nowhere),
            ("[::1", Place::Nowhere),
        ] {
            assert_eq!(place(Some(named)), meant, "{named:?}");
        }
        assert_eq!(place(None), here("http://127.0.0.1:11434"));
    }
}
