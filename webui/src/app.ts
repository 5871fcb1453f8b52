import { batch, computed, effect, untracked } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Connection } from "./api/connection";
import { pageSecret, SECRET_KEY, takeSecret } from "./api/credential";
import { Feed } from "./api/feed";
import {
  conversationRequests,
  openSocket,
  probeVersion,
  Refusal,
  readShared,
  readThread,
  threadEvents,
} from "./api/requests";
import { parseEvent, type ServerError, type ServerEvent } from "./api/wire";
import { firstRoundTrip, mediaMatches, readClipboard, settings, viewerKey, writeClipboard } from "./browser";
import { ConversationState } from "./conversation/state";
import { nameOf, titleOf } from "./list/label";
import { reduce, withoutAttention } from "./list/model";
import { routeOf } from "./list/route";
import { Store } from "./store";
import { ClipboardAccess } from "./terminal/clipboardaccess";
import { released, typed, withSticky } from "./terminal/keys";
import { SLOW_MS } from "./terminal/lazyhistory";
import { openLink, safeLink } from "./terminal/links";
import { Pool } from "./terminal/pool";
import type { ScreenEvents } from "./terminal/screen";
import { ThreadState } from "./thread/state";
import { clean, joined } from "./ui/text";
import { mayType, unwatched } from "./viewers/watch";

/** Largest paste sent, in UTF-8 bytes: the server's limit for one message is 1 MiB with its JSON around it. */
const MAX_PASTE = 900 * 1024;

/** Where the name is kept, and how long it may be, in characters. */
const NAME_KEY = "evertty-name";
const MAX_NAME = 16;

const NOT_COPIED =
  "Not copied: the browser does not let this page write to the clipboard. Allow it in the settings of the site.";

/**
 * App joins the connection, the store, the screens and the feed of the active terminal's thread. Nothing else knows all
 * of them. A thread has the name of its session. Construct one for a page, then call start.
 */
export class App {
  readonly store = new Store();
  readonly connection = new Connection({
    open: () => openSocket(this.name(), viewerKey()),
    secret: pageSecret,
    probe: probeVersion,
    random: Math.random,
    firstRoundTrip,
    // How to attach depends on the line, which is not known where the page came from the browser's cache.
    greeting: () => (this.connection.rtt > 0 ? this.pool.greeting() : []),
    opened: () => this.onConnected(),
    frame: (text) => this.onFrame(text),
  });
  readonly pool = new Pool({
    send: (message) => this.connection.send(message),
    eventsFor: (id) => this.eventsFor(id),
    stateOf: (id) => this.store.model.peek().items.find((i) => i.id === id)?.state ?? "running",
    slow: () => this.connection.rtt > SLOW_MS,
    changed: () =>
      batch(() => {
        this.store.letterboxed.value = this.pool.letterboxed();
        if (this.pool.drawn()) this.store.drawn.value = true;
      }),
  });
  readonly clipboardAccess = new ClipboardAccess({
    settings,
    write: writeClipboard,
    refused: () => this.store.toast(NOT_COPIED),
  });
  readonly feed = new Feed({ events: threadEvents, random: Math.random });
  readonly threadState = new ThreadState(this.feed, readThread);
  readonly conversation = new ConversationState(this.feed, conversationRequests);

  /** start listens to the page's events and opens the connection. Call it once, after the first render. */
  start(): void {
    const secretKept = takeSecret(probeVersion);
    this.listen();
    this.followStore();
    void secretKept.then((kept) => {
      this.store.tabOnly.value = !kept;
      this.connection.start();
    });
  }

  /** sendKey sends a named key of the key bar with the held modifiers; the server knows the program's key modes. */
  sendKey(key: string): void {
    const { activeId, mayType, sticky } = this.store;
    if (activeId.value === null || !mayType.value) return;
    this.connection.send({ type: "keys", pty: activeId.value, keys: [withSticky(key, sticky.value)] });
    sticky.value = released;
    this.pool.current()?.typed();
  }

  /** name is what other viewers see this page as, "" for none. */
  name(): string {
    return settings.get(NAME_KEY) ?? "";
  }

  /** setName changes it; the server is told with a new connection. */
  setName(name: string): void {
    settings.set(NAME_KEY, clean(name).trim().slice(0, MAX_NAME));
    this.connection.renew();
  }

  sendPaste(id: string, text: string): void {
    if (!this.store.mayType.value) {
      this.store.toast("Not pasted: what is shared with you is to look at only.");
      return;
    }
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > MAX_PASTE) {
      this.store.toast(`Not pasted: ${Math.ceil(bytes / 1024)} KiB is more than the limit of ${MAX_PASTE / 1024} KiB.`);
    } else if (!this.connection.send({ type: "paste", pty: id, data: text })) {
      this.store.toast("Not pasted: the server is not connected.");
    } else if (id === this.pool.shown()) this.pool.current()?.typed();
  }

  /** pasteClipboard pastes the clipboard into the active terminal, or opens a field where the page may not read it. */
  async pasteClipboard(): Promise<void> {
    const id = this.store.activeId.value;
    if (id === null) return;
    const text = await readClipboard();
    if (text === null) this.store.pasting.value = id;
    else if (text === "") this.store.toast("Not pasted: there is no text on the clipboard.");
    else this.sendPaste(id, text);
  }

  /** copySelection copies the selection of the active terminal, and clears the selection when that worked. */
  async copySelection(): Promise<void> {
    const term = this.pool.current()?.term;
    if (term && (await this.copy(term.getSelection()))) term.clearSelection();
  }

  /** copy puts text on the clipboard and reports whether that worked; nothing when it is empty. */
  private async copy(text: string): Promise<boolean> {
    if (text === "") return false;
    const copied = await writeClipboard(text);
    if (!copied) this.store.toast(NOT_COPIED);
    return copied;
  }

  private listen(): void {
    window.addEventListener("storage", (e) => {
      if (this.store.guest || e.key !== SECRET_KEY || e.newValue === null) return;
      this.connection.renew(); // another tab has logged in
    });
    window.addEventListener("hashchange", () => (this.store.activeId.value = routeOf(location.hash)));
    window.addEventListener("online", () => this.connection.wake());
    window.addEventListener("focus", () => this.onFocus());
    document.addEventListener("visibilitychange", () => {
      this.store.visible.value = !document.hidden;
      if (!document.hidden) this.connection.wake();
      this.onFocus();
    });
  }

  /** followStore keeps the screens, the feed and the title as the store says. */
  private followStore(): void {
    const { activeId, activeInfo, conversationSection, guest, model, searching, sizing } = this.store;
    const { statusOpen, statusTab, visible } = this.store;
    const mayAsk = computed(() => !guest && this.connection.status.value.state !== "unauthorized");
    effect(() => {
      const id = activeId.value;
      // After the next render: which bars are there decides the size of the terminal.
      setTimeout(() => this.show(id));
    });
    effect(() => {
      const [first] = model.value.items;
      if (guest && first && activeId.value === null) activeId.value = first.id; // there is nothing else to see
    });
    effect(() => {
      const { items, listed } = model.value;
      if (listed) {
        const ids = new Set(items.map((i) => i.id));
        this.pool.retain(ids);
        this.clipboardAccess.retain(ids);
      }
      this.pool.updateStates();
    });
    effect(() => {
      // Without a login nothing is asked, and a guest sees no threads.
      const [thread, visibly] = [activeInfo.value?.session ?? null, visible.value && mayAsk.value];
      untracked(() => this.feed.follow(thread, visibly));
    });
    effect(() => {
      const mode = sizing.value;
      untracked(() => this.pool.setMode(mode));
    });
    effect(() => {
      if (searching.value) this.pool.wantHistory();
    });
    effect(() => this.threadState.setDetailed(statusOpen.value && statusTab.value === "status"));
    effect(() => {
      const open = statusOpen.value && statusTab.value === "conversation";
      this.conversation.setSection(open ? conversationSection.value : null);
    });
    effect(() => {
      const info = activeInfo.value;
      const mark = info && model.value.attention.has(info.id) ? "● " : "";
      document.title = info ? mark + titleOf(info) : "evertty";
    });
  }

  private onConnected(): void {
    if (this.store.guest) void this.readShared();
    this.pool.reattach();
    this.feed.retry();
    const id = this.focused();
    if (id !== null && this.pool.shown() === id) this.connection.send({ type: "focus", pty: id });
  }

  private async readShared(): Promise<void> {
    const got = await readShared();
    if (!(got instanceof Refusal)) this.store.shared.value = got;
  }

  private onFrame(frame: string): void {
    const event = parseEvent(frame);
    if (event === null) return;
    if (event.event === "pong") this.connection.pong(event.t);
    const { activeId, model } = this.store;
    model.value = reduce(model.value, event, this.focused());
    this.pool.handle(event);
    if (event.event === "data" && event.pty === activeId.value) this.threadState.used();
    if (event.event === "meta" && event.clipboard) void this.clipboardAccess.offer(event.pty, event.clipboard);
    this.announce(event);
  }

  private onFocus(): void {
    if (document.hidden) return;
    this.pool.catchUp();
    const id = this.focused();
    if (id !== null) this.focus(id);
  }

  /** focused is the terminal the user looks at, null while the page is hidden or without focus. */
  private focused(): string | null {
    return document.hasFocus() && !document.hidden ? this.store.activeId.value : null;
  }

  private focus(id: string): void {
    this.store.model.value = withoutAttention(this.store.model.value, id);
    this.connection.send({ type: "focus", pty: id });
  }

  private show(id: string | null): void {
    const { store } = this;
    if (id !== store.activeId.value) return;
    batch(() => {
      store.drawn.value = false;
      store.clickedLink.value = null;
      store.hoveredLink.value = null;
      store.searching.value = false;
      this.pool.activate(id);
      this.noteSelection();
    });
    // On touch screens focus opens the keyboard over half of the page, so there it waits for a tap.
    if (!mediaMatches("(pointer: coarse)")) this.pool.current()?.term.focus();
  }

  private noteSelection(): void {
    this.store.selected.value = this.pool.current()?.term.hasSelection() ?? false;
  }

  private eventsFor(id: string): ScreenEvents {
    return {
      input: (data) => this.sendTyped(id, data),
      rtt: () => (this.predicts(id) ? this.connection.rtt : 0),
      bytes: (data) => {
        if (this.store.mayType.value) this.connection.send({ type: "input", pty: id, data_b64: btoa(data) });
      },
      paste: (text) => this.sendPaste(id, text),
      copy: (text) => void this.copy(text),
      selected: () => this.noteSelection(),
      focus: () => this.focus(id),
      redrawn: () => this.pool.applySize(),
      search: () => (this.store.searching.value = true),
      lookBack: () => this.pool.wantHistory(id),
      link: (address, clicked) => this.showLink(address, clicked),
      open: openLink,
    };
  }

  /** sendTyped reports whether the text went out as it is, and not as a named key. */
  private sendTyped(id: string, data: string): boolean {
    if (!this.store.mayType.value) return false;
    const messages = typed(id, data, this.store.sticky.value);
    const sent = messages.map((m) => this.connection.send(m)).every(Boolean);
    const named = messages[0]?.type === "keys";
    if (named) this.store.sticky.value = released;
    return sent && !named;
  }

  /** predicts reports whether typed text may be shown before the program does. */
  private predicts(id: string): boolean {
    const { mayType: may, model, predicting } = this.store;
    const allowed = predicting.peek() && may.peek() && mayType(model.peek().watched.get(id) ?? unwatched);
    return allowed && this.connection.status.peek().state === "open";
  }

  /** announce shows a toast for a refusal, and for a program's notification. */
  private announce(event: ServerEvent): void {
    if (event.event === "error" && event.code !== "NOT_FOUND") this.showRefusal(event);
    if (event.event !== "meta" || !event.notify) return;
    const from = this.store.model.value.items.find((i) => i.id === event.pty);
    const text = joined([clean(event.notify.title), clean(event.notify.body)], ": ");
    if (text !== "") this.store.toast(from ? `${nameOf(from)}: ${text}` : text);
  }

  /** showRefusal leads to the approvals where a person can approve here. */
  private showRefusal({ pty, code, error }: ServerError): void {
    const { activeId, openApprovals, toast } = this.store;
    if (code === "NEEDS_APPROVAL" && pty !== undefined && pty === activeId.value)
      toast("Typing here needs an approval first.", { label: "Review", run: openApprovals });
    else if (code === "LOCKED" && pty !== undefined)
      toast("Another viewer holds the keyboard.", {
        label: "Ask for it",
        run: () => this.connection.send({ type: "control", pty, action: "request" }),
      });
    else toast(clean(error) || "The server refused a request.");
  }

  private showLink(address: string | null, clicked: boolean): void {
    const { clickedLink, hoveredLink } = this.store;
    const safe = address === null ? null : safeLink(address);
    if (clicked) clickedLink.value = safe;
    hoveredLink.value = clicked ? null : safe;
  }
}

export const AppContext = createContext<App | null>(null);

/** useApp is the App of the page that a component is part of. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (app === null) throw new Error("there is no App around this component");
  return app;
}

/** useStore is the state of that page. */
export const useStore = (): Store => useApp().store;
