//! The program `switchboard`.

use std::process::ExitCode;

fn main() -> ExitCode {
    if switchboard_host::demo::run().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
