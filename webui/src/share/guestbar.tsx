import { useStore } from "../app";
import { clean } from "../ui/text";

/** GuestBar says what a guest looks at and may do. It is always there, because its height changes the terminal's size. */
export function GuestBar() {
  const { guest, mayType, shared } = useStore();
  if (!guest) return null;
  const name = clean(shared.value?.name);
  const what = mayType.value ? "Shared with you: you may type" : "Shared with you: look only";
  return (
    <p class={mayType.value ? "guest-bar may-type" : "guest-bar"} role="note">
      {name !== "" && (
        <bdi class="cut" title={name}>
          {name}
        </bdi>
      )}
      <span>{shared.value === null ? "Shared with you" : what}</span>
    </p>
  );
}
