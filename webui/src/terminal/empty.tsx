import { useStore } from "../app";
import type { Model } from "../list/model";
import { Button } from "../ui/button";

function explanation(id: string | null, { items, listed, refused }: Model, guest: boolean): string | null {
  if (id !== null) return refused.has(id) ? "There is no such terminal." : null;
  if (!listed) return null;
  if (guest) return items.length === 0 ? "Nothing is shared here now." : null;
  return items.length === 0 ? "No terminal is running." : "Choose a terminal, or start a new one.";
}

/** Empty is the main area while no terminal is chosen, or one that does not exist. */
export function Empty() {
  const { activeId, creating, drawerOpen, guest, model } = useStore();
  const text = explanation(activeId.value, model.value, guest);
  if (text === null) return null;
  return (
    <div class="empty">
      <p>{text}</p>
      <div class="empty-actions">
        {model.value.items.length > 0 && (
          <Button text="Show terminals" class="only-narrow" onClick={() => (drawerOpen.value = true)} />
        )}
        {!guest && <Button text="New terminal" class="primary" onClick={() => (creating.value = true)} />}
      </div>
    </div>
  );
}
