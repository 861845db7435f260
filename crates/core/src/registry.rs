//! The tools that can be called, by name. Shows nobody a part of them: before the host's own are known there is no list.

use std::collections::BTreeMap;
use std::sync::Arc;

use switchboard_types::{LinkId, Provider, Tool, ToolName, Tools};

/// All tools.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    ready: bool,
    tools: BTreeMap<ToolName, Arc<Tool>>,
    /// What views are told, until a tool comes or goes.
    list: Option<Tools>,
}

impl Registry {
    /// The host's own tools are these; a lent one of the same name goes.
    pub(crate) fn know(&mut self, tools: Vec<Tool>) {
        self.ready = true;
        self.list = None;
        self.tools.retain(|_, tool| tool.provider != Provider::Host);
        self.tools.extend(tools.into_iter().map(|tool| (tool.name(), Arc::new(tool))));
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.ready
    }

    pub(crate) fn get(&self, name: &ToolName) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    /// How many tools a link lends.
    pub(crate) fn lent_by(&self, link: LinkId) -> usize {
        self.tools.values().filter(|tool| tool.provider == Provider::View(link)).count()
    }

    pub(crate) fn lend(&mut self, tool: Tool) {
        self.list = None;
        self.tools.insert(tool.name(), Arc::new(tool));
    }

    /// The link is gone, and its tools with it.
    pub(crate) fn take_back(&mut self, link: LinkId) {
        let before = self.tools.len();
        self.tools.retain(|_, tool| tool.provider != Provider::View(link));
        if self.tools.len() != before {
            self.list = None;
        }
    }

    /// All tools by name.
    pub(crate) fn list(&mut self) -> Tools {
        let tools = &self.tools;
        Arc::clone(self.list.get_or_insert_with(|| tools.values().cloned().collect()))
    }
}
