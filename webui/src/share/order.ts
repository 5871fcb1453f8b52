import type { Terminal } from "../api/wire";
import type { ShareRequest } from "../api/wire.gen";

/** How long a link may last, in seconds and in words. */
export const EXPIRIES = [
  [600, "10 minutes"],
  [3_600, "1 hour"],
  [28_800, "8 hours"],
  [86_400, "1 day"],
  [604_800, "7 days"],
  [2_592_000, "30 days"],
] as const;

/** orderOf asks for the link that a form describes: of a terminal, or of its session. */
export function orderOf(form: FormData, info: Terminal): ShareRequest {
  const text = (field: string): string => String(form.get(field) ?? "").trim();
  return {
    ...(text("what") === "session" ? { session: info.session } : { pty: info.id }),
    role: text("role") === "write" ? "write" : "read",
    ttl_s: Number(text("ttl")),
    uses: Number(text("uses")), // an empty field is no limit
    name: text("name"),
  };
}
