import { record } from "./page";
import { counted } from "./recordtext";
import { Spoken } from "./spoken";
import { recordSection, searching, statusOpen, statusTab } from "./store";

/** ApprovalBadge says how many calls wait for a person, and leads to them. */
export function ApprovalBadge() {
  const n = record.pending.value.length;
  const said = n === 0 ? "" : `${counted(n, "call waits", "calls wait")} for your approval`;
  const open = (): void => {
    searching.value = false;
    statusTab.value = "record";
    recordSection.value = "approvals";
    statusOpen.value = true;
    requestAnimationFrame(() => document.getElementById("record-tab-approvals")?.focus()); // the badge may go
  };
  return (
    <>
      {n > 0 && (
        <button type="button" class="approval-badge" aria-label={said} title={said} onClick={open}>
          {n} <span class="approval-badge-word">to approve</span>
        </button>
      )}
      <Spoken text={said} />
    </>
  );
}
