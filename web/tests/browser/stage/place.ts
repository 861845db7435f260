/** What the tests are given from outside and where they keep what they make. Fails at once if something is missing. */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ADVICE = "run the browser tests by `cargo xtask test browser`, which builds and finds what they need";

function given(name: string): string {
  const path = process.env[name];
  if (!path) throw new Error(`${name} is not set; ${ADVICE}`);
  return path;
}

function program(name: string): string {
  const path = given(name);
  if (!existsSync(path)) throw new Error(`${name} is ${path}, where nothing is; ${ADVICE}`);
  return path;
}

/** The host, as Cargo built it. */
export const switchboard = () => program("SWITCHBOARD_PROGRAM");

/** The browser. */
export const chromium = () => program("SWITCHBOARD_CHROMIUM");

/** Where pictures go. */
export function screenshots(): string {
  const folder = given("SWITCHBOARD_SCREENSHOTS");
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A folder that goes with whoever disposes of it. */
export class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "switchboard-browser-"));

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
