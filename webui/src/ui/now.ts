import { useEffect, useState } from "preact/hooks";

/** useNow is the time in milliseconds since the epoch, drawn anew every `tick` milliseconds while `running`. */
export function useNow(running: boolean, tick: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!running) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), tick);
    return () => clearInterval(timer);
  }, [running, tick]);
  return now;
}
