/** Where the page begins, as the host serves it: its link is a WebSocket to that host. */
import { start } from "./boot";
import { toolSockets } from "./edges/tools";
import { letIn, webSocketLinks } from "./edges/websocket";

start(webSocketLinks(location), toolSockets(location), letIn);
