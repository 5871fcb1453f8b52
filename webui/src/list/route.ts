/** The address of a terminal in the page: `#/pty/ID`, so that a reload or a shared link shows it again. */

/** routeTo returns the hash that shows terminal `id`. */
export const routeTo = (id: string): string => `#/pty/${encodeURIComponent(id)}`;

/** routeOf returns the terminal named by a location hash, or null. */
export function routeOf(hash: string): string | null {
  const match = /^#\/pty\/([^/]+)$/.exec(hash);
  if (!match?.[1]) return null;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return null;
  }
}
