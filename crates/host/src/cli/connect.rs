//! `connect`: joins standard input and output to the running host, for an editor's extension. Looks into no message.
//!
//! | module | owns |
//! | --- | --- |
//! | [`background`] | starting a host that outlives us |
//! | `relay` | messages both ways |

pub(super) mod background;
mod relay;

use super::args::{Cli, ConnectArgs};
use super::control::Control;
use super::exit::Failure;
use super::{schema, wire};

/// How a browser names an extension.
const EXTENSION: &str = "chrome-extension://";

/// Does what was asked.
pub(super) async fn run(cli: &Cli, args: &ConnectArgs) -> Result<(), Failure> {
    if let Some(origin) = &args.origin {
        return Err(if origin.starts_with(EXTENSION) {
            Failure::usage("this version is no browser's native messaging host yet; use the page: `switchboard open`")
        } else {
            Failure::usage("connect takes no words; name the dialect: `switchboard connect --dialect tabs`")
        });
    }
    let kind = schema::view_dialect(args.dialect.as_deref().unwrap_or_default())?;
    let folder = cli.folder()?;
    let running = background::running_or_started(cli, &folder).await?;
    let control = Control::of(&running, folder.token()?)?;
    if cli.flags.workspace.is_some() {
        control.add_workspace(&cli.workspace(None)?).await?;
    }
    let socket = wire::open(&control, kind.name()).await?;
    relay::run(socket, kind, args.framing.kind()).await
}
