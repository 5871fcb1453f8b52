import type { ComponentChildren } from "preact";
import { clockTime } from "../thread/text";

/** Fact is one line of a .status-grid. */
export function Fact({ name, code, children }: { name: string; code?: boolean; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={code ? "code" : undefined}>{children === "" ? "–" : <bdi>{children}</bdi>}</dd>
    </>
  );
}

/** Time is an instant in milliseconds since the epoch, 0 for none, in the reader's own time zone. */
export function Time({ at, now }: { at: number; now: number }) {
  if (at === 0) return <>–</>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {clockTime(at, now)}
    </time>
  );
}
