import { useStore } from "../app";
import { IconButton } from "../ui/button";

/** LinkBar shows where a link really leads before it is opened: terminal output can give any text any address. */
export function LinkBar() {
  const { clickedLink, hoveredLink } = useStore();
  const clicked = clickedLink.value;
  if (clicked !== null) {
    return (
      <div class="card bar link-bar" role="status">
        <span class="cut">{clicked}</span>
        <a
          class="button primary"
          href={clicked}
          target="_blank"
          rel="noopener noreferrer"
          onClick={() => (clickedLink.value = null)}
        >
          Open
        </a>
        <IconButton icon="close" label="Dismiss link" onClick={() => (clickedLink.value = null)} />
      </div>
    );
  }
  if (hoveredLink.value === null) return null;
  return (
    <div class="card bar link-bar hover">
      <span class="cut">{hoveredLink.value}</span>
      <span class="hint">Ctrl+click to open</span>
    </div>
  );
}
