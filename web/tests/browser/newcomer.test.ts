/**
 * The newcomer's path: the first command of the README, the link that it prints, a prompt, an answer.
 *
 * Among the other tests the program is the one that Cargo has built for all of them. `cargo xtask newcomer` says otherwise: then the
 * command is run as it stands in the README, in a fresh clone.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { Folder, switchboard } from "./stage/place";
import { launch, Window } from "./stage/window";

const README = join(import.meta.dirname, "../../../README.md");
/** A fresh clone is built from nothing. */
const BUILD_TIME = 30 * 60_000;

const folder = new Folder();
let program: ChildProcess | null = null;
let browser: Browser | null = null;

afterAll(async () => {
  await browser?.close();
  if (program && program.exitCode === null) {
    const gone = once(program, "exit");
    // The group, since Cargo stands between us and the host.
    if (program.pid !== undefined) process.kill(-program.pid, "SIGTERM");
    await gone;
  }
  folder.remove();
});

test("the first command of the README leads to an answer", { timeout: BUILD_TIME }, async () => {
  const command = firstCommand(readFileSync(README, "utf8"));
  expect(command).toBe("cargo run --release");
  const clone = process.env["SWITCHBOARD_CLONE"];
  const [name = "", ...rest] = clone ? command.split(" ") : [switchboard()];
  const link = await printedLink(name, rest, clone ?? join(folder.path, "project"));
  browser = await launch();
  const window = await Window.open(await browser.newContext(), link);
  await window.prompt("hello");
  await window.ended(1, "completed");
  expect(await window.answer(1)).toContain("demo");
  expect(window.trouble).toEqual({ errors: [], violations: [], ran: [] });
});

/** The first line of the first block of shell commands, without its comment. */
function firstCommand(readme: string): string {
  const block = /```sh\n([^\n]*)/.exec(readme);
  return (block?.[1] ?? "").replace(/#.*$/, "").trim();
}

/** Runs a command as somebody who has never run it before, and waits for the link that it prints. */
async function printedLink(name: string, rest: string[], cwd: string): Promise<string> {
  mkdirSync(cwd, { recursive: true });
  const own = (kind: string) => join(folder.path, kind);
  const env = {
    ...process.env,
    XDG_CONFIG_HOME: own("config"),
    XDG_DATA_HOME: own("data"),
    XDG_STATE_HOME: own("state"),
    XDG_RUNTIME_DIR: own("runtime"),
    // A fresh clone builds in its own folder.
    CARGO_TARGET_DIR: undefined,
  };
  mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  program = spawn(name, rest, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const said: string[] = [];
  createInterface({ input: program.stderr! }).on("line", (line) => said.push(line));
  for await (const line of createInterface({ input: program.stdout! })) {
    said.push(line);
    const link = /http:\/\/\S+\/login\?code=\S+/.exec(line);
    if (link) return link[0];
  }
  throw new Error(`no link was printed:\n${said.slice(-50).join("\n")}`);
}
