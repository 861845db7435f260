//! The keyring of the desktop: the Secret Service on the session's D-Bus. Asks a person to unlock it only where a value is wanted
//! or stored, and never waits for long.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use secret_service::{Collection, EncryptionType, Error, SecretService};

/// Set to `off`, no keyring is looked for, and secrets are kept in the file.
pub const SWITCH: &str = "SWITCHBOARD_KEYRING";
/// How long it may take to see whether there is one.
const LOOK: Duration = Duration::from_secs(3);
/// How long a person may take to unlock it.
const UNLOCK: Duration = Duration::from_secs(30);
/// What our entries are known by.
const APPLICATION: &str = "switchboard";

/// The way to the keyring, for the secrets of one data folder.
#[derive(Clone, Debug)]
pub(super) struct Keyring {
    folder: String,
}

/// How a keyring is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It can be used.
    Open,
    /// A person must unlock it first.
    Locked,
}

impl Keyring {
    /// None if it is switched off.
    pub(super) fn if_wanted(folder: &Path) -> Option<Self> {
        let off = std::env::var(SWITCH).is_ok_and(|word| word == "off");
        (!off).then(|| Self { folder: folder.display().to_string() })
    }

    /// How it is; the error says why there is none. Asks nobody.
    pub(super) fn state(&self) -> Result<State, String> {
        within(LOOK, async |service| {
            let locked = default(&service).await?.is_locked().await?;
            Ok(if locked { State::Locked } else { State::Open })
        })
    }

    pub(super) fn put(&self, name: &str, value: &str) -> Result<(), String> {
        let label = format!("Switchboard: {name}");
        // Without a look first, a bus that does not answer would cost the patience that a person gets.
        self.state()?;
        within(UNLOCK, async |service| {
            let collection = default(&service).await?;
            if collection.is_locked().await? {
                collection.unlock().await?;
            }
            collection.create_item(&label, self.attributes(name), value.as_bytes(), true, "text/plain").await?;
            Ok(())
        })
    }

    pub(super) fn get(&self, name: &str) -> Result<String, String> {
        self.state()?;
        within(UNLOCK, async |service| {
            let found = service.search_items(self.attributes(name)).await?;
            let item = match (found.unlocked.into_iter().next(), found.locked.into_iter().next()) {
                (Some(item), _) => item,
                (None, Some(item)) => {
                    item.unlock().await?;
                    item
                }
                (None, None) => return Err(Error::NoResult),
            };
            let value = item.get_secret().await?;
            String::from_utf8(value).map_err(|_| Error::Crypto("its value is no text"))
        })
    }

    /// That it is gone already is fine.
    pub(super) fn remove(&self, name: &str) -> Result<(), String> {
        self.state()?;
        within(UNLOCK, async |service| {
            let found = service.search_items(self.attributes(name)).await?;
            for item in found.unlocked.into_iter().chain(found.locked) {
                if item.is_locked().await? {
                    item.unlock().await?;
                }
                item.delete().await?;
            }
            Ok(())
        })
    }

    fn attributes<'a>(&'a self, name: &'a str) -> HashMap<&'a str, &'a str> {
        HashMap::from([("application", APPLICATION), ("folder", self.folder.as_str()), ("secret", name)])
    }
}

async fn default<'a>(service: &'a SecretService<'_>) -> Result<Collection<'a>, Error> {
    service.get_default_collection().await
}

/// Does something with the service on a thread of its own, since whoever asks may be within a runtime.
fn within<T: Send>(
    patience: Duration,
    act: impl AsyncFnOnce(SecretService<'static>) -> Result<T, Error> + Send,
) -> Result<T, String> {
    if !has_bus() {
        return Err("there is no session bus".to_owned());
    }
    let on_thread = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let done = runtime.block_on(async {
            let asked = async {
                let service = SecretService::connect(EncryptionType::Dh).await?;
                act(service).await
            };
            tokio::time::timeout(patience, asked).await
        });
        runtime.shutdown_background();
        match done {
            Ok(done) => done.map_err(|error| in_words(&error)),
            Err(_) => Err(format!("it did not answer within {} s", patience.as_secs())),
        }
    };
    std::thread::scope(|scope| scope.spawn(on_thread).join())
        .unwrap_or_else(|_| Err("the look at it failed; the log says more".to_owned()))
}

/// Whether this session has a bus at all; without one nothing is tried.
fn has_bus() -> bool {
    let named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    let usual = std::env::var_os("XDG_RUNTIME_DIR").map(|folder| PathBuf::from(folder).join("bus"));
    named || usual.is_some_and(|socket| socket.exists())
}

fn in_words(error: &Error) -> String {
    match error {
        Error::Locked => "it is locked".to_owned(),
        Error::NoResult => "it has no such entry, or no default collection".to_owned(),
        Error::Prompt => "it was not unlocked".to_owned(),
        Error::Unavailable => "no keyring answers on the session bus".to_owned(),
        other => other.to_string(),
    }
}
