import { deleteShare } from "../api/requests";
import type { Share } from "../api/wire";
import { useStore } from "../app";
import { nameOf } from "../list/label";
import { Failure, useAction } from "../ui/action";
import { Button } from "../ui/button";
import { clean } from "../ui/text";
import type { Links } from "./links";
import { factsOf, whatOf } from "./text";

function Row({ share, revoke }: { share: Share; revoke(): void }) {
  const { model } = useStore();
  const terminal = (id: string): string | null => {
    const info = model.value.items.find((i) => i.id === id);
    return info ? nameOf(info) : null;
  };
  const what = whatOf(share, terminal);
  const name = clean(share.name);
  return (
    <li class="link-row">
      <span class="link-text">
        <bdi class="cut">{name === "" ? what : `${name} (${what})`}</bdi>
        <span class="cut hint">{factsOf(share, Date.now())}</span>
      </span>
      <Button text="Revoke" class="small" aria-label={`Revoke ${name || what}`} onClick={revoke} />
    </li>
  );
}

/** LinkList is the links that there are. A revoked one ends its viewers at once. */
export function LinkList({ links }: { links: Links }) {
  const { error, run } = useAction();
  const revoke = (id: string): Promise<void> => run(() => deleteShare(id).then(links.refresh));
  if (links.all === null || links.all.length === 0) return null;
  return (
    <section class="links" aria-label="Links">
      <h3>Links</h3>
      <Failure text={error} />
      <ul class="plain">
        {links.all.map((share) => (
          <Row key={share.id} share={share} revoke={() => void revoke(share.id)} />
        ))}
      </ul>
    </section>
  );
}
