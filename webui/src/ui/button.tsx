import { Icon } from "./icons";

interface Props {
  icon: Parameters<typeof Icon>[0]["name"];
  label: string;
  title?: string;
  class?: string;
  onClick(): void;
}

/** IconButton is a button without a word; `label` is what it is called. */
export function IconButton({ icon, label, title, class: more, onClick }: Props) {
  const kind = more === undefined ? "icon-button" : `icon-button ${more}`;
  return (
    <button type="button" class={kind} aria-label={label} title={title ?? label} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}
