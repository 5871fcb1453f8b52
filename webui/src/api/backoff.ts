/** Shortest wait before a new attempt, in milliseconds: a restarted server is back within it. */
export const MIN_DELAY_MS = 500;
/** Longest wait between two attempts, in milliseconds: a person looking at the page never waits longer. */
export const MAX_DELAY_MS = 10_000;

/**
 * retryDelay returns the wait in milliseconds before attempt number `attempt` (from 0), always within
 * MIN_DELAY_MS..MAX_DELAY_MS. The ceiling doubles with each attempt and the wait is drawn from its upper
 * half, so that the pages of one server do not come back in the same instant. `random` is in [0, 1).
 */
export function retryDelay(attempt: number, random: number): number {
  const doublings = Math.min(Math.max(attempt, 0), 16);
  const ceiling = Math.min(MAX_DELAY_MS, 2 * MIN_DELAY_MS * 2 ** doublings);
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}

/** Backoff counts the failed attempts at one thing. */
export class Backoff {
  /** Failed attempts since the last success. */
  attempts = 0;

  constructor(private readonly random: () => number) {}

  /** next counts a failure and returns the wait before the next attempt, in milliseconds. */
  next(): number {
    return retryDelay(this.attempts++, this.random());
  }

  reset(): void {
    this.attempts = 0;
  }
}
