import { useEffect, useState } from "preact/hooks";
import { listShares, Refusal } from "../api/requests";
import type { Share } from "../api/wire";

/** How often the list is read while somebody looks at it, in milliseconds: viewers come and go. */
const PACE_MS = 3_000;

/** Links are those that there are, the newest first; null until they are read. */
export interface Links {
  readonly all: readonly Share[] | null;
  refresh(): void;
}

/** useLinks reads the links while its component is there. What cannot be read stays as it was. */
export function useLinks(): Links {
  const [all, setAll] = useState<Links["all"]>(null);
  const [asked, ask] = useState(0);
  useEffect(() => {
    let there = true;
    const read = async (): Promise<void> => {
      const got = await listShares();
      if (there && !(got instanceof Refusal)) setAll(got.shares.toReversed());
    };
    void read();
    const timer = setInterval(() => void read(), PACE_MS);
    return () => {
      there = false;
      clearInterval(timer);
    };
  }, [asked]);
  return { all, refresh: () => ask((n) => n + 1) };
}
