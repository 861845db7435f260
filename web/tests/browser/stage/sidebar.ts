/**
 * A sidebar of the dialect `bb` that holds every frame, in both directions, against the schemas that the program prints. Knows
 * nothing of the host but these and its address.
 */
import { once } from "node:events";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { expect } from "vitest";
import { WebSocket } from "ws";
import type { Host } from "./host";

/** How long anything may take; what is broken takes longer. */
const PATIENCE = 30_000;

export type Params = Record<string, unknown>;

export interface Failure {
  code: string;
  message: string;
  details?: unknown;
}

export interface Answer {
  v: number;
  kind: "res";
  id: string;
  ok: boolean;
  result?: unknown;
  error?: Failure;
}

/** One event of a session. */
export interface Happened {
  id: string;
  type: string;
  turn?: number;
  payload: Record<string, unknown>;
}

interface Told {
  kind: "evt";
  topic: string;
  payload: { events?: Happened[]; status?: string; gapDetected?: boolean };
}

interface Shape {
  title?: string;
  properties: Record<string, { const?: string }>;
}

interface Printed {
  viewToHost: { oneOf: Shape[]; $defs: object };
  hostToView: { anyOf: Shape[]; $defs: object };
}

/** The schemas of every request, answer and topic, by name. */
export class Schemas {
  private constructor(private readonly checks: Map<string, ValidateFunction>) {}

  static async of(host: Host): Promise<Schemas> {
    const [printed] = (await host.ask("schema", "--dialect", "bb")) as [Printed];
    const { viewToHost, hostToView } = printed;
    // Rust's names of the sorts of numbers are no formats of JSON Schema.
    const ajv = new Ajv2020({ allErrors: true, strictTypes: false, validateFormats: false });
    const checks = new Map<string, ValidateFunction>();
    const add = (name: string | undefined, shape: Shape, $defs: object) => {
      if (name === undefined || checks.has(name)) throw new Error(`no name of its own: ${String(name)}`);
      checks.set(name, ajv.compile({ ...shape, $defs }));
    };
    for (const shape of viewToHost.oneOf) add(shape.properties["method"]?.const, shape, viewToHost.$defs);
    for (const shape of hostToView.anyOf)
      add(shape.title ?? shape.properties["topic"]?.const, shape, hostToView.$defs);
    return new Schemas(checks);
  }

  get names(): string[] {
    return [...this.checks.keys()];
  }

  /** What is wrong with a message, by the schema of that name. */
  faults(name: string, message: unknown): string[] {
    const check = this.checks.get(name);
    if (!check) return [`there is no schema for ${name}`];
    if (check(message)) return [];
    return (check.errors ?? []).map(
      ({ instancePath, message: what }) =>
        `${name}${instancePath}: ${String(what)}: ${JSON.stringify(message)}`,
    );
  }
}

export class Sidebar {
  /** What broke a schema, in either direction. */
  readonly faults: string[] = [];
  /** Methods that were answered well, `answer to anything` for one that was refused, and topics. */
  readonly seen = new Set<string>();
  readonly told: Told[] = [];
  readonly answers: Answer[] = [];
  private readonly asked = new Map<string, string>();
  private number = 0;

  private constructor(
    private readonly link: WebSocket,
    private readonly schemas: Schemas,
  ) {}

  static async open(host: Host, schemas: Schemas): Promise<Sidebar> {
    const address = `${host.url.replace(/^http/, "ws")}/ws/bb`;
    const link = new WebSocket(address, ["switchboard.v1", `bearer.${host.token}`]);
    const sidebar = new Sidebar(link, schemas);
    link.on("message", (data: Buffer) => sidebar.hear(JSON.parse(data.toString()) as Answer | Told));
    await once(link, "open");
    return sidebar;
  }

  close(): void {
    this.link.terminate();
  }

  /** Says anything at all, right or wrong. */
  say(text: string): void {
    this.link.send(text);
  }

  /** Asks something that its schema allows, and gives the whole answer. */
  async answer(method: string, params: Params = {}): Promise<Answer> {
    const id = `n-${String((this.number += 1))}`;
    const message = { v: 1, kind: "req", id, method, params };
    this.faults.push(...this.schemas.faults(method, message));
    this.asked.set(id, method);
    this.say(JSON.stringify(message));
    return this.answered(id);
  }

  answered(id: string): Promise<Answer> {
    return this.until(`the answer ${id}`, () => this.answers.find((answer) => answer.id === id));
  }

  /** Asks what must go well. */
  async ask<T = Record<string, unknown>>(method: string, params: Params = {}): Promise<T> {
    const answer = await this.answer(method, params);
    expect(answer, method).toMatchObject({ ok: true });
    return answer.result as T;
  }

  /** Asks what must be refused. */
  async refused(method: string, params: Params = {}): Promise<string | undefined> {
    const answer = await this.answer(method, params);
    expect(answer, method).toMatchObject({ ok: false });
    return answer.error?.code;
  }

  get events(): Happened[] {
    return this.told.flatMap(({ topic, payload }) => (topic === "bb/events" ? (payload.events ?? []) : []));
  }

  /** Waits for an event, whenever it came. */
  event(type: string, turn?: number): Promise<Happened> {
    const is = (event: Happened) => event.type === type && (turn === undefined || event.turn === turn);
    return this.until(`${type} of turn ${String(turn)}`, () => this.events.find(is));
  }

  /** Waits until there is something. */
  async until<T>(what: string, found: () => T | undefined): Promise<T> {
    await expect
      .poll(() => found() !== undefined || this.link.readyState !== WebSocket.OPEN, {
        timeout: PATIENCE,
        message: what,
      })
      .toBe(true);
    const thing = found();
    if (thing === undefined) throw new Error(`the link ended before ${what}: ${JSON.stringify(this.told)}`);
    return thing;
  }

  private hear(message: Answer | Told): void {
    const name = this.nameOf(message);
    this.faults.push(...this.schemas.faults(name, message));
    this.seen.add(name.replace(/^answer to (bb\.)/, "$1"));
    if (message.kind === "res") this.answers.push(message);
    else this.told.push(message);
  }

  private nameOf(message: Answer | Told): string {
    if (message.kind !== "res") return message.topic;
    return message.ok ? `answer to ${String(this.asked.get(message.id))}` : "answer to anything";
  }
}
