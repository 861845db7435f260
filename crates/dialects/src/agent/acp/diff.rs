//! Changes of files as unified diffs, for a person who is asked about them. Bounded in what is compared and in what comes out.

use similar::TextDiff;
use switchboard_types::ToolContent;

use super::small::cut;

/// Bytes of a file, before and after, that are compared; beyond it only the sizes are told.
const MAX_COMPARED_BYTES: usize = 256 * 1024;
/// Lines of a file, before and after, that are compared.
const MAX_COMPARED_LINES: usize = 8_000;
/// Characters of all the changes that one question shows.
pub(super) const MAX_DIFF_CHARS: usize = 128 * 1024;

/// The changes among what a tool call shows, as one unified diff; none if there are none.
pub(super) fn unified(contents: &[ToolContent]) -> Option<String> {
    let mut text = String::new();
    for content in contents {
        if let ToolContent::Diff { path, old, new } = content {
            text.push_str(&one(path, old.as_deref(), new));
        }
        if text.len() > MAX_DIFF_CHARS {
            break;
        }
    }
    (!text.is_empty()).then(|| cut(text, MAX_DIFF_CHARS))
}

fn one(path: &str, old: Option<&str>, new: &str) -> String {
    let before = if old.is_some() { path } else { "/dev/null" };
    let old = old.unwrap_or_default();
    let lines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count();
    if old.len() + new.len() > MAX_COMPARED_BYTES || lines(old) + lines(new) > MAX_COMPARED_LINES {
        let (was, is) = (old.len(), new.len());
        return format!("--- {before}\n+++ {path}\n@@ too large to show: {was} bytes before, {is} bytes after @@\n");
    }
    TextDiff::from_lines(old, new).unified_diff().context_radius(3).header(before, path).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: Option<&str>, new: &str) -> ToolContent {
        ToolContent::Diff { path: "/w/a".to_owned(), old: old.map(str::to_owned), new: new.to_owned() }
    }

    #[test]
    fn a_change_is_shown_as_a_unified_diff() {
        let text = unified(&[change(Some("a\nb\n"), "a\nc\n"), change(None, "new\n")]).unwrap();
        let wanted = "--- /w/a\n+++ /w/a\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n--- /dev/null\n+++ /w/a\n@@ -0,0 +1 @@\n+new\n";
        assert_eq!(text, wanted);
        assert_eq!(unified(&[ToolContent::Text { text: "x".to_owned() }]), None);
    }

    #[test]
    fn a_change_that_is_too_large_tells_its_sizes() {
        let text = unified(&[change(Some(""), &"x\n".repeat(9_000))]).unwrap();
        assert!(text.ends_with("@@ too large to show: 0 bytes before, 18000 bytes after @@\n"), "{text}");
        let text = unified(&[change(Some(&"x".repeat(300_000)), "")]).unwrap();
        assert!(text.len() < 200, "{text}");
    }
}
