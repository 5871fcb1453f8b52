import { useState } from "preact/hooks";
import type { MadeShare } from "../api/wire";
import { useStore } from "../app";
import { writeClipboard } from "../browser";
import { Button } from "../ui/button";

/** MadeLink shows a new link, once: the server does not keep its secret. */
export function MadeLink({ made }: { made: MadeShare }) {
  const { toast } = useStore();
  const [copied, setCopied] = useState(false);
  const link = made.network_url ?? made.url;
  const copy = async (): Promise<void> => {
    const done = await writeClipboard(link);
    setCopied(done);
    if (!done) toast("Not copied: the browser does not let this page write to the clipboard. Select the link.");
  };
  const here = ["localhost", "127.0.0.1", "[::1]"].includes(new URL(link, location.href).hostname);
  return (
    <section class="made-link" aria-label="New link" aria-live="polite">
      <img class="qr" src={`data:image/svg+xml,${encodeURIComponent(made.qr_svg)}`} alt="QR code of the link" />
      <div class="made-text">
        <input
          type="text"
          class="link-field"
          aria-label="Link"
          readOnly
          value={link}
          onFocus={(e) => e.currentTarget.select()}
        />
        <Button text={copied ? "Copied" : "Copy link"} onClick={() => void copy()} />
        <p class="hint">
          {here ? "Only browsers on this machine reach this address. " : ""}
          The link is shown here only now.
        </p>
      </div>
    </section>
  );
}
