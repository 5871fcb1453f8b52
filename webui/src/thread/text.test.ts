import { describe, expect, it } from "vitest";
import { canKeepAlive, countdown, endedText, envText, noticeText, roughly } from "./text";

describe("countdown", () => {
  it("is m:ss, with hours when there are some, and never negative", () => {
    expect([-5000, 0, 1, 1000, 59_001, 60_000, 754_000, 3_599_000].map(countdown)).toEqual([
      "0:00",
      "0:00",
      "0:01",
      "0:01",
      "1:00",
      "1:00",
      "12:34",
      "59:59",
    ]);
    expect([3_600_000, 86_399_000].map(countdown)).toEqual(["1:00:00", "23:59:59"]);
  });
});

describe("roughly", () => {
  it("is a few words", () => {
    expect([-1, 1000, 42_400, 120_000].map(roughly)).toEqual(["1 second", "1 second", "42 seconds", "about 2 minutes"]);
  });
});

describe("endedText", () => {
  it("says why and what comes next, also for reasons of a newer server", () => {
    expect(endedText({ status: "closed", close_reason: "idle_timeout" })).toBe(
      "This session ended because nothing happened in it. The next command starts a new one in the same directory.",
    );
    expect(endedText({ status: "failed", close_reason: "" })).toMatch(/^This session failed\. /);
    expect(endedText({ status: "closed", close_reason: "solar\u202eflare" })).toMatch(
      /^This session ended \(solar flare\)\. /,
    );
  });
});

describe("a notice", () => {
  const notice = { session: "s", at: 0, over: false, dismissed: false };
  it("offers to keep alive only what activity can keep alive", () => {
    expect(canKeepAlive({ ...notice, reason: "idle_timeout" })).toBe(true);
    expect(canKeepAlive({ ...notice, reason: "max_duration" })).toBe(false);
    expect(canKeepAlive({ ...notice, reason: "idle_timeout", over: true })).toBe(false);
  });
  it("that it is over is the same text as in the details", () => {
    expect(noticeText({ ...notice, reason: "budget", over: true })).toBe(
      endedText({ status: "closed", close_reason: "budget" }),
    );
  });
});

describe("envText", () => {
  it("counts", () => {
    expect([envText(0, 0), envText(2, 0), envText(0, 1), envText(2, 1)]).toEqual([
      "unchanged",
      "2 changed",
      "1 removed",
      "2 changed, 1 removed",
    ]);
  });
});
