import { useEffect, useRef, useState } from "preact/hooks";

/** Spoken says a change to those who listen, but not how things were when the page opened. */
export function Spoken({ text }: { text: string }) {
  const first = useRef(text);
  const [said, say] = useState("");
  useEffect(() => {
    if (text === first.current) return;
    first.current = "";
    say(text);
  }, [text]);
  return (
    <span class="spoken" role="status" aria-live="polite">
      {said}
    </span>
  );
}
