//! A reader of the few forms that can be run without a shell: words, literal quotes, `&&`, `||`, `;`, `|` and redirections
//! to literal files. Whatever else there is makes it give up, and say why.

use super::{Join, Redirect, RedirectTo, Simple};

/// Words that are no programs where a command begins.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
    "time", "coproc", "in", "!", "[[", "]]", "{", "}",
];

/// A command with where its input and output go.
#[derive(Debug, Default)]
pub(super) struct Planned {
    pub(super) simple: Simple,
    pub(super) redirects: Vec<Redirect>,
}

type Plan = Vec<(Join, Planned)>;

/// Reads a line, or says why it cannot.
pub(super) fn read(line: &str) -> Result<Plan, String> {
    let mut reader =
        Reader { rest: line.chars().peekable(), plan: Vec::new(), now: Planned::default(), join: Join::First };
    reader.run()?;
    Ok(reader.plan)
}

struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    plan: Plan,
    now: Planned,
    join: Join,
}

impl Reader<'_> {
    fn run(&mut self) -> Result<(), String> {
        loop {
            while self.rest.next_if(|character| matches!(character, ' ' | '\t')).is_some() {}
            let Some(character) = self.rest.peek().copied() else { break };
            match character {
                '&' => self.ampersand()?,
                '|' => {
                    self.rest.next();
                    if self.rest.next_if_eq(&'|').is_some() {
                        self.end(Join::Or)?;
                    } else if self.rest.peek() == Some(&'&') {
                        return Err("it joins commands in a way that is not read (`|&`)".into());
                    } else {
                        self.end(Join::Pipe)?;
                    }
                }
                ';' => {
                    self.rest.next();
                    self.end(Join::Then)?;
                }
                '>' | '<' => self.redirect(None)?,
                _ => self.word()?,
            }
        }
        if self.is_blank() {
            return match self.join {
                Join::First => Err("it names no program".into()),
                Join::Then => Ok(()),
                Join::And | Join::Or | Join::Pipe => Err("it ends where another command should follow".into()),
            };
        }
        self.keep()
    }

    fn is_blank(&self) -> bool {
        self.now.simple.words.is_empty() && self.now.simple.assignments.is_empty() && self.now.redirects.is_empty()
    }

    fn end(&mut self, next: Join) -> Result<(), String> {
        if self.is_blank() {
            return Err("it joins commands where there is none".into());
        }
        self.keep()?;
        self.join = next;
        Ok(())
    }

    fn keep(&mut self) -> Result<(), String> {
        if self.now.simple.words.is_empty() && !self.now.redirects.is_empty() {
            return Err("it writes to a file without any program".into());
        }
        self.plan.push((self.join, std::mem::take(&mut self.now)));
        Ok(())
    }

    fn ampersand(&mut self) -> Result<(), String> {
        self.rest.next();
        if self.rest.next_if_eq(&'&').is_some() {
            return self.end(Join::And);
        }
        if self.rest.peek() == Some(&'>') {
            self.redirect(Some(Both))?;
            return Ok(());
        }
        Err("it leaves something running in the background (`&`)".into())
    }

    /// A redirection, from its sign on; the number before it was a word, which the caller has taken back.
    fn redirect(&mut self, both: Option<Both>) -> Result<(), String> {
        self.redirect_of(None, both)
    }

    fn redirect_of(&mut self, fd: Option<u32>, both: Option<Both>) -> Result<(), String> {
        let sign = self.rest.next();
        let out = sign == Some('>');
        let append = out && self.rest.next_if_eq(&'>').is_some();
        if !append && out {
            self.rest.next_if_eq(&'|');
        }
        let to_fd = out && !append && both.is_none() && self.rest.next_if_eq(&'&').is_some();
        if matches!(self.rest.peek(), Some('<' | '>' | '&' | '(')) {
            return Err("it takes its input from the text itself or from another command".into());
        }
        while self.rest.next_if(|character| matches!(character, ' ' | '\t')).is_some() {}
        let (path, _) = self.text()?;
        if path.is_empty() {
            return Err("it writes to a file without a name".into());
        }
        let own = fd.unwrap_or(u32::from(out));
        if to_fd {
            let same = path.parse().ok().filter(|number| *number <= 2);
            let same = same.ok_or_else(|| "it sends output where it cannot be followed".to_owned())?;
            self.now.redirects.push(Redirect { fd: own, to: RedirectTo::Same(same) });
            return Ok(());
        }
        let to = match (out, append) {
            (false, _) => RedirectTo::Read(path),
            (true, false) => RedirectTo::Write(path),
            (true, true) => RedirectTo::Append(path),
        };
        self.now.redirects.push(Redirect { fd: own, to });
        if both.is_some() {
            self.now.redirects.push(Redirect { fd: 2, to: RedirectTo::Same(1) });
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), String> {
        let (text, form) = self.text()?;
        let is_redirected = matches!(self.rest.peek(), Some('>' | '<'));
        if form.plain && is_redirected && !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit()) {
            let fd = text.parse().ok().filter(|number| *number <= 2);
            let fd = fd.ok_or_else(|| "it sends output where it cannot be followed".to_owned())?;
            return self.redirect_of(Some(fd), None);
        }
        if self.now.simple.words.is_empty() {
            if let Some(at) = form.assigns {
                let name: String = text.chars().take(at).collect();
                let value: String = text.chars().skip(at + 1).collect();
                self.now.simple.assignments.push((name, value));
                return Ok(());
            }
            if form.plain && RESERVED.contains(&text.as_str()) {
                return Err(format!("it is a program of its own (`{text}`)"));
            }
        }
        self.now.simple.words.push(text);
        Ok(())
    }

    /// One word, up to whatever ends it.
    fn text(&mut self) -> Result<(String, Form), String> {
        let mut text = String::new();
        let mut form = Form { plain: true, assigns: None };
        while let Some(character) = self.rest.peek().copied() {
            match character {
                ' ' | '\t' | ';' | '|' | '&' | '<' | '>' => break,
                '\'' => self.single(&mut text)?,
                '"' => self.double(&mut text)?,
                '\\' => {
                    self.rest.next();
                    match self.rest.next() {
                        Some(escaped) if !matches!(escaped, '\n' | '$' | '`') => text.push(escaped),
                        _ => return Err("it goes on over several lines, or hides a sign behind a backslash".into()),
                    }
                }
                _ => {
                    self.rest.next();
                    unquoted(character, &text)?;
                    let is_name = text.chars().all(|part| part.is_ascii_alphanumeric() || part == '_')
                        && text.chars().next().is_some_and(|first| !first.is_ascii_digit());
                    if character == '=' && form.plain && form.assigns.is_none() && is_name {
                        form.assigns = Some(text.chars().count());
                    }
                    text.push(character);
                    continue;
                }
            }
            form.plain = false;
        }
        Ok((text, form))
    }

    fn single(&mut self, text: &mut String) -> Result<(), String> {
        self.rest.next();
        loop {
            match self.rest.next() {
                Some('\'') => return Ok(()),
                Some('\n') => return Err("it goes on over several lines".into()),
                Some(character) => text.push(character),
                None => return Err("it has a quote that is not closed".into()),
            }
        }
    }

    fn double(&mut self, text: &mut String) -> Result<(), String> {
        self.rest.next();
        loop {
            match self.rest.next() {
                Some('"') => return Ok(()),
                Some('\n') => return Err("it goes on over several lines".into()),
                Some('$' | '`') => return Err(MADE.into()),
                Some('\\') => match self.rest.next() {
                    Some(escaped @ ('"' | '\\')) => text.push(escaped),
                    Some('$' | '`' | '\n') | None => return Err(MADE.into()),
                    Some(other) => text.extend(['\\', other]),
                },
                Some(character) => text.push(character),
                None => return Err("it has a quote that is not closed".into()),
            }
        }
    }
}

/// Output and errors together.
#[derive(Clone, Copy)]
struct Both;

/// How a word is written.
#[derive(Clone, Copy)]
struct Form {
    /// Without quotes.
    plain: bool,
    /// A name stands before an equals sign at this place.
    assigns: Option<usize>,
}

const MADE: &str = "some of its words are made only when it runs (`$` or a backtick)";

/// Whether a character without quotes stands for itself.
fn unquoted(character: char, before: &str) -> Result<(), String> {
    match character {
        '$' | '`' => Err(MADE.into()),
        '\n' => Err("it goes on over several lines".into()),
        '(' | ')' => Err("it runs something in a shell of its own, or makes a function".into()),
        '*' | '?' | '[' => Err("some of its words stand for whatever files there are (`*`, `?`, `[`)".into()),
        '{' | '}' => Err("some of its words stand for several (`{}`)".into()),
        '#' if before.is_empty() => Err("a part of it is a comment".into()),
        '~' if before.is_empty() || before.ends_with(['=', ':']) => {
            Err("a part of it stands for a home folder (`~`)".into())
        }
        _ => Ok(()),
    }
}
