import { useEffect, useState } from "preact/hooks";

/** useNow returns the time in milliseconds since the epoch, again every `tick` milliseconds while `running`. */
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
