import { batch, computed, effect, untracked } from "@preact/signals";
import { Connection } from "./api/connection";
import { pageSecret, SECRET_KEY, takeSecret } from "./api/credential";
import { Feed } from "./api/feed";
import { conversationRequests, openSocket, probeVersion, readThread, threadEvents } from "./api/requests";
import { parseEvent, type ServerEvent } from "./api/wire";
import { mediaMatches, readClipboard, settings, writeClipboard } from "./browser";
import { ConversationState } from "./conversation/state";
import { nameOf, titleOf } from "./list/label";
import { reduce, withoutAttention } from "./list/model";
import { routeOf } from "./list/route";
import {
  activeId,
  activeInfo,
  clickedLink,
  conversationSection,
  drawn,
  hoveredLink,
  letterboxed,
  model,
  openApprovals,
  pasting,
  searching,
  selected,
  statusOpen,
  statusTab,
  sticky,
  tabOnly,
  toast,
  visible,
} from "./store";
import { ClipboardAccess } from "./terminal/clipboardaccess";
import { released, typed, withSticky } from "./terminal/keys";
import { safeLink } from "./terminal/links";
import { Pool } from "./terminal/pool";
import type { ScreenEvents } from "./terminal/screen";
import { ThreadState } from "./thread/state";
import { clean, joined } from "./ui/text";

/** This file joins the connection, the store and the screens; nothing else knows all three. */

/** Largest paste sent, in UTF-8 bytes: the server's limit for one message is 1 MiB with its JSON around it. */
const MAX_PASTE = 900 * 1024;

export const connection = new Connection({
  open: openSocket,
  secret: pageSecret,
  probe: probeVersion,
  random: Math.random,
  opened,
  frame: receive,
});

export const pool = new Pool({
  send: (message) => connection.send(message),
  eventsFor,
  stateOf: (id) => model.peek().items.find((i) => i.id === id)?.state ?? "running",
  changed: () =>
    batch(() => {
      letterboxed.value = pool.letterboxed();
      if (pool.drawn()) drawn.value = true;
    }),
});

export const clipboardAccess = new ClipboardAccess({ settings, write: writeClipboard, refused: notCopied });

function notCopied(): void {
  toast("Not copied: the browser does not let this page write to the clipboard. Allow it in the settings of the site.");
}

/** The events of the terminal on display: its thread has the name of its session. */
export const feed = new Feed({ events: threadEvents, random: Math.random });
export const threadState = new ThreadState(feed, readThread);
export const conversation = new ConversationState(feed, conversationRequests);

/** On touch screens focus opens the keyboard over half of the page, so there it waits for a tap. */
const touches = (): boolean => mediaMatches("(pointer: coarse)");

/** inFront is the terminal the user looks at, null while the page is hidden or without focus. */
const inFront = (): string | null => (document.hasFocus() && !document.hidden ? activeId.value : null);

function opened(): void {
  pool.reattach();
  feed.retry();
  const id = inFront();
  if (id !== null && pool.shown() === id) connection.send({ type: "focus", pty: id });
}

function receive(frame: string): void {
  const event = parseEvent(frame);
  if (event === null) return;
  model.value = reduce(model.value, event, inFront());
  pool.handle(event);
  if (event.event === "data" && event.pty === activeId.value) threadState.used();
  if (event.event === "meta" && event.clipboard) void clipboardAccess.offer(event.pty, event.clipboard);
  announce(event);
}

function announce(event: ServerEvent): void {
  if (event.event === "error" && event.code !== "NOT_FOUND") refused(event);
  if (event.event !== "meta" || !event.notify) return;
  const from = model.value.items.find((i) => i.id === event.pty);
  const said = joined([clean(event.notify.title), clean(event.notify.body)], ": ");
  if (said !== "") toast(from ? `${nameOf(from)}: ${said}` : said);
}

/** refused says what the server refused. What a person can approve here has a way there. */
function refused(event: Extract<ServerEvent, { event: "error" }>): void {
  const here = event.pty !== null && event.pty === activeId.value;
  if (event.code === "NEEDS_APPROVAL" && here)
    toast("Typing here needs an approval first.", { label: "Review", run: openApprovals });
  else toast(clean(event.error) || "The server refused a request.");
}

function eventsFor(id: string): ScreenEvents {
  return {
    input: (data) => sendTyped(id, data),
    bytes: (data) => connection.send({ type: "input", pty: id, data_b64: btoa(data) }),
    paste: (text) => sendPaste(id, text),
    copy: (text) => void copy(text),
    selected: () => noteSelection(),
    focus: () => focusOn(id),
    redrawn: () => pool.applySize(),
    search: () => (searching.value = true),
    link: (uri, shown) => showLink(uri, shown),
    open: openLink,
  };
}

function sendTyped(id: string, data: string): void {
  const messages = typed(id, data, sticky.value);
  for (const m of messages) connection.send(m);
  if (messages[0]?.type === "keys") sticky.value = released;
}

/** sendKey sends a named key of the key bar with the held modifiers; the server knows the program's key modes. */
export function sendKey(key: string): void {
  if (activeId.value === null) return;
  connection.send({ type: "keys", pty: activeId.value, keys: [withSticky(key, sticky.value)] });
  sticky.value = released;
  pool.current()?.typed();
}

/** sendPaste pastes text into a terminal. */
export function sendPaste(id: string, text: string): void {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > MAX_PASTE)
    toast(`Not pasted: ${Math.ceil(bytes / 1024)} KiB is more than the limit of ${MAX_PASTE / 1024} KiB.`);
  else if (!connection.send({ type: "paste", pty: id, data: text })) toast("Not pasted: the server is not connected.");
  else if (id === pool.shown()) pool.current()?.typed();
}

/** pasteClipboard pastes the clipboard into the active terminal, or opens a field where the page may not read it. */
export async function pasteClipboard(): Promise<void> {
  const id = activeId.value;
  if (id === null) return;
  const text = await readClipboard();
  if (text === null) pasting.value = id;
  else if (text === "") toast("Not pasted: there is no text on the clipboard.");
  else sendPaste(id, text);
}

/** copy puts text on the clipboard and reports whether that worked; nothing when it is empty. */
async function copy(text: string): Promise<boolean> {
  if (text === "") return false;
  const copied = await writeClipboard(text);
  if (!copied) notCopied();
  return copied;
}

/** copySelection copies what is selected in the active terminal, and takes the selection back when that worked. */
export async function copySelection(): Promise<void> {
  const screen = pool.current();
  if (screen && (await copy(screen.selection()))) screen.clearSelection();
}

function noteSelection(): void {
  selected.value = pool.current()?.hasSelection() ?? false;
}

function showLink(uri: string | null, shown: boolean): void {
  const safe = uri === null ? null : safeLink(uri);
  if (shown) clickedLink.value = safe;
  hoveredLink.value = shown ? null : safe;
}

/** openLink opens an http or https address in a new tab that cannot reach back to this page. */
export function openLink(uri: string): void {
  const safe = safeLink(uri);
  if (safe !== null) window.open(safe, "_blank", "noopener,noreferrer");
}

function focusOn(id: string): void {
  model.value = withoutAttention(model.value, id);
  connection.send({ type: "focus", pty: id });
}

function onFocus(): void {
  if (document.hidden) return;
  pool.catchUp();
  const id = inFront();
  if (id !== null) focusOn(id);
}

function show(id: string | null): void {
  if (id !== activeId.value) return;
  batch(() => {
    drawn.value = false;
    clickedLink.value = null;
    hoveredLink.value = null;
    searching.value = false;
    pool.activate(id);
    noteSelection();
  });
  if (!touches()) pool.current()?.focus();
}

function follow(): void {
  activeId.value = routeOf(location.hash);
}

/** False while there is no login: then nothing is asked before somebody logs in. */
const loggedIn = computed(() => connection.status.value.state !== "unauthorized");

/** start wires the page's events and opens the connection. Call it once. */
export function start(): void {
  const taken = takeSecret(probeVersion);
  window.addEventListener("storage", (e) => {
    if (e.key === SECRET_KEY && e.newValue !== null) connection.renew(); // another tab has logged in
  });
  window.addEventListener("hashchange", follow);
  window.addEventListener("online", () => connection.wake());
  window.addEventListener("focus", onFocus);
  document.addEventListener("visibilitychange", () => {
    visible.value = !document.hidden;
    if (!document.hidden) connection.wake();
    onFocus();
  });
  effect(() => {
    const id = activeId.value;
    // After the page was drawn anew: which bars are there decides the size of the terminal.
    setTimeout(() => show(id));
  });
  effect(() => {
    const { items, listed } = model.value;
    if (listed) {
      const ids = new Set(items.map((i) => i.id));
      pool.retain(ids);
      clipboardAccess.retain(ids);
    }
    pool.updateStates();
  });
  effect(() => {
    const [thread, looked] = [activeInfo.value?.session ?? null, visible.value && loggedIn.value];
    untracked(() => feed.follow(thread, looked));
  });
  effect(() => threadState.detail(statusOpen.value && statusTab.value === "status"));
  effect(() =>
    conversation.look(statusOpen.value && statusTab.value === "conversation" ? conversationSection.value : null),
  );
  effect(() => {
    const info = activeInfo.value;
    const mark = info && model.value.attention.has(info.id) ? "● " : "";
    document.title = info ? mark + titleOf(info) : "evertty";
  });
  void taken.then((kept) => {
    tabOnly.value = !kept;
    connection.start();
  });
}
