//! What the model is told before all else: who it is, the rules of its mode, the project's instructions, the plan. Short, since small
//! models read it too, and the same from question to question as far as possible, since servers keep what they have read.

use crate::server::text_calls;
use crate::talk::{Calling, ToolSpec};
use crate::tools::bounded;
use crate::worker::{Instruction, Mode, Step, StepStatus};

/// The most that the project's instructions may take, however large the window is.
const MAX_INSTRUCTIONS: usize = 64 * 1024;

/// What goes into the system's message.
pub(crate) struct System<'a> {
    pub(crate) mode: Mode,
    pub(crate) root: &'a str,
    pub(crate) instructions: &'a [Instruction],
    pub(crate) plan: &'a [Step],
    pub(crate) calling: Calling,
    pub(crate) tools: &'a [ToolSpec],
    pub(crate) window: u64,
}

/// The system's message.
pub(crate) fn system(of: &System<'_>) -> String {
    let mut text =
        "You are a coding agent. You work in a folder of a person's project and answer in their language.\n".to_owned();
    if !of.root.is_empty() {
        text.push_str(&format!("The project's folder is {}. Give paths relative to it.\n", of.root));
    }
    text.push('\n');
    text.push_str(rules(of.mode));
    text.push_str(
        "\nHow to work:\n\
         - Look before you answer: read, list and search with the tools. Never guess what a file says.\n\
         - If a tool fails, read why and do it differently. If the person says no, do not try the same again.\n\
         - When you are done, say in a few words what you did and what is left. Do not call a tool then.\n",
    );
    instructions(of, &mut text);
    plan(of.plan, &mut text);
    match of.calling {
        Calling::Native => {}
        Calling::Text => {
            text.push('\n');
            text.push_str(&text_calls::how(of.tools));
        }
    }
    text
}

fn rules(mode: Mode) -> &'static str {
    match mode {
        Mode::Agent => {
            "Your task is to do what the person asks: read, change files, run commands, and check that it works.\n\
             - Change as little as the task needs, in the style of the code around it.\n\
             - Change files with edit_file; copy old_text exactly from what you have read. Use write_file for new files.\n\
             - After a change, run the project's tests or build if there are any, and mend what fails.\n\
             - For a task of several steps, call update_plan first and keep it up to date.\n\
             - Do not commit, push, switch branches or delete things unless you are asked to.\n"
        }
        Mode::Edit => {
            "Your task is to change files as the person asks. You cannot run commands.\n\
             - Change as little as the task needs, in the style of the code around it.\n\
             - Change files with edit_file; copy old_text exactly from what you have read. Use write_file for new files.\n\
             - For a task of several steps, call update_plan first and keep it up to date.\n"
        }
        Mode::Plan => {
            "Your task is to make a plan. You can read and search, but not change or run anything.\n\
             - Find out what the task needs, then call update_plan with the steps, and explain the plan in a few words.\n"
        }
        Mode::Ask => {
            "Your task is to answer questions about the project. You can read and search, but not change or run anything.\n"
        }
    }
}

fn instructions(of: &System<'_>, text: &mut String) {
    // A quarter of the window at most, at four bytes a token.
    let mut room = usize::try_from(of.window).unwrap_or(usize::MAX).min(MAX_INSTRUCTIONS);
    for instruction in of.instructions {
        if instruction.text.trim().is_empty() {
            continue;
        }
        if room < 200 {
            text.push_str(&format!("\n[{} is left out: there is no room for it]\n", instruction.path));
            continue;
        }
        let said = bounded(instruction.text.trim(), room);
        room = room.saturating_sub(said.len());
        text.push_str(&format!("\nThe project's instructions, from {}:\n{said}\n", instruction.path));
    }
}

/// The plan, as long as something of it is left to do.
fn plan(steps: &[Step], text: &mut String) {
    if steps.iter().all(|step| step.status == StepStatus::Completed) {
        return;
    }
    text.push_str("\nThe plan as it stands (keep it up to date with update_plan):\n");
    for step in steps {
        let mark = match step.status {
            StepStatus::Pending => ' ',
            StepStatus::InProgress => '>',
            StepStatus::Completed => 'x',
        };
        text.push_str(&format!("[{mark}] {}\n", step.content));
    }
}

/// What a model is told that has to make a summary.
pub(crate) const SUMMARIZE: &str = "You keep the notes of a coding agent. Below is the conversation between a person and the agent so far. \
Write a summary from which the agent can go on without it. Say, in this order and without any preface: what the person wants, with \
every wish and limit they named; what was done, with the paths of the files that were read or changed and what is in them that matters; \
what failed and why; what is still to be done. Keep names, paths, commands and numbers exact. Do not invent anything.";

/// Added to a question after an answer with nothing in it.
pub(crate) const SAID_NOTHING: &str =
    "[Your last answer was empty. Either call a tool, or say in words what you found or did.]";

/// Added to a question after an answer that stopped in the middle.
pub(crate) const GO_ON: &str =
    "[Your answer was cut off here. Go on exactly where it stopped, without repeating anything.]";

/// Added to the next question when an answer wanted too much.
pub(crate) const TOO_MANY_CALLS: &str = "[That were too many calls at once; only the first of them were done.]";

/// Added to the next question when an answer stopped in the middle of its calls.
pub(crate) const CUT_CALLS: &str =
    "[Your last answer ran out of tokens. Make fewer and shorter calls at once; write a long file in parts.]";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::offered;

    fn told(mode: Mode, instructions: &[Instruction], plan: &[Step], calling: Calling, window: u64) -> String {
        system(&System { mode, root: "/p", instructions, plan, calling, tools: &offered(mode), window })
    }

    #[test]
    fn it_is_short_enough_for_a_small_model() {
        for mode in [Mode::Agent, Mode::Plan, Mode::Ask, Mode::Edit] {
            assert!(told(mode, &[], &[], Calling::Native, 8192).len() < 1600);
            assert!(told(mode, &[], &[], Calling::Text, 8192).len() < 6000);
        }
    }

    #[test]
    fn instructions_are_given_with_their_path_and_never_take_the_whole_window() {
        let agents = |text: &str| Instruction { path: "AGENTS.md".to_owned(), text: text.to_owned() };
        let text = told(Mode::Agent, &[agents("Use tabs.")], &[], Calling::Native, 8192);
        assert!(text.contains("from AGENTS.md:\nUse tabs."), "{text}");
        let long = vec![agents(&"x".repeat(30_000)); 10];
        assert!(told(Mode::Agent, &long, &[], Calling::Native, 8192).len() < 12_000);
    }

    #[test]
    fn a_plan_is_shown_until_all_of_it_is_done() {
        let step = |status| Step { content: "mend it".to_owned(), status };
        let text =
            told(Mode::Agent, &[], &[step(StepStatus::Completed), step(StepStatus::InProgress)], Calling::Native, 8192);
        assert!(text.contains("[x] mend it\n[>] mend it"), "{text}");
        assert!(!told(Mode::Agent, &[], &[step(StepStatus::Completed)], Calling::Native, 8192).contains("mend it"));
    }

    #[test]
    fn nobody_is_told_to_make_branches_or_to_say_a_magic_word() {
        let text = told(Mode::Agent, &[], &[], Calling::Native, 8192);
        assert!(!text.contains("TASK_COMPLETE") && text.contains("Do not commit, push, switch branches"));
    }
}
