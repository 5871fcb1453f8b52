import { describe, expect, it } from "vitest";
import { routeOf, routeTo } from "../list/route";
import { safeLink } from "./links";

describe("safeLink", () => {
  it.each([
    ["https://example.com/a?b#c", "https://example.com/a?b#c"],
    ["http://127.0.0.1:3000", "http://127.0.0.1:3000/"],
    ["https://ex\u0430mple.com/", "https://xn--exmple-4nf.com/"],
    ["javascript:alert(1)", null],
    ["JaVaScRiPt:alert(1)", null],
    ["data:text/html,x", null],
    ["file:///etc/passwd", null],
    ["ftp://example.com", null],
    ["//example.com", null],
    ["not an address", null],
    [`https://example.com/${"x".repeat(3000)}`, null],
  ])("%s", (address, want) => {
    expect(safeLink(address)).toBe(want);
  });
});

describe("routes", () => {
  it("leads back to the terminal it names", () => {
    for (const id of ["pty-0123456789ab", "a/b", "ü%"]) expect(routeOf(routeTo(id))).toBe(id);
  });

  it.each(["", "#", "#/", "#/pty/", "#/pty/a/b", "#/other/a", "#/pty/%ff"])("%s names none", (hash) => {
    expect(routeOf(hash)).toBeNull();
  });
});
