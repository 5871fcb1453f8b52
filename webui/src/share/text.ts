import type { Share } from "../api/wire";
import { clean, counted, joined } from "../ui/text";

const UNITS = [
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
] as const;

/** period is a number of seconds in words, in its largest unit. */
export function period(seconds: number): string {
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [1, "second"];
  return counted(Math.max(0, Math.floor(seconds / size)), unit);
}

/** whatOf is what a link shows: the name of a terminal if the page knows it. */
export const whatOf = (share: Share, nameOfTerminal: (id: string) => string | null): string =>
  share.session === undefined
    ? (nameOfTerminal(share.pty ?? "") ?? clean(share.pty))
    : `session ${clean(share.session)}`;

/** factsOf says what a link lets do, for how long, how often, and how many watch. */
export function factsOf(share: Share, now: number): string {
  const left = (Date.parse(share.expires_at) - now) / 1000;
  const ends = share.closed ? "opens nothing more" : left > 0 ? `${period(left)} left` : "expired";
  const uses = share.uses_left !== null && !share.closed && `${counted(share.uses_left, "use")} left`;
  return joined(
    [share.role === "write" ? "may type" : "look only", ends, uses, counted(share.viewers, "viewer")],
    " · ",
  );
}
