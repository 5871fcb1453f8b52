import type { Usage } from "./documents";
import { Fact } from "../ui/fact";

/** RecordUsage is what all turns of the record have used. */
export function RecordUsage({ usage: u }: { usage: Usage }) {
  const rows: ReadonlyArray<readonly [name: string, n: number]> = [
    ["Turns", u.turns],
    ["Iterations", u.iterations],
    ["Tool calls", u.toolCalls],
    ["Input tokens", u.input],
    ["Output tokens", u.output],
    ["Cache written", u.cacheCreated],
    ["Cache read", u.cacheRead],
  ];
  return (
    <section class="status-section" aria-labelledby="record-usage">
      <header>
        <h2 id="record-usage">All turns</h2>
      </header>
      <dl class="status-grid usage">
        {rows.map(([name, n]) => (
          <Fact key={name} name={name}>
            {n.toLocaleString()}
          </Fact>
        ))}
      </dl>
    </section>
  );
}
