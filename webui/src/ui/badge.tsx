import { clean } from "./text";

/** Statuses of sessions and leases with a colour of their own; a newer server's others look like "unknown". */
const KNOWN = new Set(["active", "idle", "paused", "closed", "failed", "running", "dead", "unknown"]);

interface Props {
  status: string;
  /** The provider that has this status; narrow pages show only this beside the dot. */
  provider?: string;
}

/** StatusBadge is a status as a coloured dot with its word, which says the same without the colour. */
export function StatusBadge({ status, provider }: Props) {
  const kind = KNOWN.has(status) ? status : "unknown";
  if (provider === undefined) return <span class={`dot status-badge ${kind}`}>{clean(status)}</span>;
  return (
    <span class={`dot status-badge provider-badge ${kind}`}>
      {clean(provider)} <span class="observed">{clean(status)}</span>
    </span>
  );
}
