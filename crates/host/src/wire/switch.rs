//! Which sessions a person switched on or off, as it is kept on the disk. What nobody switched follows the agent's
//! configuration.

use std::collections::BTreeMap;
use std::io;

use switchboard_types::SessionId;

use super::files::WireFolder;

/// What a person wants of a session's record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Keep it.
    On,
    /// Keep no more.
    Off,
}

impl Switch {
    fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// What is switched, of all sessions that are.
pub fn all(folder: &WireFolder) -> BTreeMap<SessionId, Switch> {
    let read = |session: SessionId| {
        let text = std::fs::read_to_string(folder.switch(session)).ok()?;
        match text.trim() {
            "on" => Some((session, Switch::On)),
            "off" => Some((session, Switch::Off)),
            _ => None,
        }
    };
    folder.sessions().into_iter().filter_map(read).collect()
}

/// Keeps a switch.
pub fn set(folder: &WireFolder, session: SessionId, switch: Switch) -> io::Result<()> {
    folder.make()?;
    folder.write_private(&folder.switch(session), switch.word().as_bytes())
}

/// Forgets a switch: the configuration counts again.
pub fn clear(folder: &WireFolder, session: SessionId) -> io::Result<()> {
    match std::fs::remove_file(folder.switch(session)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_found_again() {
        let data = tempfile::tempdir().unwrap();
        let folder = WireFolder::within(data.path());
        assert_eq!(all(&folder), BTreeMap::new());
        set(&folder, SessionId(1), Switch::On).unwrap();
        set(&folder, SessionId(2), Switch::On).unwrap();
        set(&folder, SessionId(2), Switch::Off).unwrap();
        set(&folder, SessionId(3), Switch::On).unwrap();
        clear(&folder, SessionId(3)).unwrap();
        clear(&folder, SessionId(4)).unwrap();
        assert_eq!(all(&folder), BTreeMap::from([(SessionId(1), Switch::On), (SessionId(2), Switch::Off)]));
    }
}
