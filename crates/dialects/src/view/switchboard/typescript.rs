//! The dialect's TypeScript, all of it in one text. Made from the same shapes as the JSON, so the two cannot differ.

use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

use super::VERSION;
use super::shape::{FromView, ToView};

const HEAD: &str = "\
// The messages between the page and the host. Generated from the Rust types by `cargo xtask codegen`: do not edit.
";

/// The declarations of every type of the dialect, as the text of one module.
#[must_use]
pub fn typescript() -> String {
    let config = Config::default().with_large_int("number");
    let mut found = Found { config: &config, declarations: BTreeMap::new() };
    found.visit::<FromView>();
    found.visit::<ToView>();
    let mut text = format!("{HEAD}\nexport const VERSION = \"{VERSION}\";\n");
    for (docs, declaration) in found.declarations.values() {
        text.push('\n');
        text.push_str(docs);
        text.push_str("export ");
        text.push_str(declaration);
        text.push('\n');
    }
    text.lines().flat_map(|line| [line.trim_end(), "\n"]).collect()
}

struct Found<'a> {
    config: &'a Config,
    declarations: BTreeMap<String, (String, String)>,
}

impl TypeVisitor for Found<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Only what is declared under a name of its own has a place to be written to.
        if T::output_path().is_some() {
            let name = T::ident(self.config);
            if self.declarations.contains_key(&name) {
                return;
            }
            self.declarations.insert(name, (T::docs().unwrap_or_default(), T::decl(self.config)));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}
