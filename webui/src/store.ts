import { computed, signal } from "@preact/signals";
import type { Shared, Terminal } from "./api/wire";
import { settings } from "./browser";
import type { Section } from "./conversation/state";
import { emptyModel } from "./list/model";
import { routeOf } from "./list/route";
import { isGuest } from "./share/guest";
import { released } from "./terminal/keys";
import { keptPredicting } from "./terminal/predictor";
import { allowed, keptMode } from "./terminal/size";
import { messageOf } from "./ui/text";

interface Toast {
  id: number;
  text: string;
  /** A button beside the text. */
  action: { label: string; run(): void } | undefined;
}

/** How long a toast stays, in milliseconds: long enough to read two lines. */
const TOAST_MS = 6_000;
/** Toasts shown at once; a program may notify in a loop. */
const MAX_TOASTS = 4;

/** Store is the state that the components draw. Only App and the components' own handlers change it. */
export class Store {
  readonly model = signal(emptyModel);
  /** A link has opened this page, for a guest. */
  readonly guest = isGuest();
  /** What that link shows; null until the server has said it, and always on the owner's page. */
  readonly shared = signal<Shared | null>(null);
  /** Whether the server takes what is typed here. */
  readonly mayType = computed(() => !this.guest || this.shared.value?.role === "write");
  /** Whether there are others to choose from: all but a guest of one terminal has a list. */
  readonly hasList = computed(() => !this.guest || this.shared.value?.session !== undefined);
  /** What the user has chosen for terminals of another size than the window, and what the page does. */
  readonly sizeMode = signal(keptMode(settings));
  readonly sizing = computed(() => allowed(this.sizeMode.value, this.mayType.value));
  /** On slow lines typed text is shown before the program does. */
  readonly predicting = signal(keptPredicting(settings));
  /** The terminal in the main area, named by the location's hash. */
  readonly activeId = signal(routeOf(location.hash));
  readonly activeInfo = computed(() => this.model.value.items.find((i) => i.id === this.activeId.value));
  /** The terminal has not the size that would fill the area. */
  readonly letterboxed = signal(false);
  /** The active terminal has shown a screen: then an overlay may dim it instead of hiding an empty page. */
  readonly drawn = signal(false);
  /** Something is selected in the active terminal. */
  readonly selected = signal(false);
  /** The terminal for which a field to paste into is open: the browser does not let the page read its clipboard. */
  readonly pasting = signal<string | null>(null);
  readonly sticky = signal(released);
  readonly searching = signal(false);
  /** The card of the header that is open. */
  readonly popover = signal<string | null>(null);
  readonly drawerOpen = signal(false);
  readonly statusOpen = signal(false);
  /** What the open status shows, and which part of the conversation. */
  readonly statusTab = signal<"status" | "conversation">("status");
  readonly conversationSection = signal<Section>("messages");
  /** False while the page is in a background tab or minimised. */
  readonly visible = signal(!document.hidden);
  /** The login ends with this tab, because the browser keeps nothing for the page. */
  readonly tabOnly = signal(false);
  readonly creating = signal(false);
  /** The terminal for which links are made. */
  readonly sharing = signal<Terminal | null>(null);
  /** The terminal whose closing waits for a yes. */
  readonly closing = signal<Terminal | null>(null);
  /** The address under the pointer, and the one that was clicked and waits to be opened. */
  readonly hoveredLink = signal<string | null>(null);
  readonly clickedLink = signal<string | null>(null);
  readonly toasts = signal<readonly Toast[]>([]);
  private nextToast = 1;

  /** toast shows one line for a while; the oldest gives way, and so does one that says the same. */
  readonly toast = (text: string, action?: Toast["action"]): void => {
    const id = this.nextToast++;
    const others = this.toasts.value.filter((t) => t.text !== text);
    this.toasts.value = [...others, { id, text, action }].slice(-MAX_TOASTS);
    setTimeout(() => this.dismiss(id), TOAST_MS);
  };

  /** toastError says why something failed. */
  readonly toastError = (e: unknown): void => this.toast(messageOf(e));

  readonly dismiss = (id: number): void => {
    this.toasts.value = this.toasts.value.filter((t) => t.id !== id);
  };

  /** openApprovals leads to the calls of the active terminal's thread that wait for a person. */
  readonly openApprovals = (): void => {
    this.searching.value = false;
    this.statusTab.value = "conversation";
    this.conversationSection.value = "approvals";
    this.statusOpen.value = true;
    requestAnimationFrame(() => document.getElementById("conversation-tab-approvals")?.focus());
  };
}
