//! The error codes that JSON-RPC 2.0 and its users have agreed on. Holds numbers and their names only.

/// What came is no JSON.
pub const PARSE_ERROR: i64 = -32700;
/// It is JSON, but no request.
pub const INVALID_REQUEST: i64 = -32600;
/// Nobody here knows the method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The method is known, but not with these params.
pub const INVALID_PARAMS: i64 = -32602;
/// The peer itself failed.
pub const INTERNAL_ERROR: i64 = -32603;
/// The request was cancelled by whoever sent it, as the Language Server Protocol and ACP have it.
pub const REQUEST_CANCELLED: i64 = -32800;
/// The first of the codes that an application may give a meaning of its own; the last is −32000.
pub const APPLICATION_FIRST: i64 = -32099;
/// The last of the codes that an application may give a meaning of its own.
pub const APPLICATION_LAST: i64 = -32000;

/// What a standard code means, for people; none if it is not one.
#[must_use]
pub fn in_words(code: i64) -> Option<&'static str> {
    match code {
        PARSE_ERROR => Some("parse error"),
        INVALID_REQUEST => Some("invalid request"),
        METHOD_NOT_FOUND => Some("method not found"),
        INVALID_PARAMS => Some("invalid params"),
        INTERNAL_ERROR => Some("internal error"),
        REQUEST_CANCELLED => Some("request cancelled"),
        _ => None,
    }
}
