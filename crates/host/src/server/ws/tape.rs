//! What goes out on a link, for the records of the sessions that it is about: the very bytes that are sent, each message
//! with the events in it. Sends nothing.

use std::sync::Arc;

use bytes::Bytes;
use switchboard_dialects::view::{ViewDialect, ViewKind};
use switchboard_types::{LinkId, Page, Seq, SessionId, Time, Told};

use crate::link::{Outgoing, SharedPage};
use crate::wire::entry::Events;
use crate::wire::recorder::{Draft, head};
use crate::wire::{Direction, Recorder, Side, Verdict};

/// The link that a record names.
pub(super) struct At<'a> {
    pub(super) recorder: &'a Recorder,
    pub(super) link: LinkId,
    pub(super) kind: ViewKind,
}

/// The page of events that is about to go out, if that is what goes out.
pub(super) fn carries(outgoing: &Outgoing) -> Option<Arc<SharedPage>> {
    match outgoing {
        Outgoing::Events(page) => Some(Arc::clone(page)),
        Outgoing::Told(_) | Outgoing::Taped(..) | Outgoing::Close(_) => None,
    }
}

impl At<'_> {
    /// Keeps the messages that were made of what went out.
    pub(super) fn keep(
        &self,
        sessions: &[SessionId],
        page: Option<&SharedPage>,
        messages: Vec<Bytes>,
        fresh: impl FnOnce() -> Box<dyn ViewDialect>,
    ) {
        let events = match page {
            Some(page) => events_of(self.recorder.now(), page, &messages, fresh().as_mut()),
            None => vec![None; messages.len()],
        };
        for (message, events) in messages.iter().zip(events) {
            let draft = Draft {
                at: self.recorder.now(),
                side: Side::View,
                peer: format!("link {}", self.link),
                dir: Direction::Out,
                dialect: self.kind.name(),
                name: "",
                bytes: message.len(),
                verdict: Verdict::Ok,
                why: None,
                events,
                raw: Some(head(message)),
            };
            for session in sessions {
                self.recorder.keep(*session, draft.clone());
            }
        }
    }
}

/// Which events each message tells. A dialect that says each event by itself is recognised by saying the same of them
/// one by one; in any other, each message stands for the whole page.
fn events_of(now: Time, shared: &SharedPage, messages: &[Bytes], dialect: &mut dyn ViewDialect) -> Vec<Option<Events>> {
    let mut alone: Vec<(Bytes, Page)> = Vec::new();
    let (mut cursor, mut rest) = (Seq(shared.page.first().0 - 1), Some(shared.page.as_ref().clone()));
    while let Some(one) = rest.as_ref().map(|rest| rest.head_within(1)) {
        let told = Told::Events {
            tab: shared.tab.clone(),
            page: Arc::new(one.clone()),
            names: shared.names.clone(),
            epoch: shared.epoch,
            home: shared.home,
        };
        dialect.write(now, &told, &mut |json| alone.push((Bytes::copy_from_slice(json), one.clone())));
        cursor = cursor.max(one.last());
        rest = rest.and_then(|rest| rest.after(cursor));
    }
    let same = alone.len() == messages.len() && alone.iter().zip(messages).all(|((said, _), message)| said == message);
    if same {
        return alone.iter().map(|(_, page)| Some(Events::from(page))).collect();
    }
    vec![Some(Events::from(shared.page.as_ref())); messages.len()]
}

#[cfg(test)]
mod tests {
    use switchboard_types::{AgentHome, Body, Epoch, PageBuilder, Text, TurnId, TurnName, TurnNames};

    use super::*;

    fn page() -> SharedPage {
        let mut page = PageBuilder::new(Seq(4));
        page.push(Time(1), Some(TurnId(1)), &Body::TurnStarted {});
        // No message of the dialect `tabs` tells of this one.
        page.push(Time(1), None, &Body::SessionReopened {});
        page.push(Time(1), Some(TurnId(1)), &Body::Text { text: Text::from("a") });
        page.push(Time(1), Some(TurnId(1)), &Body::Text { text: Text::from("b") });
        let names = TurnNames::new(vec![(TurnId(1), TurnName::from("m1"))]);
        let page = Arc::new(page.take().unwrap());
        SharedPage {
            tab: "t".into(),
            page,
            names,
            epoch: Epoch(1),
            home: AgentHome::Here,
            frames: Default::default(),
            events: Default::default(),
        }
    }

    fn told(kind: ViewKind) -> Vec<(u64, u64)> {
        let shared = page();
        let told = Told::Events {
            tab: shared.tab.clone(),
            page: Arc::clone(&shared.page),
            names: shared.names.clone(),
            epoch: shared.epoch,
            home: shared.home,
        };
        let mut messages = Vec::new();
        kind.make().write(Time(1), &told, &mut |json| messages.push(Bytes::copy_from_slice(json)));
        let events = events_of(Time(1), &shared, &messages, kind.make().as_mut());
        events.into_iter().flatten().map(|events| (events.from.0, events.to.0)).collect()
    }

    #[test]
    fn a_message_for_one_event_is_known_by_it_and_one_for_a_page_by_the_page() {
        assert_eq!(told(ViewKind::Switchboard), [(4, 7)]);
        let tabs = told(ViewKind::Tabs);
        assert!(tabs.ends_with(&[(6, 6), (7, 7)]) && tabs.contains(&(4, 4)), "{tabs:?}");
    }
}
