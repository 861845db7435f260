//! JSON-RPC 2.0 without a transport: one frame in, one envelope out, and who owes whom an answer. Never knows a method, and
//! never builds a tree: params, results and error data stay the text that they were within the frame.
//!
//! ```
//! use switchboard_dialects::jsonrpc::{Envelope, Owed, Pending, Reader, write};
//!
//! let (mut reader, mut pending, mut owed) = (Reader::new(), Pending::with_max(8), Owed::with_max(8));
//!
//! // We ask, and remember what for.
//! let id = pending.open("the first task").unwrap();
//! let asked = write::request(id, "executeTask", &serde_json::json!({ "prompt": "hi" })).unwrap();
//! assert_eq!(asked, br#"{"jsonrpc":"2.0","id":1,"method":"executeTask","params":{"prompt":"hi"}}"#);
//!
//! // The peer answers, once.
//! let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"status":"completed"}}"#;
//! let Envelope::Result { id, result } = reader.read(answer).unwrap().envelope else { panic!() };
//! assert_eq!((pending.take(id), result), (Ok("the first task"), r#"{"status":"completed"}"#));
//! assert!(pending.take(id).is_err());
//!
//! // The peer asks; the token says that we owe it an answer, and is gone once it was given.
//! let question = br#"{"jsonrpc":"2.0","id":"a","method":"tools/run","params":[1]}"#;
//! let Envelope::Request { id, .. } = reader.read(question).unwrap().envelope else { panic!() };
//! let debt = owed.accept(id).unwrap();
//! assert_eq!(owed.result(debt, &true), br#"{"jsonrpc":"2.0","id":"a","result":true}"#);
//! ```

pub mod codes;
mod envelope;
mod fault;
mod id;
mod oddity;
mod owed;
mod pending;
mod refusal;
pub mod write;

pub use envelope::{Envelope, MAX_METHOD_BYTES, Read, Reader, read};
pub use fault::{Code, Failure, Fault};
pub use id::{Id, IdRef, MAX_ID_JSON_BYTES, OurId};
pub use oddity::{Oddities, Oddity};
pub use owed::{Debt, Owed};
pub use pending::{Full, Pending, Stray};
pub use refusal::{Refusal, Refused};
pub use write::Unwritable;
