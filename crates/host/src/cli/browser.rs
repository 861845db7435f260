//! Opening the page: by the desktop's own opener, never by a shell, and only where a person can see it.

use std::env;
use std::io::{self, IsTerminal};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Opens an address of ours if there is a display and a person at the terminal.
pub(super) fn open(url: &str) {
    let has_display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some());
    if !has_display || !io::stdout().is_terminal() || !is_web(url) {
        return;
    }
    // By its place in the system, from its root: the folder that the person stands in may hold a program of that name.
    let mut opener = Command::new("/usr/bin/xdg-open");
    opener.arg(url).current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    match opener.spawn() {
        // It ends soon; somebody must notice, or it stays as a zombie.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => tracing::debug!(%error, "no browser could be opened"),
    }
}

fn is_web(url: &str) -> bool {
    url.starts_with("http://") || url.starts_with("https://")
}
