/** The wire between a browser and a host, for tests that cut it: bytes go through unless they are told not to. */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

type State = "open" | "cut" | "dead";

export class Wire {
  private readonly sockets = new Set<Socket>();
  private state: State = "open";

  private constructor(
    private readonly server: Server,
    /** Where the far end is; may change while the wire is there. */
    public target: number,
  ) {}

  /** A wire to a port of this machine. */
  static async to(target: number): Promise<Wire> {
    const server = createServer();
    const wire = new Wire(server, target);
    server.on("connection", (near) => wire.join(near));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return wire;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Ends all that goes over it, and whatever comes. */
  cut(): void {
    this.state = "cut";
    for (const socket of this.sockets) socket.destroy();
  }

  /** Carries nothing any more and tells nobody, as a network that went away. */
  die(): void {
    this.state = "dead";
    for (const socket of this.sockets) socket.pause();
  }

  mend(): void {
    this.state = "open";
    for (const socket of this.sockets) socket.resume();
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, "close");
  }

  private join(near: Socket): void {
    if (this.state === "cut") {
      near.destroy();
      return;
    }
    const far = connect(this.target, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(from);
      from.on("data", (bytes) => {
        if (!to.write(bytes)) from.pause();
      });
      to.on("drain", () => {
        if (this.state !== "dead") from.resume();
      });
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.sockets.delete(from);
        to.destroy();
      });
      if (this.state === "dead") from.pause();
    }
  }
}
