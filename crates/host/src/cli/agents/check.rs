//! `agents check`: starts one agent really, in this process and without a host, and says step by step what it can do.
//! Whatever happens, it is ended with all that it started.
//!
//! | module | owns |
//! | --- | --- |
//! | `whom` | which agent, and where |
//! | `probe` | the agent's process: what is asked and heard, with its deadlines |
//! | `steps` | what is printed |

mod probe;
mod steps;
mod whom;

use switchboard_types::{AgentOption, Outcome, SignInMethod, SlashCommand};

use crate::cli::args::{CheckArgs, Cli};
use crate::cli::exit::{Exit, Failure};
use crate::cli::stop::Signals;
use probe::{Opened, Probe, Stopped};
use steps::{Step, Steps};
use whom::Whom;

/// Names that are shown of a long list.
const MAX_NAMES: usize = 12;
/// Characters of an answer that are shown.
const ANSWER_CHARS: usize = 200;

/// Checks it.
pub(super) async fn run(cli: &Cli, args: &CheckArgs) -> Result<(), Failure> {
    let mut signals = Signals::listen().map_err(|error| Failure::failed(format!("no signals: {error}")))?;
    let whom = Whom::find(cli, args).await?;
    let mut steps = Steps::new(cli.format());
    whom.say(&mut steps);
    // An engine works elsewhere: there is no program to look for.
    if whom.spec.kind.process().is_some() {
        let program = match whom.program() {
            Ok(program) => program,
            Err(why) => return Err(steps.failed(Step::Program, &why, &whom.install())),
        };
        steps.good(Step::Program, &program.display().to_string());
    }
    let mut probe = Probe::start(cli, &whom)?;
    let ended = tokio::select! {
        ended = walk(&whom, &mut probe, &mut steps, args.prompt.as_deref()) => ended,
        _ = signals.next() => Err(Failure::new(Exit::Interrupted, "interrupted; the agent is ended")),
    };
    let leaving = async {
        match ended {
            Ok(()) => match probe.close().await {
                Ok(how) => {
                    steps.good(Step::Closed, &how);
                    Ok(())
                }
                Err(stopped) => Err(steps.failed(Step::Closed, &stopped.why, "it was ended by force")),
            },
            Err(failure) => {
                probe.end().await;
                Err(failure)
            }
        }
    };
    tokio::select! {
        ended = leaving => {
            ended?;
            steps.all_well(&whom);
            Ok(())
        }
        // Its processes end with this one.
        _ = signals.next() => Err(Failure::new(Exit::Interrupted, "interrupted")),
    }
}

/// From the start to the last question.
async fn walk(whom: &Whom, probe: &mut Probe, steps: &mut Steps, prompt: Option<&str>) -> Result<(), Failure> {
    let failed = |steps: &mut Steps, step, stopped: Stopped| steps.failed(step, &stopped.why, &whom.next(&stopped));
    if let Err(stopped) = probe.started().await {
        return Err(failed(steps, Step::Started, stopped));
    }
    steps.good(Step::Started, &format!("in {}", whom.root));
    let opened = loop {
        match probe.opened(steps).await {
            Ok(Opened::Introduced(about)) => steps.introduced(&about),
            Ok(Opened::Session) => break Ok(()),
            Ok(Opened::SignIn { message, methods }) => break Err((message, sign_in(whom, &methods))),
            Ok(Opened::Refused(message)) => break Err((message, whom.sign_in())),
            Err(stopped) => return Err(failed(steps, Step::Session, stopped)),
        }
    };
    if let Err((message, mend)) = opened {
        return Err(steps.failed(Step::Session, &message, &mend));
    }
    steps.good(Step::Session, "opened");
    let offered = probe.offered().await;
    if !offered.options.is_empty() {
        steps.with(Step::Options, &names(offered.options.iter().map(option)), &offered.options);
    }
    if !offered.commands.is_empty() {
        steps.with(Step::Commands, &names(offered.commands.iter().map(command)), &offered.commands);
    }
    let Some(prompt) = prompt else { return Ok(()) };
    match probe.ask(prompt).await {
        Ok(turn) if turn.outcome == Outcome::Completed => {
            steps.good(Step::Prompt, &format!("answered: {}", shortened(&turn.text)));
            Ok(())
        }
        Ok(turn) => {
            let why = turn.why.unwrap_or_else(|| "the turn did not complete".to_owned());
            Err(steps.failed(Step::Prompt, &why, &whom.sign_in()))
        }
        Err(stopped) => Err(failed(steps, Step::Prompt, stopped)),
    }
}

fn option(option: &AgentOption) -> String {
    format!("{} = {} (of {})", option.name, option.value, option.choices.len())
}

fn command(command: &SlashCommand) -> String {
    format!("/{}", command.name)
}

fn names(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(MAX_NAMES);
    let shown: Vec<_> = all.take(MAX_NAMES).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn sign_in(whom: &Whom, methods: &[SignInMethod]) -> String {
    let todo: Vec<_> = methods.iter().map(|method| format!("{}: {}", method.name, method.todo)).collect();
    if todo.is_empty() { whom.sign_in() } else { todo.join("; or ") }
}

fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() { "without a word".to_owned() } else { crate::agents::shown::shown(&line, ANSWER_CHARS) }
}
