//! What a person may set of an agent. Modes, models and configuration options overlap in three shapes; here they are one
//! list, in which nothing stands twice. Remembers where each came from, so that it is set in the same way.

use switchboard_types::{AgentOption, OptionChoice, OptionId};

use super::small::{bearable, fields, first_items, line, name};

/// Options of one agent, and choices of one option.
const MAX_OPTIONS: usize = 64;
const MAX_CHOICES: usize = 1_000;

const MODE: &str = "mode";
const MODEL: &str = "model";

/// All that a session's agent has said of its options.
#[derive(Debug, Default)]
pub(super) struct Options {
    config: Vec<Config>,
    modes: Option<AgentOption>,
    models: Option<AgentOption>,
    /// How often the list was told.
    told: u64,
}

#[derive(Debug)]
struct Config {
    option: AgentOption,
    sort: Sort,
}

/// What sort of option it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Select,
    Switch,
}

/// How an option is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setter {
    Config(Sort),
    Mode,
    Model,
}

/// A setting that is on its way.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) option: OptionId,
    pub(super) value: String,
    pub(super) setter: Setter,
    /// How often the list had been told when it was asked for.
    told: u64,
}

impl Options {
    /// Takes what an answer or an update says in any of the three shapes, and says whether there was something.
    pub(super) fn take(&mut self, raw: &str) -> bool {
        let Some(found) = fields(raw, &["configOptions", "modes", "models"]) else { return false };
        let config = found.raw("configOptions").and_then(|raw| first_items(raw, MAX_OPTIONS));
        let modes = found.raw("modes").and_then(modes);
        let models = found.raw("models").and_then(models);
        let any = config.is_some() || modes.is_some() || models.is_some();
        if let Some(config) = config {
            self.config = config.into_iter().filter_map(option).collect();
            self.follow_config();
        }
        self.modes = modes.or(self.modes.take());
        self.models = models.or(self.models.take());
        any
    }

    /// The mode is another one now.
    pub(super) fn take_mode(&mut self, raw: &str) -> bool {
        let found = fields(raw, &["currentModeId", "modeId"]);
        let Some(mode) = found.and_then(|found| name(&found, "currentModeId").or(name(&found, "modeId"))) else {
            return false;
        };
        if self.covering(MODE).is_none() && self.modes.is_none() {
            self.modes = Some(of_category(MODE, "Mode", mode.clone(), Vec::new()));
        }
        self.set(&OptionId::from(MODE), &mode, Setter::Mode);
        true
    }

    /// The one list; none if there is nothing to set.
    pub(super) fn list(&mut self) -> Vec<AgentOption> {
        self.told += 1;
        let mut list: Vec<AgentOption> = self.config.iter().map(|config| config.option.clone()).collect();
        for (category, legacy) in [(MODE, &self.modes), (MODEL, &self.models)] {
            if self.covering(category).is_none() {
                list.extend(legacy.clone());
            }
        }
        list
    }

    /// How an option is to be set; none if there is no such option.
    pub(super) fn setting(&self, option: &OptionId, value: &str) -> Option<Setting> {
        let config = self.config.iter().find(|config| config.option.id == *option);
        let setter = match (config, option.as_str()) {
            (Some(config), _) => Setter::Config(config.sort),
            (None, MODE) if self.modes.is_some() => Setter::Mode,
            (None, MODEL) if self.models.is_some() => Setter::Model,
            (None, _) => return None,
        };
        Some(Setting { option: option.clone(), value: value.to_owned(), setter, told: self.told })
    }

    /// The older way to set the same, for an agent that lists an option but does not take it.
    pub(super) fn older_way(&self, setting: &Setting) -> Option<Setting> {
        let config = self.config.iter().find(|config| config.option.id == setting.option)?;
        let offers = |legacy: &Option<AgentOption>| {
            legacy.as_ref().is_some_and(|legacy| legacy.choices.iter().any(|choice| choice.value == setting.value))
        };
        let setter = match config.option.category.as_deref().unwrap_or(config.option.id.as_str()) {
            MODE if offers(&self.modes) => Setter::Mode,
            MODEL if offers(&self.models) => Setter::Model,
            _ => return None,
        };
        Some(Setting { setter, ..setting.clone() })
    }

    /// The agent has taken a setting. Says whether the list must be told: not if an update has said what holds now.
    pub(super) fn was_set(&mut self, setting: &Setting, answer: &str) -> bool {
        if self.take(answer) {
            return true;
        }
        if self.told > setting.told {
            return false;
        }
        self.set(&setting.option, &setting.value, setting.setter);
        true
    }

    /// Sets a value wherever it stands, in the new shape and in the old.
    fn set(&mut self, option: &OptionId, value: &str, setter: Setter) {
        let category = match setter {
            Setter::Config(_) => None,
            Setter::Mode => Some(MODE),
            Setter::Model => Some(MODEL),
        };
        let covering = category.and_then(|category| self.covering(category)).cloned();
        for config in &mut self.config {
            if config.option.id == *option || covering.as_ref() == Some(&config.option.id) {
                value.clone_into(&mut config.option.value);
            }
        }
        for legacy in [&mut self.modes, &mut self.models].into_iter().flatten() {
            if legacy.category.as_deref() == category && category.is_some() {
                value.clone_into(&mut legacy.value);
            }
        }
        self.follow_config();
    }

    /// The older shapes follow the options that stand for them.
    fn follow_config(&mut self) {
        for (category, legacy) in [(MODE, &mut self.modes), (MODEL, &mut self.models)] {
            let config = self.config.iter().find(|config| config.covers(category));
            if let (Some(config), Some(legacy)) = (config, legacy) {
                legacy.value.clone_from(&config.option.value);
            }
        }
    }

    /// The option that stands for a mode or a model.
    fn covering(&self, category: &str) -> Option<&OptionId> {
        self.config.iter().find(|config| config.covers(category)).map(|config| &config.option.id)
    }
}

impl Config {
    fn covers(&self, category: &str) -> bool {
        self.option.category.as_deref().unwrap_or(self.option.id.as_str()) == category
    }
}

fn of_category(category: &str, name: &str, value: String, choices: Vec<OptionChoice>) -> AgentOption {
    AgentOption {
        id: OptionId::from(category),
        name: name.to_owned(),
        description: None,
        category: Some(category.to_owned()),
        value,
        choices,
    }
}

fn modes(raw: &str) -> Option<AgentOption> {
    let found = fields(raw, &["currentModeId", "availableModes"])?;
    let choices = found.raw("availableModes").and_then(|raw| choices(raw, "id"))?;
    let value = name(&found, "currentModeId").unwrap_or_default();
    Some(of_category(MODE, "Mode", value, choices))
}

fn models(raw: &str) -> Option<AgentOption> {
    let found = fields(raw, &["currentModelId", "availableModels"])?;
    let choices = found.raw("availableModels").and_then(|raw| choices(raw, "modelId"))?;
    let value = name(&found, "currentModelId").unwrap_or_default();
    Some(of_category(MODEL, "Model", value, choices))
}

fn option(raw: &str) -> Option<Config> {
    let found = fields(raw, &["id", "name", "description", "category", "type", "currentValue", "options"])?;
    let id = name(&found, "id").filter(|id| bearable(id))?;
    let choices = found.raw("options").and_then(|raw| choices(raw, "value"));
    let (sort, value, choices) = match found.raw("currentValue") {
        Some(on @ ("true" | "false")) => (Sort::Switch, on.to_owned(), switch()),
        _ => (Sort::Select, line(&found, "currentValue").unwrap_or_default(), choices.unwrap_or_default()),
    };
    let option = AgentOption {
        name: line(&found, "name").unwrap_or_else(|| id.clone()),
        id: OptionId::new(id),
        description: line(&found, "description"),
        category: line(&found, "category"),
        value,
        choices,
    };
    Some(Config { option, sort })
}

fn switch() -> Vec<OptionChoice> {
    let choice = |value: &str, name: &str| OptionChoice {
        value: value.to_owned(),
        name: name.to_owned(),
        description: None,
        group: None,
    };
    vec![choice("true", "On"), choice("false", "Off")]
}

/// The choices of an option, those in groups with their group's name; none if it is no list.
fn choices(raw: &str, key: &'static str) -> Option<Vec<OptionChoice>> {
    let mut found = Vec::new();
    for item in first_items(raw, MAX_CHOICES)? {
        let group = fields(item, &["group", "name", "options"]);
        let inner = group.as_ref().and_then(|group| first_items(group.raw("options")?, MAX_CHOICES));
        let (Some(group), Some(inner)) = (group, inner) else {
            found.extend(choice(item, key, None));
            continue;
        };
        let title = line(&group, "name").or_else(|| line(&group, "group"));
        found.extend(inner.into_iter().filter_map(|item| choice(item, key, title.clone())));
    }
    found.truncate(MAX_CHOICES);
    Some(found)
}

fn choice(raw: &str, key: &'static str, group: Option<String>) -> Option<OptionChoice> {
    let found = fields(raw, &["value", "id", "modelId", "name", "description"])?;
    let value = name(&found, key)?;
    let title = line(&found, "name").unwrap_or_else(|| value.clone());
    Some(OptionChoice { value, name: title, description: line(&found, "description"), group })
}
