import { describe, expect, it } from "vitest";
import { allowed, keepMode, keptMode, largestFont, MIN_FONT, type SizeMode } from "./size";

describe("the mode of the size", () => {
  it("is kept, and fit where nothing that is known is kept", () => {
    const kept = new Map<string, string>();
    const settings = { get: (k: string) => kept.get(k) ?? null, set: (k: string, v: string) => !!kept.set(k, v) };
    expect(keptMode(settings)).toBe("fit");
    keepMode(settings, "scale");
    expect([...kept, keptMode(settings)]).toEqual([["evertty-size", "scale"], "scale"]);
    expect(keptMode({ get: () => "zoom" })).toBe("fit");
  });

  it("never asks for a size that it may not have", () => {
    const modes: SizeMode[] = ["fit", "pan", "scale"];
    expect(modes.map((m) => allowed(m, false))).toEqual(["pan", "pan", "scale"]);
    expect(modes.map((m) => allowed(m, true))).toEqual(modes);
  });
});

describe("largestFont", () => {
  const tried = (usual: number, room: number): [number, number] => {
    let n = 0;
    const font = largestFont(usual, (f) => {
      n++;
      return f <= room;
    });
    return [font, n];
  };

  it("is as usual where that fits, else the largest that does, at a few tries", () => {
    expect(tried(14, 20)).toEqual([14, 1]);
    expect(tried(14, 14)).toEqual([14, 1]);
    for (let room = MIN_FONT; room < 14; room += 0.1) {
      const [font, n] = tried(14, room);
      expect(font).toBeLessThanOrEqual(room);
      expect(room - font).toBeLessThan(0.25);
      expect(n).toBeLessThanOrEqual(7);
    }
  });

  it("is never smaller than can be drawn", () => {
    expect(tried(12, 1)[0]).toBe(MIN_FONT);
  });
});
