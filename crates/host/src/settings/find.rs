//! Model servers on this very machine: where Ollama would be, and whether it is there. Asks no other machine, and sends no token.

use std::net::IpAddr;
use std::time::Duration;

use switchboard_types::{ModelServer, ServerKind, SettingsAnswer};

use super::probe::{self, Token, counted};

/// The variable that says where Ollama listens, and where those who call it look for it.
pub(crate) const OLLAMA_HOST: &str = "OLLAMA_HOST";
/// Where it listens if nobody says.
const USUAL_PORT: u16 = 11434;
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

/// Looks where Ollama would be; `named` is what [`OLLAMA_HOST`] says.
pub(super) async fn servers(named: Option<&str>) -> SettingsAnswer {
    let none = |message: String| SettingsAnswer::Servers { servers: Vec::new(), message };
    let base_url = match place(named.unwrap_or_default()) {
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
    SettingsAnswer::Servers { servers: vec![ModelServer { base_url, kind, models }], message }
}

/// What the variable means, in the spellings that Ollama itself takes: a host, a port, both, with a scheme or without.
fn place(named: &str) -> Place {
    let named = named.trim().trim_matches(['"', '\'']).trim();
    let (scheme, rest, usual) = match named.split_once("://") {
        Some(("http", rest)) => ("http", rest, 80),
        Some(("https", rest)) => ("https", rest, 443),
        Some(_) => return Place::Nowhere,
        None => ("http", named, USUAL_PORT),
    };
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let Some((host, port)) = parted(authority, usual) else { return Place::Nowhere };
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { String::new() } else { format!("/{path}") };
    let spelled = |host: &str| format!("{scheme}://{host}:{port}{path}");
    match host.parse::<IpAddr>() {
        // Where a server listens everywhere, it listens here.
        Ok(ip) if ip.is_unspecified() => Place::Here(spelled("127.0.0.1")),
        Ok(ip) => {
            let place = spelled(&if ip.is_ipv6() { format!("[{ip}]") } else { ip.to_string() });
            if ip.is_loopback() { Place::Here(place) } else { Place::Elsewhere(place) }
        }
        Err(_) if host.is_empty() => Place::Here(spelled("127.0.0.1")),
        Err(_) if host.eq_ignore_ascii_case("localhost") => Place::Here(spelled("localhost")),
        Err(_) if host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c)) => {
            Place::Elsewhere(spelled(host))
        }
        Err(_) => Place::Nowhere,
    }
}

/// Host and port; an address of version 6 may stand without brackets where no port follows.
fn parted(authority: &str, usual: u16) -> Option<(&str, u16)> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        let port = if rest.is_empty() { usual } else { rest.strip_prefix(':')?.parse().ok()? };
        return Some((host, port));
    }
    match authority.rsplit_once(':') {
        Some((host, _)) if host.contains(':') => Some((authority, usual)),
        Some((host, "")) => Some((host, usual)),
        Some((host, port)) => Some((host, port.parse().ok()?)),
        None => Some((authority, usual)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_the_variable_means_what_ollama_takes_it_for() {
        let here = |place: &str| Place::Here(place.to_owned());
        let elsewhere = |place: &str| Place::Elsewhere(place.to_owned());
        for (named, meant) in [
            ("", here("http://127.0.0.1:11434")),
            ("  ", here("http://127.0.0.1:11434")),
            ("0.0.0.0", here("http://127.0.0.1:11434")),
            ("0.0.0.0:8080", here("http://127.0.0.1:8080")),
            ("[::]:8080", here("http://127.0.0.1:8080")),
            ("::", here("http://127.0.0.1:11434")),
            (":8080", here("http://127.0.0.1:8080")),
            ("127.0.0.1", here("http://127.0.0.1:11434")),
            ("\"127.0.0.5:9\"", here("http://127.0.0.5:9")),
            ("localhost:1234", here("http://localhost:1234")),
            ("http://localhost", here("http://localhost:80")),
            ("https://localhost/", here("https://localhost:443")),
            ("http://127.0.0.1:1/ollama/", here("http://127.0.0.1:1/ollama")),
            ("::1", here("http://[::1]:11434")),
            ("[::1]", here("http://[::1]:11434")),
            ("[::1]:1", here("http://[::1]:1")),
            ("10.0.0.7", elsewhere("http://10.0.0.7:11434")),
            ("https://gpu.example", elsewhere("https://gpu.example:443")),
            ("127.0.0.1.example", elsewhere("http://127.0.0.1.example:11434")),
            ("ftp://localhost", Place::Nowhere),
            ("localhost:port", Place::Nowhere),
            ("127.0.0.1:70000", Place::Nowhere),
            ("user@127.0.0.1", Place::Nowhere),
            ("[::1", Place::Nowhere),
        ] {
            assert_eq!(place(named), meant, "{named:?}");
        }
    }
}
