import { useState } from "preact/hooks";
import { messageOf } from "./text";

/** useAction runs what the user asks for, once at a time, and keeps the reason when the server refuses. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const run = async (act: () => Promise<unknown>): Promise<void> => {
    if (busy) return;
    setBusy(true);
    setError("");
    await act().catch((e: unknown) => setError(messageOf(e)));
    setBusy(false);
  };
  return { busy, error, run };
}

/** Failure says why something did not happen; "" is nothing. */
export function Failure({ text }: { text: string }) {
  return text === "" ? null : (
    <p class="form-error" role="alert">
      {text}
    </p>
  );
}
