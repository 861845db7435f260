//! `connect`: joins standard input and output to the running host, for an editor's extension or a browser's. Looks into no
//! message but those that are too large for a browser.
//!
//! | module | owns |
//! | --- | --- |
//! | [`background`] | starting a host that outlives us |
//! | `browser` | which extensions may come in, and what is too large for them |
//! | `relay` | messages both ways |

pub(super) mod background;
mod browser;
mod relay;

use switchboard_dialects::framing::FramingKind;
use switchboard_dialects::view::ViewKind;

use self::browser::Browser;
use self::relay::Bounds;
use super::args::{Cli, ConnectArgs};
use super::control::Control;
use super::exit::Failure;
use super::{schema, wire};

/// Does what was asked.
pub(super) async fn run(cli: &Cli, args: &ConnectArgs) -> Result<(), Failure> {
    let extension = args.origin.first();
    let (kind, framing) = match extension {
        Some(origin) => {
            browser::admit(cli, origin)?;
            (ViewKind::Tools, FramingKind::Native)
        }
        None => (schema::view_dialect(args.dialect.as_deref().unwrap_or_default())?, args.framing.kind()),
    };
    let folder = cli.folder()?;
    let running = background::running_or_started(cli, &folder).await?;
    let control = Control::of(&running, folder.token()?)?;
    if cli.flags.workspace.is_some() {
        control.add_workspace(&cli.workspace(None)?).await?;
    }
    let socket = wire::open(&control, kind.name()).await?;
    let bounds = if extension.is_some() { Bounds::Browser(Browser::new(control)) } else { Bounds::None };
    relay::run(socket, kind, framing, bounds).await
}
