import { describe, expect, it } from "vitest";
import { MAX_DELAY_MS, MIN_DELAY_MS, retryDelay } from "./backoff";

describe("retryDelay", () => {
  it("stays within its bounds for every attempt and draw", () => {
    for (let attempt = -1; attempt < 2000; attempt += 7) {
      for (const random of [0, 0.25, 0.5, 0.999999]) {
        const delay = retryDelay(attempt, random);
        expect(delay).toBeGreaterThanOrEqual(MIN_DELAY_MS);
        expect(delay).toBeLessThanOrEqual(MAX_DELAY_MS);
      }
    }
  });

  it("doubles until it reaches the longest delay", () => {
    expect([0, 1, 2, 3, 4, 5].map((n) => retryDelay(n, 0))).toEqual([500, 1000, 2000, 4000, 5000, 5000]);
  });

  it("spreads the pages of one server over half of the delay", () => {
    expect(retryDelay(0, 0.999)).toBeGreaterThan(retryDelay(0, 0) + MIN_DELAY_MS * 0.9);
    expect(retryDelay(9, 0.999)).toBeGreaterThan(retryDelay(9, 0) + MAX_DELAY_MS * 0.4);
  });
});
