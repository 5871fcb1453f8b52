import type { InputMode } from "../api/wire.gen";
import type { Settings } from "../browser";

/** Lines with a shorter round trip than this, in milliseconds, need no prediction: nobody sees the delay. */
export const LEAST_RTT = 40;
/** How long nothing has come when a burst begins, in milliseconds: a changed input mode is told 20 ms behind output. */
const CALM_MS = 60;
/** How long a screen that contradicts a prediction must last, in milliseconds: programs repaint a line in pieces. */
const LASTS_MS = 30;
/** A prediction that was not confirmed in so many round trips, and at least LEAST_WAIT ms, was wrong. */
const ROUND_TRIPS = 3;
const LEAST_WAIT = 150;
/** In how many round trips a key has surely been answered: of two with the same text it is the second one then. */
const SURELY = 1.5;
/** Prompts that are remembered, and keys that wait for their echo. */
const MAX_KNOWN = 8;
const MAX_PENDING = 256;

/** Where the browser keeps that nothing is to be predicted: "off". */
const KEY = "evertty-predict";

/** keptPredicting is what the user has chosen in this browser. */
export const keptPredicting = (settings: Pick<Settings, "get">): boolean => settings.get(KEY) !== "off";

export function keepPredicting(settings: Pick<Settings, "set">, on: boolean): void {
  settings.set(KEY, on ? "on" : "off");
}

/** Place is what stands around the cursor of the terminal. */
export interface Place {
  /** Column of the cursor from 0. */
  x: number;
  cols: number;
  alternate: boolean;
  /** The cell under the cursor has text that is neither dim nor coloured: the rest of a line, and no suggestion. */
  inText: boolean;
  /** text is what stands in columns [from, to) of the cursor's row. */
  text(from: number, to: number): string;
}

/** Predicted is what to draw over the cursor's row. */
export interface Predicted {
  /** First column. */
  column: number;
  /** Its characters, of one cell each; blanks where text was removed, and where the terminal has its cursor. */
  text: string;
  /** Column of the cursor behind all that was typed. */
  cursor: number;
}

export interface PredictorDeps {
  place(): Place;
  /** now is a clock in milliseconds. */
  now(): number;
  /** rtt is the round trip time of the line in milliseconds, 0 while it is unknown. */
  rtt(): number;
}

/** Burst is text that is typed without a pause for anything else. */
interface Burst {
  /** Column where it begins, and what stands left of it. */
  readonly start: number;
  readonly prompt: string;
  /** What the terminal has shown of it. */
  shown: string;
  /** What stands there behind each key that was not confirmed yet. */
  pending: { text: string; at: number }[];
  /** Something else was typed behind it: it grows no more, and what is pending is shown until it has come. */
  closed: boolean;
}

/**
 * Predictor says what a terminal on a slow line will show of typed text, before it does. It guesses only where the
 * server says that typed text is shown at all (InputMode), and what it guesses is shown only where the program has
 * shown typed text before: behind the same prompt, or in the text that is being typed. See ADR 119.
 */
export class Predictor {
  private mode: InputMode | undefined;
  private burst: Burst | null = null;
  /** Predictions are shown. */
  private confident = false;
  /** Prompts, with their input mode, behind which a prediction was right. */
  private known: string[] = [];
  /** When the last key was sent that cannot be predicted, whether output came since, and whether it was Enter. */
  private unknown = { at: Number.NEGATIVE_INFINITY, output: true, enter: true };
  private lastOutput = Number.NEGATIVE_INFINITY;
  /** Since when the screen contradicts the predictions; null while it does not. */
  private wrongSince: number | null = null;

  constructor(private readonly deps: PredictorDeps) {}

  /** setMode notes what the server says of input. */
  setMode(mode: InputMode): void {
    if (this.mode && modeName(this.mode) !== modeName(mode)) this.reset();
    this.mode = mode;
  }

  /** typed notes text that was sent to the program. */
  typed(data: string): void {
    if (!this.predict(data)) this.disturb(data.endsWith("\r") || data.endsWith("\n"));
  }

  /** disturb notes input of another kind: nothing more is predicted until its effect has come. */
  disturb(enter = false): void {
    if (this.burst !== null) this.burst.closed = true;
    this.unknown = { at: this.deps.now(), output: false, enter };
  }

  /** reset is called when the screen begins anew: nothing that is predicted holds. */
  reset(): void {
    const typing = this.burst !== null && this.burst.pending.length > 0;
    this.end();
    if (typing) this.disturb();
  }

  /** output is called when the terminal has taken output. */
  output(): void {
    this.lastOutput = this.deps.now();
    this.unknown.output = true;
    this.check();
  }

  /** check compares the predictions with the terminal. Call it behind output, and when `due` says so. */
  check(): void {
    const { burst } = this;
    if (burst === null) return;
    const { alternate, x, text } = this.deps.place();
    const now = this.deps.now();
    const answered =
      alternate || x < burst.start || text(0, burst.start) !== burst.prompt ? null : text(burst.start, x);
    const confirmed = answered === null ? -1 : this.confirmedBy(burst, answered, now);
    if (confirmed >= 0) this.confirm(burst, confirmed);
    else if (answered !== burst.shown) {
      this.wrongSince ??= now;
      if (burst.pending.length === 0) this.end();
      else if (now - this.wrongSince >= LASTS_MS) this.fail(burst);
      return;
    }
    this.wrongSince = null;
    const oldest = burst.pending[0];
    if (oldest && now - oldest.at >= this.patience()) this.fail(burst);
    else if (!oldest && burst.closed) this.end();
  }

  /** due is how long until check is to be called again, in milliseconds; null while nothing is predicted. */
  due(): number | null {
    const oldest = this.burst?.pending[0];
    if (!oldest) return null;
    if (this.wrongSince !== null) return LASTS_MS;
    return Math.max(oldest.at + this.patience() - this.deps.now(), 0);
  }

  /** predicted is what is to be drawn now; null for nothing. */
  predicted(): Predicted | null {
    const { burst } = this;
    const target = burst?.pending.at(-1)?.text;
    if (burst === null || target === undefined || !this.confident || this.wrongSince !== null) return null;
    let same = 0;
    while (same < target.length && target[same] === burst.shown[same]) same++;
    const cells = Math.max(burst.shown.length, target.length) + 1; // the terminal's own cursor is covered too
    return {
      column: burst.start + same,
      text: target.padEnd(cells).slice(same),
      cursor: burst.start + target.length,
    };
  }

  /** predict adds a key to the predictions, or says that it cannot. */
  private predict(data: string): boolean {
    if (!this.may()) return false;
    const place = this.deps.place();
    if (place.alternate) return false;
    const burst = this.current(place) ?? this.begin(place);
    if (burst === null || burst.pending.length >= MAX_PENDING) return false;
    const before = burst.pending.at(-1)?.text ?? burst.shown;
    const text = after(before, data);
    if (text === null || burst.start + text.length >= place.cols - 1) return false;
    burst.pending.push({ text, at: this.deps.now() });
    if (burst !== this.burst) this.follow(burst);
    return true;
  }

  /** may reports whether typed text is shown, on a slow line, and everything typed before has had its effect. */
  private may(): boolean {
    const [rtt, now] = [this.deps.rtt(), this.deps.now()];
    if (rtt <= LEAST_RTT || !this.mode || !(this.mode.echo || this.mode.editing)) return false;
    if (this.burst?.closed === false) return true;
    const { at, output } = this.unknown;
    if (now - at < rtt + CALM_MS || now - this.lastOutput < CALM_MS) return false;
    return output || now - at >= ROUND_TRIPS * rtt;
  }

  /** current is the burst that goes on; null when the terminal has gone on without it. */
  private current({ x, text }: Place): Burst | null {
    const { burst } = this;
    if (burst === null || burst.closed) return null;
    if (burst.pending.length > 0) return burst;
    const { start, prompt, shown } = burst;
    return x === start + shown.length && text(0, x) === prompt + shown ? burst : null;
  }

  private begin({ x, text, inText }: Place): Burst | null {
    if (inText) return null;
    return { start: x, prompt: text(0, x), shown: "", pending: [], closed: false };
  }

  /** follow goes over to a new burst. */
  private follow(burst: Burst): void {
    const { enter, output } = this.unknown;
    this.end();
    this.burst = burst;
    this.confident = enter && output && this.known.includes(this.nameOf(burst));
    this.unknown.enter = false;
  }

  /** confirmedBy is the number of the pending key that the terminal has just answered; -1 for none. */
  private confirmedBy({ pending, shown }: Burst, answered: string, now: number): number {
    const surely = SURELY * this.deps.rtt();
    const last = pending.findLastIndex(({ text, at }) => text === answered && now - at >= surely);
    return last >= 0 || answered === shown ? last : pending.findIndex(({ text }) => text === answered);
  }

  private confirm(burst: Burst, index: number): void {
    const [text, before] = [burst.pending[index]?.text ?? "", burst.shown];
    burst.shown = text;
    burst.pending = burst.pending.slice(index + 1);
    if (text === before || text.endsWith("*")) return; // as if nothing of it were shown, or a star for each character
    this.confident = true;
    if (burst.prompt.trim() === "") return; // anything may begin so
    const name = this.nameOf(burst);
    this.known = [name, ...this.known.filter((k) => k !== name)].slice(0, MAX_KNOWN);
  }

  /** fail gives up predictions that do not come. Behind other keys that is no wonder. */
  private fail(burst: Burst): void {
    if (!burst.closed) {
      if (this.confident) this.known = this.known.filter((k) => k !== this.nameOf(burst));
      this.disturb();
    }
    this.end();
  }

  private end(): void {
    this.burst = null;
    this.confident = false;
    this.wrongSince = null;
  }

  private nameOf({ prompt }: Burst): string {
    return (this.mode ? modeName(this.mode) : "") + prompt;
  }

  private patience(): number {
    return Math.max(ROUND_TRIPS * this.deps.rtt(), LEAST_WAIT);
  }
}

const modeName = ({ echo, canonical, editing }: InputMode): string =>
  [echo, canonical, editing].map((on) => (on ? "1" : "0")).join("");

/** after is a text behind a key: a printable ASCII character or Backspace; null for any other. */
function after(text: string, key: string): string | null {
  if (/^[ -~]$/.test(key)) return text + key;
  return (key === "\x7f" || key === "\b") && text !== "" ? text.slice(0, -1) : null;
}
