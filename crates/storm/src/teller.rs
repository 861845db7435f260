//! An agent that keeps accounts: it appends the name of every prompt that it is given to a file before it answers. A shell
//! script of the kind `plain`, so it is a process of its own and shares nothing with the program.

/// Its name in the configuration.
pub(crate) const NAME: &str = "teller";
/// Where it writes down what it was asked, in its working folder.
pub(crate) const ACCOUNT: &str = "asked.txt";
/// Where the commands that it asks for leave their traces, in the same folder.
pub(crate) const TRACES: &str = "spawned.txt";

/// The agent. `tell N` is answered with `NAME/1 NAME/2 …`, so that a word in the wrong turn shows by itself. `order N` asks the
/// host for a command that leaves its name as a trace and takes N hundredths of a second.
pub(crate) const SCRIPT: &str = r#"#!/bin/sh
sessions=0
# Sets `value` to a string of the line; names and prompts of the storm hold nothing that is escaped.
field() { rest=${line#*\"$1\":\"}; value=${rest%%\"*}; }
while IFS= read -r line; do
  case $line in
    *'"type":"new-session"'*)
      field requestId; sessions=$((sessions + 1))
      printf '{"type":"session-created","requestId":"%s","sessionId":"s%s"}\n' "$value" "$sessions" ;;
    *'"type":"process-prompt"'*)
      field sessionId; turn="\"sessionId\":\"$value\""
      field messageId; name=$value; turn="$turn,\"messageId\":\"$name\""
      field text
      printf '%s\n' "$name" >> asked.txt
      case $value in
        'order '*)
          command="printf '%s\\\\n' $name >> spawned.txt; sleep 0.0${value#order }"
          printf '{"type":"tool-call",%s,"callId":"%s","toolName":"run_terminal_command","parameters":{"command":"%s"}}\n' \
            "${turn%%,*}" "$name" "$command"
          continue ;;
      esac
      count=${value#tell }
      number=0
      while [ "$number" -lt "$count" ]; do
        number=$((number + 1))
        printf '{"type":"response-chunk",%s,"chunk":"%s/%s "}\n' "$turn" "$name" "$number"
      done
      printf '{"type":"response-complete",%s}\n' "$turn" ;;
    *'"type":"tool-result"'*)
      field sessionId; turn="\"sessionId\":\"$value\""
      field callId
      printf '{"type":"response-complete",%s,"messageId":"%s"}\n' "$turn" "$value" ;;
  esac
done
"#;
