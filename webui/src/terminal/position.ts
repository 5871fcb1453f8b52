import type { ServerEvent } from "../api/wire";

/**
 * Position is how far a screen has followed its terminal's output. A new attachment says it, so that the server can
 * send what was missed instead of the whole screen, and it tells events of this attachment from events of an older one.
 */
export class Position {
  /** null: there is nothing on the screen that could be continued. */
  private seq: number | null = null;
  private current = false;

  /** fresh says whether the screen follows the newest attachment. */
  fresh(): boolean {
    return this.current;
  }

  /** attach begins a new attachment and returns what it asks for. */
  attach(): { since?: number } {
    this.current = false;
    return this.seq === null ? {} : { since: this.seq };
  }

  /** forget says that output was dropped: only a snapshot helps. */
  forget(): void {
    this.seq = null;
    this.current = false;
  }

  /**
   * take notes an event of the terminal and says whether it belongs on the screen. A resume of another position is
   * the answer to an older attachment.
   */
  take(event: ServerEvent): boolean {
    switch (event.event) {
      case "snapshot":
        this.current = true;
        break;
      case "resume":
        if (this.current || event.seq !== this.seq) return false;
        this.current = true;
        break;
      case "data":
      case "resize":
      case "exit":
        if (!this.current) return false;
        break;
      default:
        return false;
    }
    this.seq = event.seq;
    return true;
  }
}
