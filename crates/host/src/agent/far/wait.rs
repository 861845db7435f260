//! The wait for one answer: when a person is told that it takes long, and when it is given up. Reads nothing of the answer itself.

use std::time::Duration;

use switchboard_agent::said::Said;
use tokio::time::Instant;

use super::Ear;

/// How long an answer may be waited for.
pub(super) const USUAL: Times = Times {
    first_word: Duration::from_secs(10 * 60),
    takes_long: [Duration::from_secs(20), Duration::from_secs(60), Duration::from_secs(180), Duration::from_secs(420)],
    silence: Duration::from_secs(5 * 60),
};
/// Whoever has sent a piece of an answer so long ago is not said to be still.
const JUST_NOW: Duration = Duration::from_secs(10);

/// How long an answer is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    /// How long a model may take to its first word: it may have to be loaded first.
    pub(super) first_word: Duration,
    /// When a person is told that it takes long, from the beginning.
    pub(super) takes_long: [Duration; 4],
    /// How long it may be still within its answer.
    pub(super) silence: Duration,
}

/// The wait for one answer.
#[derive(Debug)]
pub(super) struct Wait<'a> {
    times: Times,
    pub(super) ear: &'a Ear,
    model: &'a str,
    began: Instant,
    /// How often a person was told.
    told: usize,
    /// When something of the answer came last.
    heard: Option<Instant>,
    /// Whether the model has said a word.
    speaks: bool,
}

impl<'a> Wait<'a> {
    pub(super) fn begin(times: Times, ear: &'a Ear, model: &'a str) -> Self {
        Self { times, ear, model, began: Instant::now(), told: 0, heard: None, speaks: false }
    }

    /// When it is over. A call may be long in coming before it can be told: who sends pieces of it is not given up.
    fn end(&self) -> Instant {
        let still = self.heard.map(|heard| heard + self.times.silence);
        let first = self.began + self.times.first_word;
        match still {
            Some(still) if self.speaks => still,
            Some(still) => still.max(first),
            None => first,
        }
    }

    /// When there is something to do: tell a person, or give up.
    pub(super) fn due(&self) -> Instant {
        let note = self.times.takes_long.get(self.told).filter(|_| !self.speaks);
        note.map_or(self.end(), |after| self.end().min(self.began + *after))
    }

    /// It is due. The error says for how long nothing was heard.
    pub(super) async fn go_on(&mut self) -> Result<(), String> {
        let now = Instant::now();
        if now >= self.end() {
            let waited = now - self.heard.unwrap_or(self.began);
            return Err(format!("nothing came for {} minutes", waited.as_secs() / 60));
        }
        if let Some(after) = self.times.takes_long.get(self.told) {
            self.told += 1;
            if self.heard.is_none_or(|heard| now >= heard + JUST_NOW) {
                let (model, waited) = (self.model, after.as_secs());
                self.ear.note(format!("`{model}` has not answered for {waited} s; it may still be loading")).await;
            }
        }
        Ok(())
    }

    /// A part of the stream has come.
    pub(super) fn hear(&mut self, data: &[u8], said: &[Said]) {
        // What only keeps the link alive, a comment or an empty line, is no part of an answer.
        if self.speaks || data.contains(&b'{') {
            self.heard = Some(Instant::now());
        }
        self.speaks |= said.iter().any(|said| match said {
            Said::Text(text) | Said::Thought(text) => !text.is_empty(),
            Said::Call(_) | Said::End(_) => true,
            Said::Used(_) => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn pieces_of_a_call_keep_a_model_from_being_given_up_and_comments_do_not() {
        let (news, _heard) = mpsc::channel(1);
        let ear = Ear { session: "s".to_owned(), question: 1, news };
        let times = |silence| Times { first_word: LONG, takes_long: [LONG; 4], silence };
        let piece = b"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{}]}}]}\n\n";
        let mut wait = Wait::begin(times(2 * LONG), &ear, "small");
        wait.hear(b": still here\n\n", &[]);
        assert_eq!((wait.heard, wait.end()), (None, wait.began + LONG));
        wait.hear(piece, &[]);
        assert_eq!(wait.end(), wait.heard.unwrap() + 2 * LONG);
        // Before its first word it has no less time than if nothing had come.
        let mut wait = Wait::begin(times(LONG / 2), &ear, "small");
        wait.hear(piece, &[]);
        assert_eq!(wait.end(), wait.began + LONG);
        wait.hear(piece, &[Said::Text("hi".to_owned())]);
        assert_eq!(wait.end(), wait.heard.unwrap() + LONG / 2);
    }
}
