/** A model server that speaks as Ollama does, on a port of its own: it has what a test gives it and remembers what it was asked. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";

export type Told = { role: string; content: string };
/** A request for an answer, as far as tests look at it. */
export type Asked = {
  model: string;
  messages: Told[];
  tools: string[];
  token: string | null;
};

const MODELS = [
  { name: "qwen3:8b", size: 5_225_388_164, details: { family: "qwen3", parameter_size: "8.2B" } },
  { name: "tiny:1b", size: 815_319_791, details: { family: "tiny", parameter_size: "1B" } },
];

export class Ollama {
  readonly asked: Asked[] = [];
  /** The words of the next answers; each is a piece of its own. */
  words = ["Hello", " from", " the", " local", " model."];
  /** Waits before the last word, so that a test can see that it streams. */
  hold: Promise<void> = Promise.resolve();
  models = MODELS;
  private port = 0;
  private readonly links = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly token: string | null,
  ) {}

  /** Starts one; with a token it lets nobody in who has another one or none. */
  static async start(token: string | null = null): Promise<Ollama> {
    const server = createServer();
    const ollama = new Ollama(server, token);
    server.on("connection", (link: Socket) => {
      ollama.links.add(link);
      link.on("close", () => ollama.links.delete(link));
    });
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      ollama.serve(request, response).catch(() => response.destroy());
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    ollama.port = (server.address() as AddressInfo).port;
    return ollama;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  /** Goes away, as when somebody ends it; whoever is being answered hears no more. */
  async stop(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, "close");
    this.server.close();
    for (const link of this.links) link.destroy();
    await closed;
  }

  /** Is there again, where it was. */
  async again(): Promise<void> {
    this.server.listen(this.port, "127.0.0.1");
    await once(this.server, "listening");
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? null;
    let text = "";
    for await (const piece of request) text += String(piece);
    if (this.token !== null && bearer !== this.token) return end(response, 401, { error: "unauthorized" });
    const body = (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>;
    const model = String(body["model"] ?? "");
    switch (request.url) {
      case "/api/tags":
        return end(response, 200, { models: this.models });
      case "/api/show":
        return end(response, 200, {
          capabilities: ["completion", "tools"],
          model_info: { "general.architecture": "qwen3", "qwen3.context_length": 40_960 },
        });
      case "/api/chat": {
        const tools = (body["tools"] ?? []) as { function: { name: string } }[];
        this.asked.push({
          model,
          messages: body["messages"] as Told[],
          tools: tools.map((tool) => tool.function.name),
          token: bearer,
        });
        return this.answer(model, response);
      }
      default:
        return end(response, 404, { error: "not found" });
    }
  }

  private async answer(model: string, response: ServerResponse): Promise<void> {
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const say = (more: Record<string, unknown>) =>
      response.write(`${JSON.stringify({ model, created_at: new Date().toISOString(), ...more })}\n`);
    const { words } = this;
    for (const [at, content] of words.entries()) {
      if (at === words.length - 1) await this.hold;
      say({ message: { role: "assistant", content }, done: false });
    }
    say({
      message: { role: "assistant", content: "" },
      done: true,
      done_reason: "stop",
      prompt_eval_count: 200,
      eval_count: words.length,
    });
    response.end();
  }
}

function end(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
