//! Bytes to messages and back. Pure and incremental; every framing bounds what a peer can make large.
