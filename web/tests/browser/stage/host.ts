/** A real host: the program that Cargo built, with a data folder of its own. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { Folder, switchboard } from "./place";

/** What is kept of the host's own log, for the case that something fails. */
const MAX_LOG_LINES = 200;
/** Where nobody listens, so that no model server of this machine has a part in the tests. */
const NOWHERE = "127.0.0.1:9";
/** What a command may print. */
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;

interface Ready {
  url: string;
  token: string;
  login: string;
}

export class Host {
  private readonly folder = new Folder();
  private child: ChildProcess | null = null;
  private ready: Ready | null = null;
  /** The last lines of its standard error. */
  readonly said: string[] = [];

  private constructor(private readonly env: Record<string, string>) {}

  /** Starts one that listens where it likes. `config` is the user's configuration, in TOML; `env` comes to its environment. */
  static async start(config = "", env: Record<string, string> = {}): Promise<Host> {
    const host = new Host(env);
    mkdirSync(host.workspace);
    writeFileSync(host.config, config);
    await host.run(0);
    return host;
  }

  get workspace(): string {
    return join(this.folder.path, "workspace");
  }

  private get data(): string {
    return join(this.folder.path, "data");
  }

  private get config(): string {
    return join(this.folder.path, "config.toml");
  }

  /** The user's configuration as it is on the disk. */
  configured(): string {
    return readFileSync(this.config, "utf8");
  }

  get url(): string {
    return this.now.url;
  }

  get token(): string {
    return this.now.token;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  private get now(): Ready {
    if (!this.ready) throw new Error("the host does not run");
    return this.ready;
  }

  /** A fresh link that logs a browser in. */
  async login(): Promise<string> {
    const answer = await fetch(`${this.url}/control/login`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.token}` },
    });
    const { login } = (await answer.json()) as { login: string };
    return login;
  }

  /** Runs one of the program's other commands on this host's data; what it prints, one JSON value a line. */
  async ask(...words: string[]): Promise<unknown[]> {
    const { stdout } = await promisify(execFile)(
      switchboard(),
      [...words, "--json", "--data", this.data, "--config", this.config],
      { maxBuffer: MAX_OUTPUT_BYTES },
    );
    return stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown);
  }

  /** Ends it without a warning, as a power cut would. */
  async kill(): Promise<void> {
    await this.end("SIGKILL");
  }

  /** Starts it again where it was, with all that it had. */
  async again(): Promise<void> {
    await this.run(this.port);
  }

  async stop(): Promise<void> {
    await this.end("SIGTERM");
    this.folder.remove();
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }

  private async run(port: number): Promise<void> {
    const flags = ["--json", "--data", this.data, "--config", this.config];
    const child = spawn(
      switchboard(),
      ["serve", "--listen", `127.0.0.1:${port}`, "--workspace", this.workspace, ...flags],
      {
        stdio: ["ignore", "pipe", "pipe"],
        cwd: this.workspace,
        env: { ...process.env, OLLAMA_HOST: NOWHERE, ...this.env },
      },
    );
    this.child = child;
    createInterface({ input: child.stderr }).on("line", (line) => {
      this.said.push(line);
      if (this.said.length > MAX_LOG_LINES) this.said.shift();
    });
    const lines = createInterface({ input: child.stdout });
    const first = await Promise.race([
      once(lines, "line").then(([line]) => String(line)),
      once(child, "exit").then(([code]) => {
        throw new Error(`the host exited with ${String(code)}:\n${this.said.join("\n")}`);
      }),
    ]);
    this.ready = JSON.parse(first) as Ready;
  }
}
