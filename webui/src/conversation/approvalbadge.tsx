import { useApp, useStore } from "../app";
import { Spoken } from "../ui/spoken";
import { counted } from "../ui/text";

/** ApprovalBadge says how many calls wait for a person, and leads to them. */
export function ApprovalBadge() {
  const { openApprovals } = useStore();
  const { conversation } = useApp();
  const n = conversation.pending.value.length;
  const said = n === 0 ? "" : `${counted(n, "call waits", "calls wait")} for your approval`;
  return (
    <>
      {n > 0 && (
        <button type="button" class="approval-badge" aria-label={said} title={said} onClick={openApprovals}>
          {n} <span class="approval-badge-word">to approve</span>
        </button>
      )}
      <Spoken text={said} />
    </>
  );
}
