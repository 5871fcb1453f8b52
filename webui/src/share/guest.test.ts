import { afterEach, expect, it, vi } from "vitest";
import { isGuest } from "./guest";

afterEach(() => {
  vi.unstubAllGlobals();
});

it("is a guest's page below the path of a link, whatever is before it", () => {
  const id = "K7RZ5Q2MLN3XHB6VTWE4CYAD2F";
  for (const [pathname, guest] of [
    [`/t/${id}/`, true],
    [`/base/t/${id}/`, true],
    ["/", false],
    ["/t/", false],
    ["/t/foo/", false],
    [`/t/${id}`, false],
    [`/t/${id}/x`, false],
  ] as const) {
    vi.stubGlobal("location", { pathname });
    expect([pathname, isGuest()]).toEqual([pathname, guest]);
  }
});
