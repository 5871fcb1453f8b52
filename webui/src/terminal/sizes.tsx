import { useStore } from "../app";
import { settings } from "../browser";
import { hasEnded } from "../list/model";
import { Icon } from "../ui/icons";
import { Popover } from "../ui/popover";
import { keepPredicting } from "./predictor";
import { keepMode, type SizeMode, sizeModes } from "./size";

const WORDS: Readonly<Record<SizeMode, { name: string; does: string }>> = {
  fit: { name: "Fit", does: "Asks for the size of this window, also for the others who watch." },
  pan: { name: "Pan", does: "Leaves the size alone. What does not fit here is scrolled." },
  scale: { name: "Scale", does: "Leaves the size alone. Smaller letters show all of it." },
};

/** Sizes says which size the terminal on display has, and lets the user choose what this page does about it. */
export function Sizes() {
  const { activeInfo, letterboxed, mayType, predicting, sizeMode, sizing } = useStore();
  const info = activeInfo.value;
  if (!info || info.cols === 0) return null;
  const other = sizing.value === "fit" && letterboxed.value && !hasEnded(info.state);
  const size = `${info.cols}×${info.rows}`;
  const why = other ? "Another viewer decides the size. Click into the terminal to ask for yours." : "Columns by rows";
  const face = (
    <>
      <Icon name="size" />
      <span class="size-text">{size}</span>
    </>
  );
  const predict = (): void => {
    predicting.value = !predicting.value;
    keepPredicting(settings, predicting.value);
  };
  const choose = (mode: SizeMode): void => {
    sizeMode.value = mode;
    keepMode(settings, mode);
  };
  return (
    <Popover
      id="sizes"
      label="Size"
      name={`Size: ${info.cols} columns, ${info.rows} rows`}
      title={why}
      class={other ? "size other" : "size"}
      face={face}
    >
      <fieldset class="sizes">
        <legend>A terminal of {size} in this window</legend>
        {sizeModes
          .filter((mode) => mode !== "fit" || mayType.value)
          .map((mode) => (
            <label key={mode} class="sizes-mode">
              <input
                type="radio"
                name="size-mode"
                value={mode}
                checked={mode === sizing.value}
                onChange={() => choose(mode)}
              />
              <span>
                {WORDS[mode].name} <span class="hint">{WORDS[mode].does}</span>
              </span>
            </label>
          ))}
      </fieldset>
      {other && <p class="hint">{why}</p>}
      {mayType.value && (
        <label class="sizes-mode">
          <input type="checkbox" checked={predicting.value} onChange={predict} />
          <span>
            Type ahead{" "}
            <span class="hint">On slow lines typed text is shown at once, underlined until it is confirmed.</span>
          </span>
        </label>
      )}
    </Popover>
  );
}
