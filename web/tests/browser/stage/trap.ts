/** Where every foreign name leads during a test, so that a request that leaves is seen and goes nowhere. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

export class Trap {
  /** Names that were asked for: of a TLS greeting or a plain request, whatever of it is readable. */
  readonly caught: string[] = [];

  private constructor(private readonly server: Server) {}

  static async set(): Promise<Trap> {
    const server = createServer();
    const trap = new Trap(server);
    server.on("connection", (socket) => {
      socket.on("error", () => socket.destroy());
      socket.once("data", (bytes) => {
        const readable = bytes.toString("latin1").replace(/[^\x20-\x7e]+/g, " ");
        // What the browser does on its own account is not the page's doing.
        if (readable.includes("evil.example")) trap.caught.push(readable.slice(0, 200));
        socket.destroy();
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return trap;
  }

  /** What the browser must be started with. */
  get flag(): string {
    return `--host-resolver-rules=MAP * 127.0.0.1:${(this.server.address() as AddressInfo).port}, EXCLUDE 127.0.0.1`;
  }

  async close(): Promise<void> {
    this.server.close();
    await once(this.server, "close");
  }
}
