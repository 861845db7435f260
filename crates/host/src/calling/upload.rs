//! Files as a multipart body. Never sends a file's path.

use std::io::{self, Write as _};

use switchboard_dialects::agent::engine::Upload;

use crate::server::Secret;

/// A body and the type that names its boundary.
pub(super) struct Multipart {
    pub(super) mime: String,
    pub(super) body: Vec<u8>,
}

/// The body with these files.
pub(super) fn multipart(files: &[Upload]) -> io::Result<Multipart> {
    let boundary = Secret::random(16).map_err(|error| io::Error::other(error.to_string()))?;
    let boundary = format!("switchboard-{}", boundary.reveal());
    let mut body = Vec::with_capacity(files.iter().map(|file| file.bytes.len() + 256).sum());
    for file in files {
        let (name, mime) = (quoted(&file.name), plain(&file.mime));
        write!(body, "--{boundary}\r\nContent-Disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n")?;
        write!(body, "Content-Type: {mime}\r\n\r\n")?;
        body.extend_from_slice(&file.bytes);
        body.extend_from_slice(b"\r\n");
    }
    write!(body, "--{boundary}--\r\n")?;
    Ok(Multipart { mime: format!("multipart/form-data; boundary={boundary}"), body })
}

/// A name within quotes, as browsers write it.
fn quoted(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

fn plain(mime: &str) -> &str {
    let fit = !mime.is_empty() && mime.bytes().all(|byte| (b' '..0x7f).contains(&byte));
    if fit { mime } else { "application/octet-stream" }
}
