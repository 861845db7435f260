//! The demo agent's ordinary answer: a thought, a plan, and Markdown with code at a pace that can be read along.

use std::time::Duration;

use super::turn::{Stopped, Turn};

/// From chunk to chunk.
const PACE: Duration = Duration::from_millis(15);
/// Characters of the prompt that are repeated.
const ECHO_CHARS: usize = 200;
/// What the plan says.
const STEPS: [&str; 3] = ["Read the prompt", "Explain what this is", "Show how to plug in a real agent"];

/// What `demo: help` says.
pub(super) const HELP: &str = "\
The demo agent knows these prompts:

| prompt | what happens |
| --- | --- |
| `demo: help` | this |
| `demo: echo TEXT` | says TEXT |
| `demo: spell TEXT` | says TEXT, letter by letter |
| `demo: slow [N]` | N words, one each 250 ms (20) |
| `demo: fast [N]` | N chunks `1 `, `2 `, … as fast as possible (100000) |
| `demo: flood [MB]` | so many megabytes in large chunks (32) |
| `demo: long [MB]` | one line of so many megabytes (10) |
| `demo: silent` | completes without a word |
| `demo: unicode` | text that is easily broken |
| `demo: approve` | asks for an approval and says what was decided |
| `demo: tool` | calls a tool and says what came back |
| `demo: run [COMMAND]` | asks to run a command and says what it wrote (`ls -la`) |
| `demo: edit` | asks to write `switchboard-demo.md`, then to change a line of it |
| `demo: env` | the names of its environment variables |
| `demo: error` | the turn fails |
| `demo: garbage` | noise, then an answer |
| `demo: hang` | never answers, not even to a cancel |
| `demo: crash [N]` | N chunks, then exit code 3 (3) |
| `demo: half` | half a line, then exits |
| `demo: exit` | exits at once |

Anything else gets the ordinary answer.
";

/// Answers any prompt.
pub(super) fn answer(turn: &Turn, prompt: &str, context: usize) -> Result<(), Stopped> {
    turn.plan(&STEPS, 0)?;
    turn.think("A prompt has come. I am only a demo, so I cannot do what it asks; I can say so, kindly.", PACE)?;
    turn.plan(&STEPS, 1)?;
    turn.tell(&opening(prompt, context), PACE)?;
    turn.plan(&STEPS, 2)?;
    turn.tell(PLUG_IN, PACE)?;
    turn.plan(&STEPS, STEPS.len())
}

fn opening(prompt: &str, context: usize) -> String {
    let mut echo: String = prompt.chars().take(ECHO_CHARS).collect();
    if prompt.chars().nth(ECHO_CHARS).is_some() {
        echo.push('…');
    }
    // A quote of several lines must stay one.
    let echo = echo.trim().replace('\n', "\n> ");
    let files = match context {
        0 => String::new(),
        1 => " One file came with it.".to_owned(),
        count => format!(" {count} files came with it."),
    };
    format!(
        "You said:\n\n> {echo}\n\n{files}I am the **demo agent** of Switchboard. I understand nothing and change \
         nothing; I am here so that you can see words arrive.\n\n"
    )
}

const PLUG_IN: &str = r#"## Plug in a real agent

Put this into `~/.config/switchboard/config.toml` and start Switchboard again:

```toml
default_agent = "mine"

[agents.mine]
kind = "plain"            # one JSON object per line
command = ["./agent.sh"]  # found in the workspace, or in PATH without a slash
```

An agent of that kind is a few lines in any language. It reads a line and writes lines:

```sh
#!/bin/sh
n=0
while read -r line; do
  id=${line#*'"sessionId":"'}; id=${id%%'"'*}
  case $line in
    *'"new-session"'*)
      n=$((n + 1))
      printf '{"type":"session-created","sessionId":"%s"}\n' "$n" ;;
    *'"process-prompt"'*)
      printf '{"type":"response-chunk","sessionId":"%s","chunk":"Hello!"}\n' "$id"
      printf '{"type":"response-complete","sessionId":"%s"}\n' "$id" ;;
  esac
done
```

Say `demo: help` to see what else I can do.
"#;
