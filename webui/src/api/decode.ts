/**
 * A decoder makes what the page uses of JSON from the server. The server is trusted to be evertty, but not to be of
 * our version: unknown fields are ignored, and what is missing or of a wrong type becomes a harmless value. No decoder
 * throws.
 */
export type Decoder<T> = (v: unknown) => T;
export type Decoded<D> = D extends Decoder<infer T> ? T : never;

type Fields = Record<string, unknown>;
type Shape = Record<string, Decoder<unknown>>;
type Shaped<S extends Shape> = { [K in keyof S]: Decoded<S[K]> };

export const isFields = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);
export const fields = (v: unknown): Fields => (isFields(v) ? v : {});
export const array = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);

export const text = (v: unknown): string => (typeof v === "string" ? v : "");
export const flag = (v: unknown): boolean => v === true;
export const count = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) && v > 0 ? Math.floor(v) : 0);

/** time is an instant in milliseconds since the epoch, 0 for none. */
export const time = (v: unknown): number => {
  const at = typeof v === "string" ? Date.parse(v) : Number.NaN;
  return Number.isFinite(at) && at > 0 ? at : 0;
};

/** textOr is a text that is never empty. */
export const textOr =
  (missing: string): Decoder<string> =>
  (v) =>
    text(v) || missing;

/** nullable keeps "not there" apart from a value. */
export const nullable =
  <T>(is: (v: unknown) => boolean, decode: Decoder<T>): Decoder<T | null> =>
  (v) =>
    is(v) ? decode(v) : null;

/** all is a part of a shape: fields of the same kind. */
export const all = <T, K extends string>(decode: Decoder<T>, ...keys: K[]): Record<K, Decoder<T>> =>
  Object.fromEntries(keys.map((key) => [key, decode])) as Record<K, Decoder<T>>;
export const texts = <K extends string>(...keys: K[]) => all(text, ...keys);
export const counts = <K extends string>(...keys: K[]) => all(count, ...keys);
export const times = <K extends string>(...keys: K[]) => all(time, ...keys);

/** object decodes the fields of `shape`. */
export function object<S extends Shape>(shape: S): Decoder<Shaped<S>> {
  const entries = Object.entries(shape);
  return (v) => {
    const f = fields(v);
    return Object.fromEntries(entries.map(([key, decode]) => [key, decode(f[key])])) as Shaped<S>;
  };
}

/** identified is null for an object whose field `key` is missing: nothing can be done with it. */
export function identified<S extends Shape>(key: keyof S & string, shape: S): Decoder<Shaped<S> | null> {
  const decode = object(shape);
  return (v) => {
    const o = decode(v);
    return o[key] ? o : null;
  };
}

/** each decodes the items of an array and leaves out those that are null. */
export const each =
  <T>(decode: Decoder<T | null>): Decoder<T[]> =>
  (v) =>
    array(v)
      .map(decode)
      .filter((i): i is T & {} => i !== null);

/** field decodes one field of an object. */
export const field =
  <T>(key: string, decode: Decoder<T>): Decoder<T> =>
  (v) =>
    decode(fields(v)[key]);

/** Longest text that is kept, in UTF-16 code units: a message may have 8 MiB, and nobody reads that in a page. */
export const MAX_TEXT = 64 * 1024;
/** Items of a list that are kept. */
export const MAX_ITEMS = 50;

/** Text is the beginning of a text, and how much is left out behind it. */
export interface Text {
  text: string;
  left: number;
}

/** List is the beginning of a list, and how much is left out behind it. */
export interface List<T> {
  items: readonly T[];
  left: number;
}

/** begin is a text that is not longer than `most`. It does not end in half a character. */
export function begin(s: string, most = MAX_TEXT): Text {
  if (s.length <= most) return { text: s, left: 0 };
  const end = /[\ud800-\udbff]/.test(s.charAt(most - 1)) ? most - 1 : most;
  return { text: s.slice(0, end), left: s.length - end };
}

/** long is the beginning of a text of any length. */
export const long = (v: unknown): Text => begin(text(v));

/** some is the beginning of a list of any length. */
export function some<T>(decode: Decoder<T | null>): Decoder<List<T>> {
  const items = each(decode);
  return (v) => ({ items: items(array(v).slice(0, MAX_ITEMS)), left: Math.max(0, array(v).length - MAX_ITEMS) });
}

/** numeral is a number as it was written, "" for none; it needs exactJSON. */
export const numeral = (v: unknown): string => (typeof v === "number" || isFields(v) ? JSON.stringify(v) : "");

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
