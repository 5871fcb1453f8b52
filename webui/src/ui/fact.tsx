import type { ComponentChildren } from "preact";
import { time } from "../api/wire";

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

/** Time shows an instant of the server in the reader's own time zone. */
export function Time({ at: instant, now = Date.now() }: { at: string | null | undefined; now?: number }) {
  const at = time(instant);
  if (at === 0) return <>–</>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {clockTime(at, now)}
    </time>
  );
}
