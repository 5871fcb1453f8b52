import { computed, signal } from "@preact/signals";
import type { Terminal } from "./api/wire";
import type { Section } from "./conversation/state";
import { emptyModel, type Model } from "./list/model";
import { routeOf } from "./list/route";
import { released, type Sticky } from "./terminal/keys";
import { messageOf } from "./ui/text";

/** The state the components draw. Only App and the components' own handlers change it. */

export const model = signal<Model>(emptyModel);
/** The terminal in the main area, named by the location's hash. */
export const activeId = signal<string | null>(routeOf(location.hash));
export const activeInfo = computed<Terminal | undefined>(() => model.value.items.find((i) => i.id === activeId.value));
/** True while the server's size is not the one this page would like, so that the terminal does not fill the area. */
export const letterboxed = signal(false);
/** True once the active terminal has shown a screen: then an overlay may dim it instead of hiding an empty page. */
export const drawn = signal(false);

/** True while something is selected in the active terminal. */
export const selected = signal(false);
/** The terminal for which a field to paste into is open: the browser does not let the page read its clipboard. */
export const pasting = signal<string | null>(null);

export const sticky = signal<Sticky>(released);
export const searching = signal(false);
export const drawerOpen = signal(false);
export const statusOpen = signal(false);
/** What the open status shows, and which part of the conversation. */
export const statusTab = signal<"status" | "conversation">("status");
export const conversationSection = signal<Section>("messages");
/** False while the page is in a background tab or minimised. */
export const visible = signal(!document.hidden);
/** True when the login ends with this tab, because the browser keeps nothing for the page. */
export const tabOnly = signal(false);
export const creating = signal(false);
/** The terminal whose closing waits for a yes. */
export const closing = signal<Terminal | null>(null);
/** The address under the pointer, and the one that was clicked and waits to be opened. */
export const hoveredLink = signal<string | null>(null);
export const clickedLink = signal<string | null>(null);

export interface Toast {
  id: number;
  text: string;
  /** A button beside the text. */
  action?: { label: string; run(): void };
}

/** How long a toast stays, in milliseconds: long enough to read two lines. */
const TOAST_MS = 6_000;
/** Toasts shown at once; a program may notify in a loop. */
const MAX_TOASTS = 4;

export const toasts = signal<readonly Toast[]>([]);
let nextToast = 1;

/** toast shows one line for a while; the oldest gives way, and so does one that says the same. */
export function toast(text: string, action?: Toast["action"]): void {
  const id = nextToast++;
  const others = toasts.value.filter((t) => t.text !== text);
  toasts.value = [...others, action === undefined ? { id, text } : { id, text, action }].slice(-MAX_TOASTS);
  setTimeout(() => dismiss(id), TOAST_MS);
}

/** toastError says why something failed. */
export const toastError = (e: unknown): void => toast(messageOf(e));

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((t) => t.id !== id);
}

/** openApprovals leads to the calls of the active terminal's thread that wait for a person. */
export function openApprovals(): void {
  searching.value = false;
  statusTab.value = "conversation";
  conversationSection.value = "approvals";
  statusOpen.value = true;
  requestAnimationFrame(() => document.getElementById("conversation-tab-approvals")?.focus());
}
