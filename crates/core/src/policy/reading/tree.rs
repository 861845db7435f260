//! The whole grammar of the shell (tree-sitter), for all that a line holds at any depth: commands within substitutions,
//! functions and loops too. Says what it does not take for granted; never decides.

use tree_sitter::{Node, Parser};

use super::strict::Planned;
use super::word::{Word, words};
use super::{Join, MAX_FOUND, Note, Simple, Target, Touch, bit};

/// What a line may be made of without a doubt.
const KNOWN: &[&str] = &[
    "program",
    "list",
    "pipeline",
    "command",
    "command_name",
    "word",
    "number",
    "string",
    "string_content",
    "raw_string",
    "concatenation",
    "redirected_statement",
    "file_redirect",
    "file_descriptor",
    "variable_assignment",
    "variable_name",
    "&&",
    "||",
    ";",
    "|",
    ">",
    ">>",
    "<",
    "&>",
    "&>>",
    ">|",
    ">&",
    "\"",
    "=",
];

/// All that was found in a line.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Every command, in the order of the text.
    pub(super) found: Vec<(Simple, Note)>,
    /// Every file of a redirection.
    pub(super) targets: Vec<Target>,
    /// Text that a command reads from the line itself.
    pub(super) fed: Vec<String>,
    /// What is not known, in plain words.
    pub(super) doubts: Vec<String>,
    /// Whether the grammar could not make sense of a part.
    pub(super) torn: bool,
}

impl Tree {
    /// Whether both readers have read the same commands.
    pub(super) fn agrees_with(&self, plan: &[(Join, Planned)]) -> bool {
        self.found.len() == plan.len()
            && self.found.iter().zip(plan).all(|((simple, note), (join, planned))| {
                *simple == planned.simple && note.piped == (*join == Join::Pipe)
            })
    }
}

/// Where a node stands.
#[derive(Clone, Copy, Default)]
struct Within {
    piped: bool,
    owner: Option<usize>,
}

/// Reads a line; none if the grammar itself fails.
pub(super) fn read(line: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let parsed = parser.parse(line, None)?;
    let mut tree = Tree::default();
    // A stack of our own: how deep a line nests is not ours to choose.
    let mut open = vec![(parsed.root_node(), Within::default())];
    while let Some((node, mut within)) = open.pop() {
        look(&mut tree, node, line, &mut within);
        let first_command = node.named_child(0).map(|child| child.id());
        let mut cursor = node.walk();
        let mut below: Vec<_> = node.children(&mut cursor).collect();
        below.reverse();
        for child in below {
            let mut at = within;
            if node.kind() == "pipeline" && child.is_named() && Some(child.id()) != first_command {
                at.piped = true;
            }
            open.push((child, at));
        }
    }
    Some(tree)
}

fn look(tree: &mut Tree, node: Node<'_>, line: &str, within: &mut Within) {
    let kind = node.kind();
    if node.is_error() || node.is_missing() {
        tree.torn = true;
        doubt(tree, "it cannot be read: a part of it is no shell");
    } else if !KNOWN.contains(&kind) {
        doubt(tree, plain(kind));
    }
    match kind {
        "command" | "declaration_command" | "unset_command" | "test_command" => {
            if tree.found.len() < MAX_FOUND {
                let found = command(node, line);
                within.owner = Some(tree.found.len());
                let note = Note { piped: within.piped, ..found.1 };
                tree.found.push((found.0, note));
            }
            // What is within is not itself at the end of a pipe.
            within.piped = false;
        }
        "command_substitution" | "process_substitution" => {
            if let Some((_, note)) = within.owner.and_then(|owner| tree.found.get_mut(owner)) {
                note.substituted = true;
            }
            *within = Within::default();
        }
        "file_redirect" => redirect(tree, node, line),
        "herestring_redirect" | "heredoc_body" => {
            // Text that a command reads; if that is a shell, it is a command.
            tree.fed.push(strip(text(node, line)));
        }
        "variable_assignment" => {
            let (name, value) = assignment(node, line);
            let is_alone = node.parent().is_none_or(|above| above.kind() != "command");
            if is_alone {
                let simple = Simple { assignments: vec![(name, value)], words: Vec::new() };
                tree.found.push((simple, Note::default()));
            }
        }
        _ => {}
    }
}

fn strip(raw: &str) -> String {
    let raw = raw.trim_start_matches('<').trim();
    let quoted = |sign: char| raw.strip_prefix(sign).and_then(|rest| rest.strip_suffix(sign));
    quoted('\'').or_else(|| quoted('"')).unwrap_or(raw).to_owned()
}

fn doubt(tree: &mut Tree, why: &str) {
    if !tree.doubts.iter().any(|known| known == why) {
        tree.doubts.push(why.to_owned());
    }
}

/// A kind of node in plain words.
fn plain(kind: &str) -> &'static str {
    match kind {
        "command_substitution" | "process_substitution" => "it runs a command within another",
        "expansion" | "simple_expansion" | "special_variable_name" | "arithmetic_expansion" | "subscript" | "array" => {
            "some of its words are made only when it runs"
        }
        "heredoc_redirect"
        | "heredoc_body"
        | "heredoc_start"
        | "heredoc_end"
        | "heredoc_content"
        | "herestring_redirect" => "it takes its input from the text itself",
        "subshell" | "compound_statement" => "it runs something in a shell of its own",
        "function_definition" => "it makes a function",
        "for_statement"
        | "while_statement"
        | "c_style_for_statement"
        | "if_statement"
        | "case_statement"
        | "do_group" => "it is a program of its own",
        "comment" => "a part of it is a comment",
        "declaration_command" | "unset_command" | "variable_assignments" => "it sets variables for what follows",
        "&" => "it leaves something running in the background",
        _ => "it holds signs that are not read for sure",
    }
}

fn text<'a>(node: Node<'_>, line: &'a str) -> &'a str {
    line.get(node.byte_range()).unwrap_or_default()
}

fn assignment(node: Node<'_>, line: &str) -> (String, String) {
    let (name, value) = text(node, line).split_once('=').unwrap_or_default();
    let value = words(value).into_iter().map(|word| word.text).collect::<Vec<_>>().join(" ");
    (name.trim_end_matches('+').to_owned(), value)
}

/// A command's own words.
fn command(node: Node<'_>, line: &str) -> (Simple, Note) {
    let mut simple = Simple::default();
    let mut note = Note::default();
    if node.kind() == "test_command" {
        simple.words.push("test".to_owned());
        return (simple, note);
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "variable_assignment" if simple.words.is_empty() && node.kind() == "command" => {
                simple.assignments.push(assignment(child, line));
            }
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {}
            _ => {
                for Word { text, open } in words(text(child, line)) {
                    if open {
                        note.open |= bit(simple.words.len());
                    }
                    simple.words.push(text);
                }
            }
        }
    }
    (simple, note)
}

fn redirect(tree: &mut Tree, node: Node<'_>, line: &str) {
    let mut cursor = node.walk();
    let mut touch = Touch::Writes;
    for child in node.children(&mut cursor) {
        match child.kind() {
            "<" => touch = Touch::Reads,
            "word" | "string" | "raw_string" | "concatenation" => {
                for word in words(text(child, line)) {
                    tree.targets.push(Target { path: word.text, touch });
                }
            }
            _ => {}
        }
    }
}
