//! What the bundle holds, as a Rust table that includes it. Knows which endings the program serves, and no others.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::error::PageError;

/// Content types by ending.
const KINDS: &[(&str, &str)] = &[
    ("css", "text/css; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("woff2", "font/woff2"),
];

/// Rust source for the page in `folder`: `INDEX`, and `ASSETS` sorted by name.
///
/// # Errors
/// If the folder cannot be read or holds what cannot be served.
pub fn table(folder: &Path) -> Result<String, PageError> {
    let mut rows = Vec::new();
    let assets = folder.join("assets");
    for entry in fs::read_dir(&assets).map_err(PageError::file(&assets))? {
        let path = entry.map_err(PageError::file(&assets))?.path();
        let name = path.file_name().and_then(OsStr::to_str);
        let ending = path.extension().and_then(OsStr::to_str);
        let kind = KINDS.iter().find(|(known, _)| Some(*known) == ending);
        let (Some(name), Some((_, kind))) = (name, kind) else { return Err(PageError::Kind { path }) };
        rows.push((name.to_owned(), *kind, path.clone()));
    }
    rows.sort();
    let index = folder.join("index.html");
    let mut text = format!("pub(crate) static INDEX: &str = include_str!({index:?});\n");
    text += "pub(crate) static ASSETS: &[Asset] = &[\n";
    for (name, kind, path) in rows {
        // Writing into memory cannot fail.
        let _ = writeln!(text, "    Asset {{ name: {name:?}, kind: {kind:?}, bytes: include_bytes!({path:?}) }},");
    }
    text += "];\n";
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("assets")).unwrap();
        for name in names {
            fs::write(folder.path().join("assets").join(name), "").unwrap();
        }
        folder
    }

    #[test]
    fn assets_are_listed_in_the_order_of_their_names_with_their_types() {
        let folder = page(&["b-1.css", "a-2.js"]);
        let at = |name: &str| folder.path().join(name);
        let wanted = format!(
            "pub(crate) static INDEX: &str = include_str!({:?});\n\
             pub(crate) static ASSETS: &[Asset] = &[\n    \
             Asset {{ name: \"a-2.js\", kind: \"text/javascript; charset=utf-8\", bytes: include_bytes!({:?}) }},\n    \
             Asset {{ name: \"b-1.css\", kind: \"text/css; charset=utf-8\", bytes: include_bytes!({:?}) }},\n];\n",
            at("index.html"),
            at("assets/a-2.js"),
            at("assets/b-1.css"),
        );
        assert_eq!(table(folder.path()).unwrap(), wanted);
    }

    #[test]
    fn what_could_not_be_served_stops_the_build() {
        let error = table(page(&["a.wasm"]).path()).unwrap_err().to_string();
        assert!(error.contains("a.wasm") && error.contains("KINDS"), "{error}");
    }
}
