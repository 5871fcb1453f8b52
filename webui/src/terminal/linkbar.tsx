import { Icon } from "../ui/icons";
import { clickedLink, hoveredLink } from "../store";

/** LinkBar shows where a link really leads before it is opened: terminal output can give any text any address. */
export function LinkBar() {
  const clicked = clickedLink.value;
  if (clicked !== null) {
    return (
      <div class="link-bar" role="status">
        <span class="link-address">{clicked}</span>
        <a class="button primary" href={clicked} target="_blank" rel="noopener noreferrer" onClick={() => (clickedLink.value = null)}>
          Open
        </a>
        <button type="button" class="icon-button" aria-label="Dismiss link" onClick={() => (clickedLink.value = null)}>
          <Icon name="close" />
        </button>
      </div>
    );
  }
  if (hoveredLink.value === null) return null;
  return (
    <div class="link-bar hint">
      <span class="link-address">{hoveredLink.value}</span>
      <span class="link-how">Ctrl+click to open</span>
    </div>
  );
}
