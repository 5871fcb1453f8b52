import type { IDisposable, Terminal } from "@xterm/xterm";
import type { InputMode } from "../api/wire.gen";
import { type Place, type Predicted, Predictor } from "./predictor";

/**
 * Prediction draws what a predictor says over the cursor's row of a terminal: an element of its own, never the
 * terminal's buffer. It goes with the terminal.
 */
export class Prediction implements IDisposable {
  private readonly layer = document.createElement("div");
  private readonly predictor: Predictor;
  private readonly parts: IDisposable[];
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** The terminal must be open. `rtt` is the round trip time in milliseconds, 0 where nothing is to be predicted. */
  constructor(
    private readonly term: Terminal,
    rtt: () => number,
  ) {
    this.predictor = new Predictor({ place: () => place(term), now: () => performance.now(), rtt });
    this.layer.className = "predicted";
    this.layer.hidden = true;
    this.layer.setAttribute("aria-hidden", "true"); // a screen reader reads what is there
    term.element?.querySelector(".xterm-screen")?.append(this.layer);
    const disturb = (): void => this.change((p) => p.disturb());
    term.textarea?.addEventListener("compositionstart", disturb);
    this.parts = [
      term.onWriteParsed(() => this.change((p) => p.output())),
      term.onResize(() => this.reset()),
      term.onRender(() => this.draw()),
      term.buffer.onBufferChange(() => this.reset()),
    ];
  }

  /** setMode notes what the server says of input. */
  setMode(mode: InputMode): void {
    this.change((p) => p.setMode(mode));
  }

  /** typed notes text of the keyboard that was sent. */
  typed(data: string): void {
    this.change((p) => p.typed(data));
  }

  /** disturb notes anything else that was sent. */
  disturb(): void {
    this.change((p) => p.disturb());
  }

  /** reset notes that the screen begins anew. */
  reset(): void {
    this.change((p) => p.reset());
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const p of this.parts) p.dispose();
    this.layer.remove();
  }

  private change(apply: (p: Predictor) => void): void {
    apply(this.predictor);
    this.draw();
    clearTimeout(this.timer);
    const due = this.predictor.due();
    if (due !== null) this.timer = setTimeout(() => this.change((p) => p.check()), due);
  }

  private draw(): void {
    const predicted = this.predictor.predicted();
    const { baseY, viewportY, cursorY } = this.term.buffer.active;
    this.layer.hidden = predicted === null || baseY !== viewportY;
    if (predicted === null || this.layer.hidden) return;
    const screen = this.layer.parentElement;
    const [width, height] = [(screen?.clientWidth ?? 0) / this.term.cols, (screen?.clientHeight ?? 0) / this.term.rows];
    const { fontFamily = "", fontSize = 0, theme } = this.term.options;
    Object.assign(this.layer.style, {
      left: `${predicted.column * width}px`,
      top: `${cursorY * height}px`,
      height: `${height}px`,
      font: `${fontSize}px/${height}px ${fontFamily}`,
      color: theme?.foreground,
    });
    this.layer.replaceChildren(...cells(predicted, width));
  }
}

/** cells are the elements of a prediction, of `width` pixels each, with the cursor among them. */
function cells({ column, text, cursor }: Predicted, width: number): HTMLElement[] {
  return Array.from(text, (character, i) => {
    const cell = document.createElement("span");
    cell.textContent = character;
    cell.style.width = `${width}px`;
    cell.classList.toggle("at-cursor", column + i === cursor);
    cell.classList.toggle("typed", column + i < cursor);
    return cell;
  });
}

function place({ buffer: { active }, cols }: Terminal): Place {
  const { cursorX, cursorY, baseY, type } = active;
  const line = active.getLine(baseY + cursorY);
  const cell = line?.getCell(cursorX);
  const plain = cell?.isFgDefault() === true && cell.isDim() === 0;
  return {
    x: cursorX,
    cols,
    alternate: type === "alternate",
    inText: plain && (cell?.getChars() ?? "").trim() !== "",
    text: (from, to) => line?.translateToString(false, from, to) ?? "",
  };
}
