//! `sessions rename`: a title of a person's own, which stays.

use serde_json::json;
use switchboard_types::SessionId;

use crate::cli::args::{Cli, Format};
use crate::cli::exit::Failure;
use crate::cli::print;
use crate::cli::reach::Reach;

pub(super) async fn run(cli: &Cli, reach: &Reach, id: SessionId, title: &[String]) -> Result<(), Failure> {
    reach.rename(id, &title.join(" ")).await?;
    let title = reach.session(id).await?.title;
    match cli.format() {
        Format::Json => print::json(&json!({ "id": id, "title": title })),
        Format::Words => print::words(&format!("Session {id} is called {title} now.")),
    }
    Ok(())
}
