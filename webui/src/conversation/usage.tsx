import type { Usage as UsageDocument } from "../api/wire";
import { Fact } from "../ui/fact";
import { Section } from "../ui/section";

const NAMES: ReadonlyArray<readonly [name: string, key: keyof UsageDocument]> = [
  ["Turns", "turns"],
  ["Iterations", "iterations"],
  ["Tool calls", "tool_calls"],
  ["Input tokens", "input_tokens"],
  ["Output tokens", "output_tokens"],
  ["Cache written", "cache_creation_tokens"],
  ["Cache read", "cache_read_tokens"],
];

/** Usage shows the sums of all turns. */
export function Usage({ usage }: { usage: UsageDocument }) {
  return (
    <Section id="usage" title="All turns">
      <dl class="status-grid usage">
        {NAMES.map(([name, key]) => (
          <Fact key={key} name={name} value={usage[key].toLocaleString()} />
        ))}
      </dl>
    </Section>
  );
}
