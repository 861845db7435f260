/** The log as another view sees it: one that speaks the public dialect `tabs` and shares no code with the page. */
import { WebSocket } from "undici";
import type { Host } from "./host";

/** One turn, as far as the tests look at it. */
export interface Said {
  prompt: string;
  text: string;
  thought: string;
  /** How it ended; null while it has not. */
  reason: string | null;
  code: string | null;
}

interface Message {
  type: string;
  tabId?: string;
  index?: number;
  messageId?: string;
  text?: string;
  chunk?: string;
  reason?: string;
  detail?: { code: string; message: string };
  tabs?: { tabId: string; title: string; lastIndex: number }[];
}

/** Reads a host's tabs until the condition holds of the turns of one of them; then it hangs up. */
export async function readLog(
  host: Host,
  tab: string,
  enough: (turns: Said[]) => boolean,
  within = 30_000,
): Promise<Said[]> {
  const turns = new Map<string, Said>();
  const socket = await dial(host);
  try {
    return await new Promise<Said[]>((done, fail) => {
      const late = setTimeout(
        () =>
          fail(
            new Error(`the log does not come to it: ${JSON.stringify([...turns.values()]).slice(-2_000)}`),
          ),
        within,
      );
      socket.onclose = () => fail(new Error("the host hung up"));
      socket.onmessage = ({ data }) => {
        take(turns, JSON.parse(String(data)) as Message);
        if (!enough([...turns.values()])) return;
        clearTimeout(late);
        done([...turns.values()]);
      };
      socket.send(JSON.stringify({ type: "webview-ready", lastSeenIndex: { [tab]: -1 } }));
    });
  } finally {
    socket.onclose = null;
    socket.close();
  }
}

/** The names of the tabs that are open, in their order. */
export async function openTabs(host: Host): Promise<string[]> {
  const socket = await dial(host);
  try {
    return await new Promise<string[]>((done, fail) => {
      socket.onclose = () => fail(new Error("the host hung up"));
      socket.onmessage = ({ data }) => {
        const message = JSON.parse(String(data)) as Message;
        if (message.type === "tabs-restored") done((message.tabs ?? []).map((tab) => tab.tabId));
      };
      socket.send(JSON.stringify({ type: "webview-ready" }));
    });
  } finally {
    socket.onclose = null;
    socket.close();
  }
}

export const allEnded = (count: number) => (turns: Said[]) =>
  turns.filter((turn) => turn.reason !== null).length >= count;

async function dial(host: Host): Promise<WebSocket> {
  const address = `${host.url.replace("http", "ws")}/ws/tabs`;
  const socket = new WebSocket(address, ["switchboard.v1", `bearer.${host.token}`]);
  await new Promise<void>((done, fail) => {
    socket.onopen = () => done();
    socket.onerror = () => fail(new Error(`no WebSocket at ${address}`));
  });
  return socket;
}

function take(turns: Map<string, Said>, message: Message): void {
  const { messageId } = message;
  if (messageId === undefined) return;
  if (message.type === "prompt-queued") {
    turns.set(messageId, { prompt: message.text ?? "", text: "", thought: "", reason: null, code: null });
  }
  const turn = turns.get(messageId);
  if (!turn) return;
  if (message.type === "response-chunk") turn.text += message.chunk ?? "";
  if (message.type === "thought-chunk") turn.thought += message.chunk ?? "";
  if (message.type === "response-complete") {
    turn.reason = message.reason ?? "";
    turn.code = message.detail?.code ?? null;
  }
}
