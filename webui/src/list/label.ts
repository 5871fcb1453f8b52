import type { Exit, Terminal } from "../api/wire";
import { clean } from "../ui/text";

const command = (info: Terminal): string => clean(info.cmd.join(" "));

/** nameOf is the first line of a terminal in the list: its name, else its title, else its command. */
export const nameOf = (info: Terminal): string => clean(info.name) || clean(info.title) || command(info) || info.id;

/** detailOf is the second line: what the first did not say. */
export function detailOf(info: Terminal): string {
  const first = nameOf(info);
  return [clean(info.title), clean(info.cwd), command(info)].find((s) => s !== "" && s !== first) ?? "";
}

/** titleOf is the document's title for a terminal: the title its program set, else its name or command. */
export const titleOf = (info: Terminal): string => clean(info.title) || nameOf(info);

/** stateText is the state of a terminal in a word or two: how it ended, when it has. */
export function stateText({ state, exit }: Terminal): string {
  if (state !== "exited" || exit === null) return clean(state);
  if (exit.signal !== "") return clean(exit.signal).replace(/^(SIG)?/, "SIG");
  return exit.code === null ? "exited" : `exited ${exit.code}`;
}

/** failed says whether a terminal's program ended other than with success. */
export function failed({ state, exit }: Terminal): boolean {
  if (state !== "exited" || exit === null || exit.reason === "killed") return false;
  return exit.signal !== "" || !!exit.code;
}

/** exitText says in one sentence how a terminal ended. */
export function exitText(state: string, exit: Exit | null): string {
  if (state === "lost" || exit?.reason === "lost") return "Lost: its process is gone. This is its last screen.";
  if (state === "restored") return "Restored from its last saved screen; its process did not survive the restart.";
  if (exit === null) return "Exited.";
  const why = exit.reason === "killed" ? "Closed" : "Exited";
  if (exit.signal !== "") return `${why} on signal ${clean(exit.signal)}.`;
  return exit.code === null ? `${why}.` : `${why} with code ${exit.code}.`;
}
