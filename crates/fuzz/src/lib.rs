//! What must hold for any bytes that a peer may send. Each target is one function that panics where it does not; the fuzzer
//! and the ordinary tests call the same ones. Never does I/O.

mod targets;

/// Something that reads foreign bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// How it is named on the command line and below `testdata/fuzz`.
    pub name: &'static str,
    /// Feeds it and panics if a promise is broken.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "lines", run: targets::framing::lines },
    Target { name: "content-length", run: targets::framing::content_length },
    Target { name: "native", run: targets::framing::native },
    Target { name: "sse", run: targets::sse::run },
    Target { name: "jsonrpc", run: targets::jsonrpc::run },
    Target { name: "plain", run: targets::plain::run },
    Target { name: "apex", run: targets::apex::run },
    Target { name: "acp", run: targets::acp::run },
    Target { name: "engine", run: targets::engine::run },
    Target { name: "policy", run: targets::policy::run },
    Target { name: "model_stream", run: targets::model::stream },
    Target { name: "text_calls", run: targets::model::text },
];

/// The target of a name.
#[must_use]
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().copied().find(|target| target.name == name)
}
