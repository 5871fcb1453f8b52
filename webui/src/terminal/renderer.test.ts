import { describe, expect, it } from "vitest";
import { Choice, FRAMES } from "./renderer";
import { isSharp, isSoftware } from "./webgl";

const draw = (choice: Choice, ms: number, frames = FRAMES): boolean[] =>
  Array.from({ length: frames }, () => choice.note(ms));

describe("Choice", () => {
  it("keeps what is smooth, and stops measuring", () => {
    const choice = new Choice("webgl");
    expect(draw(choice, 17)).not.toContain(true);
    expect(choice.current()).toBe("webgl");
    expect(choice.measuring()).toBe(false);
  });

  it("tries the other way when frames take too long, and keeps the faster one", () => {
    const choice = new Choice("webgl");
    expect(draw(choice, 180).at(-1)).toBe(true);
    expect(choice.current()).toBe("dom");
    draw(choice, 30);
    expect(choice.current()).toBe("dom");
    expect(choice.measuring()).toBe(false);
  });

  it("goes back when the other way is slower still", () => {
    const choice = new Choice("webgl");
    draw(choice, 60);
    expect(draw(choice, 90).at(-1)).toBe(true);
    expect(choice.current()).toBe("webgl");
    expect(draw(choice, 500)).not.toContain(true);
  });

  it("does not take a hiccup for slowness", () => {
    const choice = new Choice("webgl");
    draw(choice, 900, FRAMES / 2 - 1);
    draw(choice, 17, FRAMES / 2 + 1);
    expect(choice.current()).toBe("webgl");
  });

  it("does not leave what was asked for, and leaves what does not work", () => {
    const fixed = new Choice("webgl", true);
    draw(fixed, 500);
    expect(fixed.current()).toBe("webgl");
    fixed.refuse("webgl");
    expect(fixed.current()).toBe("dom");
    expect(fixed.measuring()).toBe(false);
  });
});

describe("isSoftware", () => {
  it.each([
    ["ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device (Subzero) (0x0000C0DE)), SwiftShader driver)", true],
    ["llvmpipe (LLVM 15.0.6, 256 bits)", true],
    ["Microsoft Basic Render Driver", true],
    ["Mesa/X.org, softpipe", true],
    ["ANGLE (NVIDIA, NVIDIA GeForce RTX 3060, OpenGL 4.5)", false],
    ["Apple M2", false],
    ["Mali-G78", false],
  ])("%s", (name, software) => {
    expect(isSoftware(name)).toBe(software);
  });
});

describe("isSharp", () => {
  it.each([
    [1368, 912, 1.5, true],
    [1367, 912, 1.5, true],
    [912, 912, 1.5, false],
    [1824, 912, 1, false],
    [0, 0, 2, true],
  ])("%d device pixels for %d CSS pixels at %d", (device, css, ratio, sharp) => {
    expect(isSharp(device, css, ratio)).toBe(sharp);
  });
});
