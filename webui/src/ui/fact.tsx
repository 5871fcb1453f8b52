import type { ComponentChildren } from "preact";
import { time } from "../api/wire";

/** Fact is one line of a .status-grid. */
export function Fact({ name, value, code }: { name: string; value: ComponentChildren; code?: boolean }) {
  return (
    <>
      <dt>{name}</dt>
      <dd class={code ? "code" : undefined}>{value === "" ? "–" : <bdi>{value}</bdi>}</dd>
    </>
  );
}

/** Time shows an instant of the server in the reader's own time zone, with the day when it is not `now`'s. */
export function Time({ at: instant, now = Date.now() }: { at: string | null | undefined; now?: number }) {
  const at = time(instant);
  if (at === 0) return <>–</>;
  const date = new Date(at);
  const today = date.toDateString() === new Date(now).toDateString();
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {today ? date.toLocaleTimeString() : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}
    </time>
  );
}
