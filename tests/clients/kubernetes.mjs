// Exec and attach of @kubernetes/client-node, with the subprotocol that is the first argument.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { PassThrough, Writable } from "node:stream";
import { Attach, Exec, KubeConfig } from "@kubernetes/client-node";
import { WebSocketHandler } from "@kubernetes/client-node/dist/web-socket-handler.js";
import { call, done, eventually, longOutput, screen, shell, token, type, url, viewers } from "./shared.mjs";

const WebSocket = createRequire(import.meta.url)("ws");
const [only] = process.argv.slice(2); // else the client offers all it knows

const id = await shell();
const config = new KubeConfig();
config.loadFromClusterAndUser({ name: "evertty", server: `${url}/compat/k8s/${id}`, skipTLSVerify: url.startsWith("http:") }, { name: "me", token });
const handler = only && new WebSocketHandler(config, (uri, _, options) => new WebSocket(uri, [only], options));

const own = screen();
// output is a terminal as the client knows them: it has a size, and tells when it changes.
class Output extends Writable {
  columns = own.term.cols;
  rows = own.term.rows;
  _write(chunk, _, taken) {
    own.term.write(chunk, taken);
  }
}
let out;
let stdin;
let status;
async function connect(verb) {
  out = new Output();
  stdin = new PassThrough();
  status = undefined;
  if (verb === "attach") return new Attach(config, handler).attach("default", "pod", "c", out, null, stdin, true);
  return new Exec(config, handler).exec("default", "pod", "c", ["bash"], out, null, stdin, true, (s) => {
    status = s;
  });
}

let socket = await connect("attach");
assert.equal(socket.protocol, only ?? "v5.channel.k8s.io");
await own.same(id, "ready");
stdin.write("echo é $((40+2))\r");
await own.same(id, "\né 42");
done("typing");

own.term.resize(60, 15);
Object.assign(out, { columns: 60, rows: 15 });
out.emit("resize");
await eventually("the size", async () => (await call("GET", `/pty/${id}`)).cols === 60);
stdin.write("echo resized\r");
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
socket = await connect("exec");
await own.same(id, "\naway");
done("reconnect");

await eventually("that one watches", async () => (await viewers(id)).length === 1);
const [{ id: viewer, client }] = await viewers(id);
assert.equal(client, "compat");
await call("POST", `/pty/${id}/viewers/${viewer}/kick`, {});
await eventually("the kick", () => status?.status === "Failure");
assert.match(status.message, /removed/);
done("kick");

socket = await connect("exec");
await own.same(id, "\naway");
if (socket.protocol === "v5.channel.k8s.io") {
  stdin.end(); // ends nothing for others
  await type(id, "echo others type on\n");
  await own.same(id, "\nothers type on");
}
await type(id, "exit 3\n");
await eventually("the status", () => status !== undefined);
assert.equal(status.status, "Failure");
assert.deepEqual(status.details.causes, [{ reason: "ExitCode", message: "3" }]);
done("exit");
process.exit(0);
