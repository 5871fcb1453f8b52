import type { ComponentChildren } from "preact";

/** Fact is one line of a .status-grid. */
export function Fact({ name, code, children }: { name: string; code?: boolean; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={code ? "code" : undefined}>{children === "" ? "–" : <bdi>{children}</bdi>}</dd>
    </>
  );
}

/** clockTime is an instant as a person here writes it, with the day when it is not `now`'s. */
function clockTime(at: number, now: number): string {
  const date = new Date(at);
  const today = date.toDateString() === new Date(now).toDateString();
  return today
    ? date.toLocaleTimeString()
    : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** Time is an instant in milliseconds since the epoch, 0 for none, in the reader's own time zone. */
export function Time({ at, now = Date.now() }: { at: number; now?: number }) {
  if (at === 0) return <>–</>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {clockTime(at, now)}
    </time>
  );
}
