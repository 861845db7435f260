//! Which source reaches which by `mod` declarations. Follows the compiler's rule of folders; never reads a `#[path]`.

use std::collections::{BTreeMap, HashMap};

use crate::tidy::source::{Reach, Source};

/// The folders whose files and `main.rs`es Cargo compiles without being told, and who they are for.
const TARGET_FOLDERS: &[(&str, Reach)] =
    &[("src/bin", Reach::Product), ("examples", Reach::Product), ("tests", Reach::Tests), ("benches", Reach::Tests)];

/// A declaration `mod name;` and where its file may lie.
struct Declared {
    candidates: [String; 2],
    for_tests: bool,
}

/// Marks every source with who reaches it.
pub(crate) fn resolve(files: &BTreeMap<String, Option<String>>, sources: &mut [Source]) {
    let by_path: HashMap<String, usize> =
        sources.iter().enumerate().map(|(at, source)| (source.path.clone(), at)).collect();
    let mut reached: Vec<(usize, String, Reach)> = Vec::new();
    for (path, manifest) in files.iter().filter(|(path, _)| file_name(path) == "Cargo.toml") {
        let folder = path.strip_suffix("Cargo.toml").unwrap_or_default();
        for (root, reach) in roots(folder, manifest.as_deref().unwrap_or_default(), sources) {
            if let Some(at) = by_path.get(&root) {
                reached.push((*at, parent(&root), reach));
            }
        }
    }
    while let Some((at, folder, reach)) = reached.pop() {
        let Some(source) = sources.get_mut(at).filter(|source| source.reach < reach) else { continue };
        source.reach = reach;
        for declared in declarations(source, &folder) {
            let reach = if declared.for_tests { Reach::Tests } else { reach };
            for candidate in &declared.candidates {
                if let Some(child) = by_path.get(candidate) {
                    reached.push((*child, child_folder(candidate), reach));
                }
            }
        }
    }
}

/// The files that Cargo hands to the compiler for the package in `folder`.
fn roots(folder: &str, manifest: &str, sources: &[Source]) -> Vec<(String, Reach)> {
    let plain = ["src/lib.rs", "src/main.rs", "build.rs"];
    let mut roots: Vec<_> = plain.iter().map(|path| (format!("{folder}{path}"), Reach::Product)).collect();
    for line in manifest.lines() {
        let named = line.trim().strip_prefix("path = \"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(path) = named.filter(|path| path.ends_with(".rs")) {
            roots.push((format!("{folder}{path}"), Reach::Product));
        }
    }
    for (targets, reach) in TARGET_FOLDERS {
        let inside = format!("{folder}{targets}/");
        for source in sources {
            let Some(rest) = source.path.strip_prefix(&inside) else { continue };
            let depth = rest.matches('/').count();
            if depth == 0 || (depth == 1 && rest.ends_with("/main.rs")) {
                roots.push((source.path.clone(), *reach));
            }
        }
    }
    roots
}

/// The `mod name;` of a source, those within inline modules included.
fn declarations(source: &Source, folder: &str) -> Vec<Declared> {
    let mut declared = Vec::new();
    let mut inline: Vec<(usize, String)> = Vec::new();
    let mut depth = 0_usize;
    for (at, token) in source.code.iter().enumerate() {
        if source.stands(at, &["{"]) {
            depth += 1;
        } else if source.stands(at, &["}"]) {
            depth = depth.saturating_sub(1);
            inline.retain(|(opened, _)| *opened < depth + 1);
        }
        let is_mod = token.text == "mod" && source.stands(at, &["mod"]);
        let Some(name) = source.code.get(at + 1).filter(|_| is_mod) else { continue };
        let name = name.text.trim_start_matches("r#");
        if source.stands(at + 2, &["{"]) {
            inline.push((depth + 1, name.to_owned()));
        } else if source.stands(at + 2, &[";"]) {
            let inner: String = inline.iter().map(|(_, name)| format!("{name}/")).collect();
            let stem = format!("{folder}{inner}{name}");
            let candidates = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
            declared.push(Declared { candidates, for_tests: source.is_test(at) });
        }
    }
    declared
}

/// The folder of a crate's root, where its modules lie too.
fn parent(path: &str) -> String {
    path.strip_suffix(file_name(path)).unwrap_or_default().to_owned()
}

/// The folder where the modules of a file that is no root lie.
fn child_folder(path: &str) -> String {
    let stem = path.strip_suffix("/mod.rs").or_else(|| path.strip_suffix(".rs")).unwrap_or(path);
    format!("{stem}/")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::made_up;

    fn reach(files: &[(&str, &str)]) -> Vec<(String, Reach)> {
        made_up::tree(files).sources().iter().map(|source| (source.path.clone(), source.reach)).collect()
    }

    fn expected(all: &[(&str, Reach)]) -> Vec<(String, Reach)> {
        all.iter().map(|(path, reach)| ((*path).to_owned(), *reach)).collect()
    }

    #[test]
    fn modules_are_found_as_the_compiler_finds_them() {
        let found = reach(&[
            ("a/Cargo.toml", ""),
            ("a/src/lib.rs", "mod one; mod inline { mod deep; } mod two;"),
            ("a/src/one.rs", "mod leaf;"),
            ("a/src/one/leaf.rs", ""),
            ("a/src/inline/deep.rs", ""),
            ("a/src/two.rs", "#[cfg(test)] mod tests;"),
            ("a/src/two/tests.rs", ""),
            ("a/src/leaf.rs", ""),
        ]);
        let wanted = expected(&[
            ("a/src/inline/deep.rs", Reach::Product),
            ("a/src/leaf.rs", Reach::Nobody),
            ("a/src/lib.rs", Reach::Product),
            ("a/src/one.rs", Reach::Product),
            ("a/src/one/leaf.rs", Reach::Product),
            ("a/src/two.rs", Reach::Product),
            ("a/src/two/tests.rs", Reach::Tests),
        ]);
        assert_eq!(found, wanted);
    }

    #[test]
    fn targets_are_roots_and_belong_to_tests_where_they_are_tests() {
        let found = reach(&[
            ("a/Cargo.toml", "[[bin]]\nname = \"x\"\npath = \"src/x/start.rs\"\n"),
            ("a/src/x/start.rs", "mod near;"),
            ("a/src/x/near.rs", ""),
            ("a/tests/whole.rs", ""),
            ("a/tests/it/main.rs", "mod part;"),
            ("a/tests/it/part.rs", ""),
        ]);
        let wanted = expected(&[
            ("a/src/x/near.rs", Reach::Product),
            ("a/src/x/start.rs", Reach::Product),
            ("a/tests/it/main.rs", Reach::Tests),
            ("a/tests/it/part.rs", Reach::Tests),
            ("a/tests/whole.rs", Reach::Tests),
        ]);
        assert_eq!(found, wanted);
    }
}
