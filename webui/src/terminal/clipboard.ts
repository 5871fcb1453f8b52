/**
 * copyText puts text on the clipboard. The clipboard API exists only on https and loopback; elsewhere the focused
 * terminal's own copy handler does it. Empty text leaves the clipboard as it is.
 */
export async function copyText(text: string): Promise<void> {
  if (text === "") return;
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch {
      // Refused by the browser (no user activation, no permission): try the old way.
    }
  }
  document.execCommand("copy");
}
