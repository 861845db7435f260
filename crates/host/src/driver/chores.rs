//! Chores of views, carried out off the host's task, few at a time. Decides nothing about them.

use std::collections::VecDeque;
use std::sync::Arc;

use switchboard_core::Input;
use switchboard_types::{Chore, ChoreAnswer, LibraryAnswer, LibraryRequest, LinkId, Reject, RejectCode, RequestNo};
use tokio::sync::mpsc;

use super::{Driver, StoreAnswer};
use crate::library::{Library, LibraryError};
use crate::store::Store;

/// Questions that are looked up at once; the others wait.
const MAX_QUICK: usize = 2;
/// Questions that wait; one more is refused.
const MAX_WAITING: usize = 256;
/// Upkeep that is under way at once.
const MAX_LONG: usize = 1;

/// How long a chore takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A question.
    Quick,
    /// Upkeep.
    Long,
}

impl Effort {
    fn of(request: &LibraryRequest) -> Self {
        match request {
            LibraryRequest::Search(_) | LibraryRequest::Usage(_) => Self::Quick,
            LibraryRequest::Upkeep {} | LibraryRequest::Rebuild {} => Self::Long,
        }
    }
}

/// Something that a view wants of the library.
struct Asked {
    link: LinkId,
    request: RequestNo,
    what: LibraryRequest,
}

/// What waits and what is under way.
pub(super) struct Chores {
    library: Result<Arc<Library>, String>,
    waiting: VecDeque<Asked>,
    quick: usize,
    long: usize,
}

impl Chores {
    pub(super) fn new(library: Result<Arc<Library>, String>) -> Self {
        Self { library, waiting: VecDeque::new(), quick: 0, long: 0 }
    }

    pub(super) fn one_done(&mut self, effort: Effort) {
        match effort {
            Effort::Quick => self.quick -= 1,
            Effort::Long => self.long -= 1,
        }
    }
}

impl Driver {
    pub(super) fn chore(&mut self, link: LinkId, request: RequestNo, what: Chore) {
        match what {
            Chore::Library(what) => self.want_library(Asked { link, request, what }),
            Chore::Settings(what) => self.settings_chore(link, request, what),
        }
    }

    fn refuse_chore(&mut self, link: LinkId, request: RequestNo, code: RejectCode, message: &str) {
        let result = Err(Reject::new(code, message));
        self.host.handle(self.clock.now(), Input::ChoreDone { link, request, result });
    }

    fn want_library(&mut self, asked: Asked) {
        let refusal = match (&self.chores.library, Effort::of(&asked.what)) {
            (Err(why), _) => Some((RejectCode::Internal, why.clone())),
            (Ok(_), Effort::Long) if self.chores.long >= MAX_LONG => {
                Some((RejectCode::Conflict, LibraryError::Busy.to_string()))
            }
            (Ok(_), Effort::Quick) if self.chores.waiting.len() >= MAX_WAITING => {
                Some((RejectCode::Conflict, "too much is looked for at once; try again".to_owned()))
            }
            (Ok(_), Effort::Quick | Effort::Long) => None,
        };
        match (refusal, Effort::of(&asked.what)) {
            (Some((code, message)), _) => self.refuse_chore(asked.link, asked.request, code, &message),
            (None, Effort::Quick) => self.chores.waiting.push_back(asked),
            (None, Effort::Long) => {
                self.chores.long += 1;
                self.carry_out_chore(asked);
            }
        }
    }

    /// Begins what waits, as far as there is room.
    pub(super) fn start_chores(&mut self) {
        while self.chores.quick < MAX_QUICK {
            let Some(asked) = self.chores.waiting.pop_front() else { return };
            self.chores.quick += 1;
            self.carry_out_chore(asked);
        }
    }

    fn carry_out_chore(&self, Asked { link, request, what }: Asked) {
        let Ok(library) = self.chores.library.clone() else { return };
        let (store, answer_to) = (Arc::clone(&self.store), self.answer_to.clone());
        let effort = Effort::of(&what);
        tokio::task::spawn_blocking(move || {
            let news_to = answer_to.clone();
            let news = move |done: u64, total: u64| tell_news(&news_to, link, request, (done, total));
            let result = answer(&library, store.as_ref(), what, news);
            let result = result.map(|answer| Box::new(ChoreAnswer::Library(answer))).map_err(|error| error.reject());
            // The last ones that keep the store open must be gone when the host has heard of it.
            drop((library, store));
            let done = Box::new(Input::ChoreDone { link, request, result });
            // The driver is gone only when the host has stopped.
            let _ = answer_to.blocking_send(StoreAnswer::Chore(effort, done));
        });
    }
}

/// A hundred words on the way are enough, however many steps there are.
fn tell_news(to: &mpsc::Sender<StoreAnswer>, link: LinkId, request: RequestNo, (done, total): (u64, u64)) {
    let step = (total / 100).max(1);
    if done.is_multiple_of(step) || done == total {
        let news = Box::new(Input::ChoreNews { link, request, done, total });
        let _ = to.blocking_send(StoreAnswer::Found(news));
    }
}

fn answer(
    library: &Library,
    store: &dyn Store,
    what: LibraryRequest,
    news: impl Fn(u64, u64) + Send + 'static,
) -> Result<LibraryAnswer, LibraryError> {
    Ok(match what {
        LibraryRequest::Search(query) => LibraryAnswer::Found(library.search(store, &query)?),
        LibraryRequest::Usage(query) => LibraryAnswer::Usage(library.usage(&query)?),
        LibraryRequest::Upkeep {} => LibraryAnswer::Kept(library.upkeep()?),
        LibraryRequest::Rebuild {} => LibraryAnswer::Rebuilt(library.rebuild(news)?),
    })
}
