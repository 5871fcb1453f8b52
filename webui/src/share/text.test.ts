import { expect, it } from "vitest";
import type { Share } from "../api/wire";
import { factsOf, period, whatOf } from "./text";

const share: Share = {
  id: "K7RZ5Q2MLN3XHB6VTWE4CYAD2F",
  pty: "one",
  role: "read",
  name: "",
  created_at: "2026-01-01T00:00:00Z",
  expires_at: "2026-01-01T01:30:00Z",
  uses: 0,
  uses_left: null,
  closed: false,
  viewers: 1,
  by: "token",
};
const at = (time: string): number => Date.parse(`2026-01-01T${time}Z`);

it("says a period in its largest unit", () => {
  expect([59, 60, 3_599, 7_200, 86_400, 2_592_000, -5].map(period)).toEqual([
    "59 seconds",
    "1 minute",
    "59 minutes",
    "2 hours",
    "1 day",
    "30 days",
    "0 seconds",
  ]);
});

it("says what a link does and for how long", () => {
  expect(factsOf(share, at("00:00:00"))).toBe("look only · 1 hour left · 1 viewer");
  expect(factsOf({ ...share, role: "write", uses_left: 2 }, at("01:29:30"))).toBe(
    "may type · 30 seconds left · 2 uses left · 1 viewer",
  );
  expect(factsOf({ ...share, viewers: 0 }, at("01:30:00"))).toBe("look only · expired · 0 viewers");
  expect(factsOf({ ...share, closed: true, uses_left: 0 }, at("00:00:00"))).toBe(
    "look only · opens nothing more · 1 viewer",
  );
});

it("says what a link shows", () => {
  expect(whatOf(share, (id) => (id === "one" ? "build" : null))).toBe("build");
  expect(whatOf(share, () => null)).toBe("one");
  const { pty: _, ...rest } = share;
  expect(whatOf({ ...rest, session: "dev" }, () => null)).toBe("session dev");
});
