import { Fold, More, Words } from "../ui/fold";
import { clean } from "../list/label";
import type { Ledger, LedgerItem, List } from "./documents";

/** RecordLedger is what is held true, in three lists. */
export function RecordLedger({ ledger }: { ledger: Ledger }) {
  const { assumptions, anchors, boundaries } = ledger;
  if (assumptions.items.length + anchors.items.length + boundaries.items.length === 0) return <p class="record-empty">The ledger is empty.</p>;
  return (
    <>
      <Items id="assumptions" name="Assumptions" list={assumptions} />
      <Items id="anchors" name="Acceptance anchors" list={anchors} />
      <Items id="boundaries" name="Decision boundaries" list={boundaries} />
    </>
  );
}

function phases(i: LedgerItem): string {
  const from = i.introduced === "" || i.introduced === "unknown" ? "" : `since ${i.introduced}`;
  const to = i.updated === "" ? "" : `changed in ${i.updated}`;
  return [from, to].filter((s) => s !== "").join(", ");
}

function Items({ id, name, list }: { id: string; name: string; list: List<LedgerItem> }) {
  if (list.items.length === 0) return null;
  return (
    <section class="status-section" aria-labelledby={`record-${id}`}>
      <header>
        <h2 id={`record-${id}`}>{name}</h2>
      </header>
      <ul class="decisions">
        {list.items.map((item, i) => (
          <li key={i} class="decision">
            <Fold text={item.text} />
            <header>
              <span class="tag">
                <bdi>{clean(item.status)}</bdi>
              </span>
              <bdi class="status-hint">{clean(phases(item))}</bdi>
            </header>
            <Words name="Evidence" list={item.evidence} />
          </li>
        ))}
      </ul>
      <More list={list} />
    </section>
  );
}
