//! The rules of the house that no compiler knows: one file a group of rules, all run over one reading of the tree. Changes
//! nothing; it only says what is wrong and what to do.

mod lexer;
mod links;
mod locks;
mod modules;
mod orphans;
mod pure;
mod report;
mod shape;
mod source;
mod tree;
mod words;

#[cfg(test)]
mod made_up;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use report::Report;
use tree::Tree;

/// A group of rules.
type Check = fn(&Tree, &mut Report);

const CHECKS: &[Check] = &[
    pure::code,
    pure::dependencies,
    shape::openings,
    shape::file_names,
    shape::type_names,
    shape::sizes,
    orphans::modules,
    orphans::testdata,
    links::check,
    words::code,
    words::text,
    locks::check,
];

/// Reads the repository, prints all findings and says whether there are none.
pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let tree = Tree::read(root)?;
    let mut report = Report::default();
    for check in CHECKS {
        check(&tree, &mut report);
    }
    print!("{report}");
    Ok(if report.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
