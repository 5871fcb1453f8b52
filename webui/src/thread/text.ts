import type { Session } from "../api/wire";
import { clean, joined } from "../ui/text";
import type { Notice } from "./thread";

const two = (n: number): string => String(n).padStart(2, "0");

/** countdown is a time that is left, in milliseconds, as m:ss or h:mm:ss. It never goes below 0:00. */
export function countdown(left: number): string {
  const seconds = Math.max(0, Math.ceil(left / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}:${two(seconds % 60)}`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}

/** roughly is a time that is left, in milliseconds, for screen readers: read once, not counted down. */
export function roughly(left: number): string {
  const seconds = Math.max(1, Math.round(left / 1000));
  if (seconds < 90) return seconds === 1 ? "1 second" : `${seconds} seconds`;
  return `about ${Math.round(seconds / 60)} minutes`;
}

const WHY_ENDED: Record<string, string> = {
  idle_timeout: "because nothing happened in it",
  max_duration: "because it reached its longest duration",
  budget: "because its budget is used up",
  destroyed: "because its sandbox was ended",
  superseded: "because another one took its place",
  provider: "because its provider failed",
};

/** endedText says that, why and with what consequence a session is over. */
export function endedText({ status, close_reason }: Pick<Session, "status" | "close_reason">): string {
  const reason = clean(close_reason);
  const why = WHY_ENDED[reason] ?? (reason === "" ? "" : `(${reason})`);
  const what = status === "failed" ? "This session failed" : "This session ended";
  return `${joined([what, why], " ")}. The next command starts a new one in the same directory.`;
}

/** canKeepAlive says whether activity moves the end that is announced: only of idleness. */
export const canKeepAlive = (notice: Notice): boolean => !notice.over && notice.reason !== "max_duration";

/** noticeText says what a notice is about; the time that is left follows, unless it is over. */
export function noticeText(notice: Notice): string {
  if (notice.over) return endedText({ status: "closed", close_reason: notice.reason });
  if (canKeepAlive(notice)) return "Without activity this session ends in";
  return "This session reaches its longest duration. It ends in";
}

/** envText counts what was changed in an environment. */
export function envText(changed: number, removed: number): string {
  return (
    joined([changed > 0 ? `${changed} changed` : "", removed > 0 ? `${removed} removed` : ""], ", ") || "unchanged"
  );
}
