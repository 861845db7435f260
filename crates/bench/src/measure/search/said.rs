//! What is searched, and what is asked: the same for everybody, from one seed. Words are as common as words are. Never asks.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::json;

/// Different words.
const VOCABULARY: f64 = 50_000.0;
/// Words of a message.
const WORDS: u64 = 60;
/// Questions of each of the three sorts.
const QUESTIONS: u64 = 100;
/// Words that are typed letter by letter.
const TYPED: u64 = 50;

/// Small, seeded, good enough.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A word: the second most common is half as common as the first, and so on.
    fn word(&mut self) -> String {
        let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank is a small number")]
        let rank = VOCABULARY.powf(share) as u64;
        spell(rank)
    }
}

/// The word of a rank.
fn spell(rank: u64) -> String {
    const SYLLABLES: [&str; 16] =
        ["ba", "con", "de", "fi", "gor", "hu", "in", "ka", "lo", "men", "no", "par", "re", "sta", "ti", "vu"];
    let (mut rest, mut word) = (Dice(rank).next() % 16 + rank * 16, String::new());
    loop {
        word.push_str(SYLLABLES.get((rest % 16) as usize).copied().unwrap_or("x"));
        rest /= 16;
        if rest == 0 {
            return word;
        }
    }
}

fn words(number: u64) -> Vec<String> {
    let mut dice = Dice(number);
    (0..WORDS).map(|_| dice.word()).collect()
}

/// Writes so many messages, one a line.
pub(super) fn write_messages(path: &Path, messages: u64) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for number in 0..messages {
        writeln!(file, "{}", words(number).join(" "))?;
    }
    Ok(file.flush()?)
}

/// Reads them again, in their order.
pub(super) fn read_messages(path: &Path) -> Result<impl Iterator<Item = Result<String>>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    Ok(BufReader::with_capacity(1 << 20, file).lines().map(|line| line.context("the messages could not be read")))
}

/// Phrases that a message must have, each of one word or more.
pub(super) struct Question(pub(super) Vec<Vec<String>>);

impl Question {
    /// As a person writes it, and as FTS5 reads it.
    pub(super) fn text(&self) -> String {
        let phrases: Vec<String> = self.0.iter().map(|words| format!("\"{}\"", words.join(" "))).collect();
        phrases.join(" ")
    }
}

/// Words of every commonness, pairs of them, and phrases that somebody said.
pub(super) fn questions(messages: u64) -> Vec<Question> {
    let mut dice = Dice(7);
    let mut questions = Vec::new();
    for number in 0..QUESTIONS {
        questions.push(Question(vec![vec![dice.word()]]));
        questions.push(Question(vec![vec![dice.word()], vec![dice.word()]]));
        let said = words(number * (messages / QUESTIONS).max(1));
        questions.push(Question(vec![said.into_iter().skip(10).take(2).collect()]));
    }
    questions
}

/// Writes the questions, one a line.
pub(super) fn write_questions(path: &Path, questions: &[Question]) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for question in questions {
        writeln!(file, "{}", json!(question.0))?;
    }
    Ok(file.flush()?)
}

/// What stands in the box while a word is typed.
pub(super) fn beginnings() -> Vec<String> {
    let mut dice = Dice(11);
    let typed =
        |word: String| (2..=word.len().min(8)).filter_map(|end| word.get(..end).map(str::to_owned)).collect::<Vec<_>>();
    (0..TYPED).flat_map(|_| typed(dice.word())).collect()
}
