import type { Ledger as LedgerDocument, LedgerItem } from "../api/wire";
import { Fold, More, Tag, Words } from "../ui/fold";
import { Section } from "../ui/section";
import { clean, firstItems, joined } from "../ui/text";

/** Ledger shows the three lists of a conversation's ledger. */
export function Ledger({ ledger }: { ledger: LedgerDocument }) {
  if (Object.values(ledger).every((items) => !items.some(says))) return <p class="none">The ledger is empty.</p>;
  return (
    <>
      <Items id="assumptions" name="Assumptions" list={ledger.assumptions} />
      <Items id="anchors" name="Acceptance anchors" list={ledger.acceptance_anchors} />
      <Items id="boundaries" name="Decision boundaries" list={ledger.decision_boundaries} />
    </>
  );
}

/** says reports whether an item has a text: only then it is shown. */
const says = (item: LedgerItem): boolean => !!item.text;

function phases({ introduced_phase: since, updated_phase: changed }: LedgerItem): string {
  const known = since && since !== "unknown";
  return joined([known && `since ${since}`, changed && `changed in ${changed}`], ", ");
}

function Items({ id, name, list }: { id: string; name: string; list: readonly LedgerItem[] | undefined }) {
  const { items, left } = firstItems(list);
  if (!items.some(says)) return null;
  return (
    <Section id={`ledger-${id}`} title={name}>
      <ul class="plain">
        {items.filter(says).map((item, i) => (
          <li key={i} class="entry">
            <Fold text={item.text} />
            <header class="line">
              <Tag text={clean(item.status)} />
              <bdi class="hint">{clean(phases(item))}</bdi>
            </header>
            <Words name="Evidence" list={item.evidence} />
          </li>
        ))}
      </ul>
      <More left={left} />
    </Section>
  );
}
