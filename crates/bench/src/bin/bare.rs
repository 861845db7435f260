//! A bare program of axum and rusqlite: opens a database with a full-text table, listens, and does nothing else. What a
//! start costs at least with these two.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::routing::get;

fn main() -> Result<()> {
    let file = std::env::args_os().nth(1).map(PathBuf::from).context("usage: bench-bare FILE")?;
    let base = rusqlite::Connection::open(file)?;
    base.pragma_update(None, "journal_mode", "WAL")?;
    base.execute_batch(
        "CREATE TABLE IF NOT EXISTS log (id INTEGER PRIMARY KEY, session INTEGER NOT NULL, records BLOB NOT NULL);
         CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text);",
    )?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", serde_json::json!({ "port": listener.local_addr()?.port() }));
        let doors = Router::new().route("/healthz", get(|| async { "ok" }));
        axum::serve(listener, doors).await.context("serving")
    })
}
