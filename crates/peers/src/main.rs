//! The peers as a program; `cargo xtask peers` builds and starts it.

use anyhow::Result;
use switchboard_peers::model::Model;

#[tokio::main]
async fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let model = Model::start(args[1].parse()?, args.get(2).map(std::path::Path::new)).await?;
    println!("{}", model.address);
    model.run().await;
    Ok(())
}
