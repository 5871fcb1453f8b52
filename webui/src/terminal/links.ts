/** Longest address that is offered as a link, in UTF-16 units; longer ones are text (the server has the same limit). */
const MAX_LINK = 2083;

/**
 * safeLink returns the normalised address of an http or https link, or null for every other scheme, for text that
 * is not an address and for one longer than MAX_LINK. Host names come back in their ASCII form, so that look-alike
 * letters are seen before the link is opened. Terminal output is hostile input (OSC 8, plain text).
 */
export function safeLink(address: string): string | null {
  if (address.length > MAX_LINK) return null;
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return null;
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return null;
  return url.href;
}

/** openLink opens an http or https address in a new tab that cannot reach back to this page. */
export function openLink(uri: string): void {
  const safe = safeLink(uri);
  if (safe !== null) window.open(safe, "_blank", "noopener,noreferrer");
}
