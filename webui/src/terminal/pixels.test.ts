import { expect, it } from "vitest";
import { pixel } from "./pixels";

it.each([
  ["the first", 0, 1],
  ["the first of a cell", 40 / 80, 401],
  ["the last of a cell", 41 / 80 - 1e-6, 410],
  ["the last", 1 - 1e-6, 800],
  ["before the screen", -0.2, 1],
  ["behind the screen", 1.3, 800],
])("pixel: %s", (_, share, want) => {
  expect(pixel(share, 80, 10)).toBe(want);
});
