// A terminal of JupyterLab, by @jupyterlab/services.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { call, done, eventually, longOutput, screen, shell, token, type, url, viewers } from "./shared.mjs";

const require = createRequire(import.meta.url);
const { PageConfig } = require("@jupyterlab/coreutils");
const { ServerConnection, TerminalAPI, TerminalManager } = require("@jupyterlab/services");
const WebSocket = require("ws");
PageConfig.setOption("terminalsAvailable", "true");

const id = await shell();
const { ticket } = await call("POST", "/tickets", { pty: id, role: "write", ttl_s: 600, uses: 100 });
let socket; // the one that the client has opened last
const settings = (ticket) =>
  ServerConnection.makeSettings({
    baseUrl: `${url}/compat/terminado/${id}`,
    wsUrl: `${url.replace("http", "ws")}/compat/terminado/${id}`,
    token: ticket,
    appendToken: true,
    init: ticket === "" ? { headers: { Authorization: `Bearer ${token}` } } : {},
    WebSocket: class extends WebSocket {
      constructor(...args) {
        super(...args);
        socket = this;
      }
    },
  });
const own = screen();
function connect(ticket) {
  const connection = new TerminalManager({ serverSettings: settings(ticket) }).connectTo({ model: { name: id } });
  connection.messageReceived.connect((_, m) => m.type === "stdout" && own.term.write(m.content[0]));
  return connection;
}

let connection = connect(ticket);
await own.same(id, "ready");
connection.send({ type: "stdin", content: ["echo é $((40+2))\r"] });
await own.same(id, "\né 42");
done("typing");

own.term.resize(60, 15);
connection.send({ type: "set_size", content: [15, 60, 300, 600] });
await eventually("the size", async () => (await call("GET", `/pty/${id}`)).cols === 60);
connection.send({ type: "stdin", content: ["echo resized\r"] });
await own.same(id, "\nresized");
done("resize");

socket._socket.pause();
await type(id, longOutput);
await eventually("the end of a flood that nobody reads", async () =>
  (await call("GET", `/pty/${id}/snapshot?format=text&scrollback=0`)).text.includes("the end"),
);
socket._socket.resume();
await own.same(id, "the end");
done("slow reader");

socket._socket.destroy();
await type(id, "echo away\n");
await own.same(id, "\naway"); // it comes back by itself
assert.equal(connection.connectionStatus, "connected");
done("reconnect");

const [{ id: viewer, client }] = await viewers(id);
assert.equal(client, "compat");
await call("POST", `/pty/${id}/viewers/${viewer}/kick`, {});
await eventually("the kick", () => connection.isDisposed);
await eventually("that nobody watches", async () => (await viewers(id)).length === 0);
done("kick");

const again = await call("POST", "/tickets", { pty: id, role: "write", ttl_s: 600, uses: 100 });
connection = connect(again.ticket);
await own.same(id, "\naway");
assert.deepEqual((await TerminalAPI.listRunning(settings(""))).map((m) => m.name), [id]);
assert.equal((await TerminalAPI.startNew(settings(""), "1")).name, id);
await type(id, "exit 3\n");
await eventually("the exit", () => connection.isDisposed);
done("exit");

await TerminalAPI.shutdownTerminal(id, settings(""));
await assert.rejects(call("GET", `/pty/${id}/snapshot?format=text`).then(() => call("POST", `/pty/${id}/restart`, {})));
done("shutdown");
process.exit(0);
