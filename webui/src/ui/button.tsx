import type { ComponentProps } from "preact";
import { Icon } from "./icons";

type Props = ComponentProps<"button">;

/** Button is a button with a word; it never submits a form. */
export function Button({ text, ...rest }: Props & { text: string }) {
  return (
    <button type="button" {...rest}>
      {text}
    </button>
  );
}

interface IconProps extends Props {
  icon: Parameters<typeof Icon>[0]["name"];
  label: string;
  class?: string;
}

/** IconButton is a button without a word; `label` is what it is called, and its title unless it has another. */
export function IconButton({ icon, label, class: more = "", ...rest }: IconProps) {
  return (
    <button type="button" class={`icon-button ${more}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}
