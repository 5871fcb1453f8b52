import { expect, it } from "vitest";
import type { Terminal } from "../api/wire";
import { orderOf } from "./order";

const info = { id: "one", session: "dev" } as Terminal;

it("asks for what the form says; an empty number of uses is no limit", () => {
  const form = new FormData();
  for (const [k, v] of [
    ["what", "pty"],
    ["role", "read"],
    ["ttl", "3600"],
    ["uses", ""],
    ["name", " tea "],
  ] as const)
    form.set(k, v);
  expect(orderOf(form, info)).toEqual({ pty: "one", role: "read", ttl_s: 3600, uses: 0, name: "tea" });
  form.set("what", "session");
  form.set("role", "write");
  form.set("uses", "3");
  expect(orderOf(form, info)).toEqual({ session: "dev", role: "write", ttl_s: 3600, uses: 3, name: "tea" });
});
