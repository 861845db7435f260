//! The peer's requests that we have not answered. Each is a token that its answer consumes, so that none is answered twice and
//! none that was never asked.

use std::collections::HashSet;

use serde::Serialize;

use super::fault::Failure;
use super::id::{Id, IdRef};
use super::refusal::{Refusal, Refused};
use super::write;

/// One request of the peer that must be answered, by whoever holds this. Dropping it leaves the peer waiting.
#[derive(Debug)]
#[must_use = "the peer waits for an answer"]
pub struct Debt {
    id: Id,
}

impl Debt {
    /// Under which id the peer has asked.
    #[must_use]
    pub fn id(&self) -> &Id {
        &self.id
    }
}

/// The ids under which we owe the peer answers.
#[derive(Debug)]
pub struct Owed {
    open: HashSet<Id>,
    max: usize,
}

impl Owed {
    /// None yet, and at most `max` at a time.
    #[must_use]
    pub fn with_max(max: usize) -> Self {
        Self { open: HashSet::new(), max }
    }

    /// Takes a request in. It is refused while another with its id is open, or while too many are.
    pub fn accept(&mut self, id: IdRef<'_>) -> Result<Debt, Refused> {
        let own = id.to_id();
        if self.open.contains(&own) {
            return Err(Refused::request(Refusal::IdTaken { id: own }, Some(id)));
        }
        if self.open.len() >= self.max {
            return Err(Refused::request(Refusal::TooMany { max: self.max }, Some(id)));
        }
        self.open.insert(own.clone());
        Ok(Debt { id: own })
    }

    /// Answers with a result.
    #[must_use]
    pub fn result(&mut self, debt: Debt, result: &impl Serialize) -> Vec<u8> {
        self.open.remove(&debt.id);
        write::result(&debt.id, result)
    }

    /// Answers with an error.
    #[must_use]
    pub fn error(&mut self, debt: Debt, failure: &Failure) -> Vec<u8> {
        self.open.remove(&debt.id);
        write::error(Some(&debt.id), failure)
    }

    /// How many answers are owed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is owed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::super::codes;
    use super::*;

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_id_stays_as_it_came_and_is_free_again_once_answered() {
        let mut owed = Owed::with_max(4);
        let id = |json| IdRef::from_json(json).unwrap();
        let debts: Vec<_> = ["1", "\"1\"", "1.0", "null"].map(|json| owed.accept(id(json)).unwrap()).into();
        let again = owed.accept(id("1")).unwrap_err();
        assert_eq!(again.code(), codes::INVALID_REQUEST);
        let told = text(again.answer().unwrap());
        assert!(told.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"the id 1 is"#), "{told}");
        assert_eq!(owed.accept(id("2")).unwrap_err().why, Refusal::TooMany { max: 4 });
        let told: Vec<_> = debts.into_iter().map(|debt| text(owed.result(debt, &0))).collect();
        let wanted = ["1", "\"1\"", "1.0", "null"].map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":0}}"#));
        assert_eq!(told, wanted);
        assert!(owed.is_empty() && owed.accept(id("1")).is_ok());
    }

    #[test]
    fn a_result_without_a_json_form_is_an_internal_error() {
        let mut owed = Owed::with_max(1);
        let debt = owed.accept(IdRef::from_json("1").unwrap()).unwrap();
        let told = text(owed.result(debt, &std::collections::HashMap::from([((1, 2), 3)])));
        assert!(told.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"#), "{told}");
    }
}
