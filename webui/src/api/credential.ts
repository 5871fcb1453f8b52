import { settings } from "../browser";
import { isGuest } from "../share/guest";

/**
 * A login has two halves: the cookie, which a browser gives to every port of a host, and a secret that only this page
 * keeps: storage is bound to the origin, port included. Neither opens anything without the other.
 */

/** Where the secret is kept. */
export const SECRET_KEY = "evertty-page";
/** How the address that a login leads to ends. */
const FRAGMENT = /^#page=([\w-]+)$/;
/** HTTP status of a request with a wrong secret; the second when there were many. */
const WRONG = [401, 429];

/**
 * takeSecret takes the secret of a login out of the page's address, and out of the tab's history. Any page may lead
 * here with one of its own, so it replaces no other when `probe` finds it wrong. It returns false when the browser does
 * not keep it: then it lasts as long as the page.
 */
export async function takeSecret(probe: (secret: string) => Promise<number>): Promise<boolean> {
  const secret = FRAGMENT.exec(location.hash)?.[1];
  if (secret === undefined || isGuest()) return true;
  history.replaceState(history.state, "", location.pathname);
  if (pageSecret() !== "" && WRONG.includes(await probe(secret))) return true;
  return settings.set(SECRET_KEY, secret);
}

/**
 * pageSecret is the page's half of the login, "" without one. It may come from another tab at any time. The page of a
 * guest has none, whoever is logged in beside it.
 */
export const pageSecret = (): string => (isGuest() ? "" : (settings.get(SECRET_KEY) ?? ""));

/** credentials are the headers of a request. */
export function credentials(secret = pageSecret()): Record<string, string> {
  return secret === "" ? {} : { "Evertty-Page": secret };
}
