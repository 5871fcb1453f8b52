import { clean } from "../list/label";
import type { Notice, SessionDoc } from "./thread";

/** What the page says about a thread, in words. */

const two = (n: number): string => String(n).padStart(2, "0");

/** countdown is a time that is left, in milliseconds, as m:ss or h:mm:ss. It never goes below 0:00. */
export function countdown(left: number): string {
  const seconds = Math.max(0, Math.ceil(left / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** roughly is a time that is left, in milliseconds, for somebody who listens: it is said once and not counted down. */
export function roughly(left: number): string {
  const seconds = Math.max(1, Math.round(left / 1000));
  if (seconds < 90) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  return `about ${Math.round(seconds / 60)} minutes`;
}

/** clockTime is an instant as a person here writes it, with the day when it is not `now`'s. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at);
  const today = date.toDateString() === new Date(now).toDateString();
  return today ? date.toLocaleTimeString() : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

const WHY_ENDED: Record<string, string> = {
  idle_timeout: "because nothing happened in it",
  max_duration: "because it had lasted as long as it may",
  budget: "because it had used what it may",
  destroyed: "because its sandbox was ended",
  superseded: "because another one took its place",
  provider: "because its provider failed",
};

/** endedText says that, why and with what consequence a session is over. */
export function endedText(session: Pick<SessionDoc, "status" | "closeReason">): string {
  const reason = clean(session.closeReason);
  const why = WHY_ENDED[reason] ?? (reason === "" ? "" : `(${reason})`);
  const what = session.status === "failed" ? "This session failed" : "This session ended";
  return `${[what, why].filter((s) => s !== "").join(" ")}. The next command starts a new one in the same directory.`;
}

/** canKeepAlive says whether activity moves the end that is announced: only of idleness. */
export function canKeepAlive(notice: Notice): boolean {
  return !notice.over && notice.reason !== "max_duration";
}

/** noticeText says what a notice is about; the time that is left follows, unless it is over. */
export function noticeText(notice: Notice): string {
  if (notice.over) return endedText({ status: "closed", closeReason: notice.reason });
  return canKeepAlive(notice) ? "Without activity this session ends in" : "This session may not last any longer. It ends in";
}

/** envText counts what was changed in an environment. */
export function envText(changed: number, removed: number): string {
  const parts = [changed > 0 ? `${changed} changed` : "", removed > 0 ? `${removed} removed` : ""].filter((s) => s !== "");
  return parts.join(", ") || "unchanged";
}
