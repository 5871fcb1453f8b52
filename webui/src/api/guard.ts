/**
 * Shape says what a message of the server may look like: wire.gen.ts has one for each type of the wire. A scalar is
 * what stands for a value that is missing or of another type; null is anything. `[shape]` is a list, `[shape, missing]`
 * a value that may be null or left out, `{ "": shape }` a map, a function another type.
 */
type Field =
  | ""
  | 0
  | false
  | null
  | (() => Shape<unknown>)
  | readonly [Field]
  | readonly [Field, null | undefined]
  | { readonly "": Field };

declare const type: unique symbol;
/** Shape of an object, by the names of its fields. */
export type Shape<T> = { readonly [name: string]: Field } & { readonly [type]?: T };

/** Open is T with any text in place of an enumeration: a newer server may say other words. */
export type Open<T> = T extends string ? string : T extends object ? { [K in keyof T]: Open<T[K]> } : T;

type Fields = { readonly [name: string]: unknown };

export const isFields = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);
export const fields = (v: unknown): Fields => (isFields(v) ? v : {});
const isOptional = (field: Field): field is readonly [Field, null | undefined] =>
  Array.isArray(field) && field.length === 2;

/** fits reports whether a value is of the kind that a field has. Its own fields may still be wrong. */
function fits(field: Field, v: unknown): boolean {
  if (field === null) return true;
  if (isOptional(field)) return v === field[1] || fits(field[0], v);
  if (Array.isArray(field)) return Array.isArray(v);
  if (field === 0) return Number.isFinite(v);
  return typeof field === "object" || typeof field === "function" ? isFields(v) : typeof v === typeof field;
}

/** checked is a value as its field has it. List and map lose the members that do not fit. */
function checked(field: Field, v: unknown): unknown {
  if (typeof field === "function") return guard(field(), v);
  if (isOptional(field)) return fits(field[0], v) ? checked(field[0], v) : field[1];
  if (Array.isArray(field)) {
    const [item] = field;
    return (Array.isArray(v) ? v : []).filter((i) => fits(item, i)).map((i) => checked(item, i));
  }
  if (field !== null && typeof field === "object") {
    const value = (field as { "": Field })[""];
    const kept = Object.entries(fields(v)).filter(([, m]) => fits(value, m));
    return Object.fromEntries(kept.map(([name, m]) => [name, checked(value, m)]));
  }
  return fits(field, v) ? v : field;
}

/**
 * guard returns the fields of `v` that its type has. The server is trusted to be evertty, but not to be of our version:
 * unknown fields are left out, and for one that is missing or of a wrong type stands a harmless value. It never throws.
 */
export function guard<T>(shape: Shape<T>, v: unknown): Open<T> {
  const given = fields(v);
  const all = Object.entries(shape).map(([name, field]): [string, unknown] => [name, checked(field, given[name])]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as Open<T>;
}

interface RawJSON {
  rawJSON?(source: string): unknown;
}

/**
 * exactJSON is JSON.parse, but numbers that a double does not have exactly, or not as they were written, come back from
 * JSON.stringify as they were. A browser without ECMAScript's JSON.rawJSON gives doubles. It throws a SyntaxError.
 */
export function exactJSON(source: string): unknown {
  const { rawJSON } = JSON as RawJSON;
  if (rawJSON === undefined) return JSON.parse(source);
  const revive = (_key: string, v: unknown, context?: { source?: string }): unknown =>
    typeof v === "number" && context?.source !== undefined && context.source !== String(v)
      ? rawJSON(context.source)
      : v;
  return JSON.parse(source, revive as (key: string, v: unknown) => unknown);
}
