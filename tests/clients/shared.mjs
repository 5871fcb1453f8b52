// What the tests of the clients for Node share. The server is in EVERTTY_URL, its token in EVERTTY_TOKEN.
import assert from "node:assert/strict";
import headless from "@xterm/headless";

export const url = process.env.EVERTTY_URL;
export const token = process.env.EVERTTY_TOKEN;
const patience = 60_000; // of a wait for a fact, in ms

// call is a request to the server's own API.
export async function call(method, path, body) {
  const reply = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await reply.text();
  assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
  return text === "" ? undefined : JSON.parse(text);
}

// shell starts a terminal with a shell, and returns its id.
export async function shell() {
  const { id } = await call("POST", "/session/clients/pty", { cmd: ["bash", "--norc"], cols: 80, rows: 24 });
  await type(id, "PS1='> '; clear; echo ready\n");
  await eventually("the shell", async () => (await text(id)).includes("ready\n>"));
  return id;
}

export const type = (id, data) => call("POST", `/pty/${id}/input`, { data });
export const viewers = async (id) => (await call("GET", `/pty/${id}/viewers`)).viewers;
const trimmed = (s) => s.split("\n").map((line) => line.trimEnd()).join("\n").trimEnd();
export const text = async (id) => trimmed((await call("GET", `/pty/${id}/snapshot?format=text&scrollback=0`)).text);

// eventually waits until a fact holds.
export async function eventually(what, fact) {
  for (const began = Date.now(); !(await fact()); ) {
    assert.ok(Date.now() - began < patience, `waited in vain for ${what}`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

// screen is a terminal of the client's own.
export function screen() {
  const term = new headless.Terminal({ cols: 80, rows: 24, scrollback: 1000, allowProposedApi: true });
  const shown = () => {
    const b = term.buffer.active;
    return trimmed(
      Array.from({ length: term.rows }, (_, y) => b.getLine(b.baseY + y).translateToString(true)).join("\n"),
    );
  };
  // same waits until it shows what the server shows, and that has a text.
  const same = (id, wanted) =>
    eventually(`the screen with ${JSON.stringify(wanted)}; there is\n${shown()}`, async () => {
      const s = shown();
      return s.includes(wanted) && s === (await text(id));
    });
  return { term, shown, same };
}

// longOutput is a command that prints more than any buffer on the way keeps, and then a word.
export const longOutput = "yes '0123456789 0123456789 0123456789' | head -c 40000000; echo the'' end\n";

// done tells the Go test that a part of the scenario has passed.
export const done = (what) => console.log(`ok ${what}`);
