// Generated from package wire by `go generate ./internal/server`. Do not edit.

import type { Shape } from "./guard";

/** Asks for a ticket for one terminal, or with `{"login":true}` for a browser's login, which goes with no other field. At most 4096 wait, and 16 more for logins; one more is 429 LIMIT. A ticket ends with its terminal, by DELETE /tickets, or by a logout of all, and so does what it opened. */
export interface TicketRequest {
  /** Id or name of the terminal. */
  pty?: string;
  /** `read`: look; `write`: look and type. */
  role?: "" | "read" | "write";
  /** How long it lasts, in seconds. */
  ttl_s?: number;
  /** How many connections it opens. An EventSource that reconnects by itself uses it again. */
  uses?: number;
  /** Ask for a login ticket: one use, 30 seconds, for GET /?ticket=. */
  login?: boolean;
}
export const TicketRequest: Shape<TicketRequest> = { pty: ["", undefined], role: ["", undefined], ttl_s: [0, undefined], uses: [0, undefined], login: [false, undefined] };

/** A secret that may stand in a URL. */
export interface Ticket {
  /** The secret, for `?ticket=`. */
  ticket: string;
  /** When it ends, used or not. RFC 3339, UTC. */
  expires_at: string;
  /** Where it is used: the terminal's WebSocket (put /stream or /snapshot in place of /ws for those), or the login page. */
  url: string;
  /** The same for other machines, when `url` has a loopback address and the server listens on all addresses. */
  network_url?: string;
}
export const Ticket: Shape<Ticket> = { ticket: "", expires_at: "", url: "", network_url: ["", undefined] };

/** Asks for a new session. */
export interface CompatCreate {
  /** Its name; absent: the server gives one. */
  id?: string;
  /** The same. */
  name?: string;
  /** The same. */
  sessionId?: string;
  /** Added to the environment. */
  env?: { [key: string]: string };
  /** Where it begins; absent: the home directory. */
  cwd?: string;
  /** After which its commands are cancelled; 0 is never. */
  commandTimeoutMs?: number;
  /** Without effect: sessions are no border between users. */
  isolation?: boolean | null;
}
export const CompatCreate: Shape<CompatCreate> = { id: ["", undefined], name: ["", undefined], sessionId: ["", undefined], env: { "": "" }, cwd: ["", undefined], commandTimeoutMs: [0, undefined], isolation: [false, null] };

/** The reply about a session that was made. */
export interface CompatSession {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** Its name. */
  id: string;
  /** The same. */
  sessionId: string;
  /** Its directory now. */
  cwd: string;
  /** When it was made. */
  createdAt: string;
}
export const CompatSession: Shape<CompatSession> = { success: false, timestamp: "", id: "", sessionId: "", cwd: "", createdAt: "" };

/** A session in a list. */
export interface CompatSessionInfo {
  /** Its name. */
  id: string;
  /** The same. */
  sessionId: string;
  /** Its directory now. */
  cwd: string;
  /** When it was made. */
  createdAt: string;
}
export const CompatSessionInfo: Shape<CompatSessionInfo> = { id: "", sessionId: "", cwd: "", createdAt: "" };

/** The sessions. */
export interface CompatSessions {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** How many. */
  count: number;
  /** The sessions that have a default shell. */
  sessions: CompatSessionInfo[];
}
export const CompatSessions: Shape<CompatSessions> = { success: false, timestamp: "", count: 0, sessions: [() => CompatSessionInfo] };

/** Names the session to end. */
export interface CompatDelete {
  /** Its name. */
  sessionId: string;
}
export const CompatDelete: Shape<CompatDelete> = { sessionId: "" };

/** The reply of a call that only names its session. */
export interface CompatNamed {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** Its session. */
  sessionId: string;
}
export const CompatNamed: Shape<CompatNamed> = { success: false, timestamp: "", sessionId: "" };

/** Has variables to set: `envVars`, or `env`. */
export interface CompatEnv {
  /** Variables to export; null removes one. */
  envVars?: { [key: string]: string | null };
  /** The same. */
  env?: { [key: string]: string | null };
  /** The session. */
  sessionId?: string;
}
export const CompatEnv: Shape<CompatEnv> = { envVars: { "": "" }, env: { "": "" }, sessionId: ["", undefined] };

/** A command to run. */
export interface CompatExecute {
  /** Shell text. */
  command: string;
  /** The session; it comes into being when first used. */
  sessionId?: string;
  /** Directory of this command alone. */
  cwd?: string;
  /** Variables of this command alone. */
  env?: { [key: string]: string };
  /** After which it is cancelled, with code 124; 0 is the session's. */
  timeoutMs?: number;
  /** The same. */
  timeout?: number;
  /** Run it as a process. */
  background?: boolean;
  /** What it reads. */
  stdin?: string;
  /** Without effect. */
  origin?: string;
}
export const CompatExecute: Shape<CompatExecute> = { command: "", sessionId: ["", undefined], cwd: ["", undefined], env: { "": "" }, timeoutMs: [0, undefined], timeout: [0, undefined], background: [false, undefined], stdin: ["", undefined], origin: ["", undefined] };

/** The result of a command. */
export interface CompatResult {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** 0 to 255. */
  exitCode: number;
  /** What was run. */
  command: string;
  /** How long, in milliseconds. */
  duration: number;
  /** Its session. */
  sessionId: string;
  /** An output had more than this reply carries. */
  truncated?: boolean;
  /** With background: the process. */
  processId?: string;
  /** With background: its pid. */
  pid?: number;
  /** Its output; a byte that is not UTF-8 is one U+FFFD. */
  stdout: string;
  /** The bytes of stdout, in base64; only where they are not UTF-8. */
  stdout_b64?: string;
  /** Its errors. */
  stderr: string;
  /** The bytes of stderr, in base64; only where they are not UTF-8. */
  stderr_b64?: string;
}
export const CompatResult: Shape<CompatResult> = { success: false, timestamp: "", exitCode: 0, command: "", duration: 0, sessionId: "", truncated: [false, undefined], processId: ["", undefined], pid: [0, undefined], stdout: "", stdout_b64: ["", undefined], stderr: "", stderr_b64: ["", undefined] };

/** A process: a command in the background. */
export interface CompatProcess {
  /** Always true. */
  success: boolean;
  /** Its id. */
  id: string;
  /** The same. */
  processId: string;
  /** 0 while it waits behind other commands. */
  pid: number;
  /** What runs. */
  command: string;
  /** Where it is in its life. */
  status: "starting" | "running" | "completed" | "failed" | "killed" | "error";
  /** When it began. */
  startTime: string;
  /** When it ended. */
  endTime?: string;
  /** After its end. */
  exitCode?: number;
  /** Its session. */
  sessionId: string;
  /** Now. */
  timestamp: string;
}
export const CompatProcess: Shape<CompatProcess> = { success: false, id: "", processId: "", pid: 0, command: "", status: "", startTime: "", endTime: ["", undefined], exitCode: [0, undefined], sessionId: "", timestamp: "" };

/** All processes of all sessions, oldest first. */
export type CompatProcesses = CompatProcess[];

/** The output of a process. */
export interface CompatLogs {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** Its id. */
  processId: string;
  /** Its output; a byte that is not UTF-8 is one U+FFFD. */
  stdout: string;
  /** The bytes of stdout, in base64; only where they are not UTF-8. */
  stdout_b64?: string;
  /** Its errors. */
  stderr: string;
  /** The bytes of stderr, in base64; only where they are not UTF-8. */
  stderr_b64?: string;
}
export const CompatLogs: Shape<CompatLogs> = { success: false, timestamp: "", processId: "", stdout: "", stdout_b64: ["", undefined], stderr: "", stderr_b64: ["", undefined] };

/** Says how many processes were ended. */
export interface CompatKilled {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** Processes that ran. */
  cleanedCount: number;
}
export const CompatKilled: Shape<CompatKilled> = { success: false, timestamp: "", cleanedCount: 0 };

/** One event of a command's stream. */
export interface CompatEvent {
  /** What it is. */
  type: "start" | "stdout" | "stderr" | "complete" | "error";
  /** When. */
  timestamp: string;
  /** With stdout and stderr: a piece of it. */
  data?: string;
  /** The bytes of data, in base64; only where they are not UTF-8. */
  data_b64?: string;
  /** With start: what is run. */
  command?: string;
  /** The session. */
  sessionId?: string;
  /** Its id. */
  processId?: string;
  /** With start: its pid. */
  pid?: number;
  /** With complete. */
  exitCode?: number;
  result?: CompatEventResult;
  /** With error: one sentence. */
  error?: string;
  /** With error: as in Error. */
  code?: string;
}
export const CompatEvent: Shape<CompatEvent> = { type: "", timestamp: "", data: ["", undefined], data_b64: ["", undefined], command: ["", undefined], sessionId: ["", undefined], processId: ["", undefined], pid: [0, undefined], exitCode: [0, undefined], result: [() => CompatEventResult, undefined], error: ["", undefined], code: ["", undefined] };

/** The result in the event `complete`. */
export interface CompatEventResult {
  /** The code is 0. */
  success: boolean;
  /** 0 to 255. */
  exitCode: number;
  /** What was run. */
  command: string;
  /** How long, in milliseconds. */
  duration: number;
  /** Its session. */
  sessionId: string;
}
export const CompatEventResult: Shape<CompatEventResult> = { success: false, exitCode: 0, command: "", duration: 0, sessionId: "" };

/** Names the file to read. */
export interface CompatRead {
  /** Relative to the session's directory. */
  path: string;
  /** Of the content; absent: utf-8, for reading base64 when the file is not UTF-8. */
  encoding?: "" | "utf-8" | "utf8" | "base64";
  /** The session. */
  sessionId?: string;
}
export const CompatRead: Shape<CompatRead> = { path: "", encoding: ["", undefined], sessionId: ["", undefined] };

/** A file and what to write to it. */
export interface CompatWrite {
  /** Relative to the session's directory. */
  path: string;
  /** What the file has then. */
  content: string;
  /** Of the content; absent: utf-8, for reading base64 when the file is not UTF-8. */
  encoding?: "" | "utf-8" | "utf8" | "base64";
  /** The session. */
  sessionId?: string;
}
export const CompatWrite: Shape<CompatWrite> = { path: "", content: "", encoding: ["", undefined], sessionId: ["", undefined] };

/** Names a file. */
export interface CompatPath {
  /** Relative to the session's directory. */
  path: string;
  /** The session. */
  sessionId?: string;
}
export const CompatPath: Shape<CompatPath> = { path: "", sessionId: ["", undefined] };

/** Names the directory to make. */
export interface CompatMkdir {
  /** Relative to the session's directory. */
  path: string;
  /** Also those above it; one that exists is no error. */
  recursive?: boolean;
  /** The session. */
  sessionId?: string;
}
export const CompatMkdir: Shape<CompatMkdir> = { path: "", recursive: [false, undefined], sessionId: ["", undefined] };

/** Names the directory to list. */
export interface CompatList {
  /** Relative to the session's directory. */
  path: string;
  /** Below too. */
  recursive?: boolean;
  options?: CompatListOptions;
  /** The session. */
  sessionId?: string;
}
export const CompatList: Shape<CompatList> = { path: "", recursive: [false, undefined], options: [() => CompatListOptions, undefined], sessionId: ["", undefined] };

/** Say which files a list has. */
export interface CompatListOptions {
  /** Below too. */
  recursive?: boolean;
  /** Also names that begin with a dot. */
  includeHidden?: boolean;
}
export const CompatListOptions: Shape<CompatListOptions> = { recursive: [false, undefined], includeHidden: [false, undefined] };

/** Has the old and the new path. */
export interface CompatRename {
  /** What. */
  oldPath: string;
  /** Where to. */
  newPath: string;
  /** The session. */
  sessionId?: string;
}
export const CompatRename: Shape<CompatRename> = { oldPath: "", newPath: "", sessionId: ["", undefined] };

/** Has the old and the new path. */
export interface CompatMove {
  /** What. */
  sourcePath: string;
  /** Where to. */
  destinationPath: string;
  /** The session. */
  sessionId?: string;
}
export const CompatMove: Shape<CompatMove> = { sourcePath: "", destinationPath: "", sessionId: ["", undefined] };

/** The reply of a call that only names its file. */
export interface CompatFile {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** The file, absolute. */
  path: string;
}
export const CompatFile: Shape<CompatFile> = { success: false, timestamp: "", path: "" };

/** The content of a file. */
export interface CompatContent {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** The file, absolute. */
  path: string;
  /** It. */
  content: string;
  /** Of the content. */
  encoding: "utf-8" | "base64";
  /** Bytes. */
  size: number;
}
export const CompatContent: Shape<CompatContent> = { success: false, timestamp: "", path: "", content: "", encoding: "", size: 0 };

/** The reply of a rename or move. */
export interface CompatRenamed {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** The file, absolute. */
  path: string;
  /** What it is called now. */
  newPath: string;
}
export const CompatRenamed: Shape<CompatRenamed> = { success: false, timestamp: "", path: "", newPath: "" };

/** Says whether a file exists. */
export interface CompatExists {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** The file, absolute. */
  path: string;
  /** It does. */
  exists: boolean;
}
export const CompatExists: Shape<CompatExists> = { success: false, timestamp: "", path: "", exists: false };

/** The files of a directory. */
export interface CompatFiles {
  /** It worked; of a command: its code is 0. */
  success: boolean;
  /** When. */
  timestamp: string;
  /** The file, absolute. */
  path: string;
  /** How many. */
  count: number;
  /** There are more than 10000. */
  truncated: boolean;
  /** In the order of their names. */
  files: CompatEntry[];
}
export const CompatFiles: Shape<CompatFiles> = { success: false, timestamp: "", path: "", count: 0, truncated: false, files: [() => CompatEntry] };

/** A file of a directory. */
export interface CompatEntry {
  /** Its name. */
  name: string;
  /** Its path. */
  absolutePath: string;
  /** Its path from the directory. */
  relativePath: string;
  /** What it is. */
  type: "file" | "directory" | "symlink" | "other";
  /** Bytes. */
  size: number;
  /** When it was changed. */
  modifiedAt: string;
  /** Its permissions, in octal. */
  mode: string;
}
export const CompatEntry: Shape<CompatEntry> = { name: "", absolutePath: "", relativePath: "", type: "", size: 0, modifiedAt: "", mode: "" };

/** A call of a tool by the assistant. */
export interface ToolCall {
  /** Its arguments, kept as given. */
  arguments?: { [key: string]: unknown };
  /** Its name for the result. */
  id?: string;
  /** The tool. */
  name?: string;
}
export const ToolCall: Shape<ToolCall> = { arguments: { "": null }, id: ["", undefined], name: ["", undefined] };

/** The result of a call. */
export interface ToolResult {
  /** What it said. */
  content?: string;
  /** Whether it failed. */
  is_error?: boolean;
  /** The call. */
  tool_call_id?: string;
}
export const ToolResult: Shape<ToolResult> = { content: ["", undefined], is_error: [false, undefined], tool_call_id: ["", undefined] };

/** A message of a conversation. */
export interface Message {
  /** The text. */
  content: string;
  /** Who says it. */
  role: "system" | "user" | "assistant" | "tool";
  /** Tools that the assistant wants used. */
  tool_calls?: ToolCall[];
  /** What became of tools. */
  tool_results?: ToolResult[];
}
export const Message: Shape<Message> = { content: "", role: "", tool_calls: [() => ToolCall], tool_results: [() => ToolResult] };

/** A message with its number and time. */
export interface KeptMessage {
  /** Its number, from 1, without gaps; that of a summary is the last it stands for. */
  seq: number;
  /** When it was appended. */
  created_at: string;
  /** The compaction that put it behind a summary. */
  archived_by?: number;
  /** It stands for others. */
  summary?: boolean;
  /** The text. */
  content: string;
  /** Who says it. */
  role: "system" | "user" | "assistant" | "tool";
  /** Tools that the assistant wants used. */
  tool_calls: ToolCall[];
  /** What became of tools. */
  tool_results: ToolResult[];
}
export const KeptMessage: Shape<KeptMessage> = { seq: 0, created_at: "", archived_by: [0, undefined], summary: [false, undefined], content: "", role: "", tool_calls: [() => ToolCall], tool_results: [() => ToolResult] };

/** Has messages of a record. */
export interface MessageList {
  /** The thread. */
  thread_id: string;
  /** The record that they are of; null when nobody has written one yet. */
  session_id: string | null;
  /** In order. */
  messages: KeptMessage[];
  /** The after of the next part; absent at the end. */
  next?: number;
}
export const MessageList: Shape<MessageList> = { thread_id: "", session_id: ["", null], messages: [() => KeptMessage], next: [0, undefined] };

/** Appends one message, or several in `messages`. */
export interface AppendMessages {
  /** Who says it. */
  role?: "system" | "user" | "assistant" | "tool";
  /** The text. */
  content?: string;
  /** Tools that the assistant wants used. */
  tool_calls?: ToolCall[];
  /** What became of tools. */
  tool_results?: ToolResult[];
  /** Several, all or none of which are appended. */
  messages?: Message[];
}
export const AppendMessages: Shape<AppendMessages> = { role: ["", undefined], content: ["", undefined], tool_calls: [() => ToolCall], tool_results: [() => ToolResult], messages: [() => Message] };

/** Says what was appended. */
export interface Appended {
  /** The number of the last. */
  seq: number;
  /** Each. */
  messages: AppendedMessage[];
}
export const Appended: Shape<Appended> = { seq: 0, messages: [() => AppendedMessage] };

/** A message that was appended. */
export interface AppendedMessage {
  /** Its number. */
  seq: number;
  /** When. */
  created_at: string;
}
export const AppendedMessage: Shape<AppendedMessage> = { seq: 0, created_at: "" };

/** The state of a record. */
export interface RecordState {
  /** What is being done: the first user message unless set. */
  current_task: string | null;
  /** Who drives the thread. */
  runtime_owner_type: string | null;
  /** The same in small letters and dashes. */
  runtime_owner_path: string | null;
  /** Such as execute, the default, plan or clarify. */
  workflow_mode: string;
  /** read-only, workspace-write, danger-full-access, prompt or allow. */
  permission_mode: string;
  /** Whether somebody may be asked. */
  permission_prompting_enabled: boolean;
  /** How many rules there are. */
  permission_rule_counts: RuleCounts;
  /** Where they come from. */
  permission_rules_source: string | null;
  /** Such as native or react. */
  prompt_format: string | null;
  /** The prompt's parts, in order. */
  prompt_sections: string[];
  /** The harness's definition of done. */
  active_dod_path: string | null;
  /** Where it is in a turn. */
  active_turn_phase: string | null;
  /** Why this workflow mode. */
  workflow_reason_code: string | null;
  /** The same in words. */
  workflow_reason_summary: string | null;
  /** How that was decided. */
  workflow_decision_kind: string | null;
  /** How unclear the task is. */
  workflow_ambiguity_score: number | null;
  /** How complex it is. */
  workflow_complexity_score: number | null;
  /** The mode that comes next. */
  workflow_scheduled_next_mode: string | null;
  /** Why the last turn went on or ended; what the trace is projected for. */
  last_completion_decision_code: string | null;
  /** The same in words. */
  last_completion_decision_summary: string | null;
  /** The last step of the turn. */
  last_turn_transition_summary: string | null;
  /** Its kind. */
  last_turn_transition_kind: string | null;
  /** Its reason. */
  last_turn_transition_reason_code: string | null;
}
export const RecordState: Shape<RecordState> = { current_task: ["", null], runtime_owner_type: ["", null], runtime_owner_path: ["", null], workflow_mode: "", permission_mode: "", permission_prompting_enabled: false, permission_rule_counts: () => RuleCounts, permission_rules_source: ["", null], prompt_format: ["", null], prompt_sections: [""], active_dod_path: ["", null], active_turn_phase: ["", null], workflow_reason_code: ["", null], workflow_reason_summary: ["", null], workflow_decision_kind: ["", null], workflow_ambiguity_score: [0, null], workflow_complexity_score: [0, null], workflow_scheduled_next_mode: ["", null], last_completion_decision_code: ["", null], last_completion_decision_summary: ["", null], last_turn_transition_summary: ["", null], last_turn_transition_kind: ["", null], last_turn_transition_reason_code: ["", null] };

/** How many rules there are. */
export interface RuleCounts {
  /** Rules of this kind. */
  allow?: number;
  /** Rules of this kind. */
  ask?: number;
  /** Rules of this kind. */
  deny?: number;
}
export const RuleCounts: Shape<RuleCounts> = { allow: [0, undefined], ask: [0, undefined], deny: [0, undefined] };

/** Changes the state of a record: absent keeps, null clears. */
export interface PatchState {
  /** What is being done: the first user message unless set. */
  current_task?: string | null;
  /** Who drives the thread. */
  runtime_owner_type?: string | null;
  /** The same in small letters and dashes. */
  runtime_owner_path?: string | null;
  /** Such as execute, the default, plan or clarify. */
  workflow_mode?: string | null;
  /** read-only, workspace-write, danger-full-access, prompt or allow. */
  permission_mode?: string | null;
  /** Whether somebody may be asked. */
  permission_prompting_enabled?: boolean | null;
  /** How many rules there are. */
  permission_rule_counts?: RuleCountsPatch | null;
  /** Where they come from. */
  permission_rules_source?: string | null;
  /** Such as native or react. */
  prompt_format?: string | null;
  /** The prompt's parts, in order. */
  prompt_sections?: string[] | null;
  /** The harness's definition of done. */
  active_dod_path?: string | null;
  /** Where it is in a turn. */
  active_turn_phase?: string | null;
  /** Why this workflow mode. */
  workflow_reason_code?: string | null;
  /** The same in words. */
  workflow_reason_summary?: string | null;
  /** How that was decided. */
  workflow_decision_kind?: string | null;
  /** How unclear the task is. */
  workflow_ambiguity_score?: number | null;
  /** How complex it is. */
  workflow_complexity_score?: number | null;
  /** The mode that comes next. */
  workflow_scheduled_next_mode?: string | null;
  /** Why the last turn went on or ended; what the trace is projected for. */
  last_completion_decision_code?: string | null;
  /** The same in words. */
  last_completion_decision_summary?: string | null;
  /** The last step of the turn. */
  last_turn_transition_summary?: string | null;
  /** Its kind. */
  last_turn_transition_kind?: string | null;
  /** Its reason. */
  last_turn_transition_reason_code?: string | null;
}
export const PatchState: Shape<PatchState> = { current_task: ["", null], runtime_owner_type: ["", null], runtime_owner_path: ["", null], workflow_mode: ["", null], permission_mode: ["", null], permission_prompting_enabled: [false, null], permission_rule_counts: [() => RuleCountsPatch, null], permission_rules_source: ["", null], prompt_format: ["", null], prompt_sections: [""], active_dod_path: ["", null], active_turn_phase: ["", null], workflow_reason_code: ["", null], workflow_reason_summary: ["", null], workflow_decision_kind: ["", null], workflow_ambiguity_score: [0, null], workflow_complexity_score: [0, null], workflow_scheduled_next_mode: ["", null], last_completion_decision_code: ["", null], last_completion_decision_summary: ["", null], last_turn_transition_summary: ["", null], last_turn_transition_kind: ["", null], last_turn_transition_reason_code: ["", null] };

/** How many rules there are. */
export interface RuleCountsPatch {
  /** Rules of this kind. */
  allow?: number;
  /** Rules of this kind. */
  deny?: number;
  /** Rules of this kind. */
  ask?: number;
}
export const RuleCountsPatch: Shape<RuleCountsPatch> = { allow: [0, undefined], deny: [0, undefined], ask: [0, undefined] };

/** Says where a piece of evidence comes from. */
export interface Provenance {
  /** Its kind, such as verification. */
  category?: string;
  /** Where it is from; cmd_ID cites a command of the thread. */
  source?: string;
  /** It in a sentence. */
  summary?: string;
  /** supports, missing, contradicts, context, or another word. */
  status?: string;
  /** What it is about. */
  subject?: string | null;
  /** More of it. */
  detail?: string | null;
  /** A command of a terminal of the thread. */
  command_id?: string;
}
export const Provenance: Shape<Provenance> = { category: ["", undefined], source: ["", undefined], summary: ["", undefined], status: ["", undefined], subject: ["", null], detail: ["", null], command_id: ["", undefined] };

/** A decision of the harness. Keys that are not known are kept. */
export interface TimelineEntry {
  /** When, as the harness wrote it. */
  timestamp?: string;
  /** What was decided about, an open word such as route or completion_check. */
  kind?: string;
  /** The workflow mode. */
  mode?: string;
  /** Why, for programs. */
  reason_code?: string;
  /** Why, for people. */
  summary?: string;
  /** How. */
  decision_kind?: string | null;
  /** The score of the mode that was taken, exact. */
  route_score?: number | null;
  /** The second best. */
  runner_up_mode?: string | null;
  /** Its score, exact. */
  runner_up_score?: number | null;
  /** What comes next. */
  scheduled_next_mode?: string | null;
  /** What is open. */
  unresolved_questions?: string[];
  /** The prompt's form. */
  prompt_format?: string | null;
  /** Its parts. */
  prompt_sections?: string[];
  /** The stage of completion. */
  policy_stage?: string | null;
  /** What became of it there. */
  policy_outcome?: string | null;
  /** Evidence in words. */
  evidence_summary?: string[];
  /** Where it comes from. */
  evidence_provenance?: Provenance[];
  /** Signals. */
  signal_summary?: string[];
  /** What verification saw. */
  verification_observations?: unknown[];
  /** The stage of clarifying. */
  clarify_stage?: string | null;
  /** What presses. */
  clarify_pressure_kind?: string | null;
  /** Whether that is over. */
  pressure_pass_complete?: boolean | null;
  /** What is missing. */
  missing_readiness_gates?: string[];
  /** Files. */
  artifact_paths?: string[];
  [key: string]: unknown;
}
export const TimelineEntry: Shape<TimelineEntry> = { timestamp: ["", undefined], kind: ["", undefined], mode: ["", undefined], reason_code: ["", undefined], summary: ["", undefined], decision_kind: ["", null], route_score: [0, null], runner_up_mode: ["", null], runner_up_score: [0, null], scheduled_next_mode: ["", null], unresolved_questions: [""], prompt_format: ["", null], prompt_sections: [""], policy_stage: ["", null], policy_outcome: ["", null], evidence_summary: [""], evidence_provenance: [() => Provenance], signal_summary: [""], verification_observations: [null], clarify_stage: ["", null], clarify_pressure_kind: ["", null], pressure_pass_complete: [false, null], missing_readiness_gates: [""], artifact_paths: [""] };

/** Has decisions in order. */
export interface Timeline {
  /** The number of the first that is there; 0 of none. */
  first_seq: number;
  /** They. */
  timeline: TimelineEntry[];
}
export const Timeline: Shape<Timeline> = { first_seq: 0, timeline: [() => TimelineEntry] };

/** A step in the completion of a turn. */
export interface TraceEntry {
  /** The stage. */
  stage?: string;
  /** What became of it there. */
  outcome?: string;
  /** Why, for programs. */
  decision_code?: string;
  /** Why, for people. */
  decision_summary?: string;
  /** Evidence in words. */
  evidence_summary?: string[];
  /** Where it comes from. */
  evidence_provenance?: Provenance[];
}
export const TraceEntry: Shape<TraceEntry> = { stage: ["", undefined], outcome: ["", undefined], decision_code: ["", undefined], decision_summary: ["", undefined], evidence_summary: [""], evidence_provenance: [() => Provenance] };

/** Has the steps in the completion of a turn. */
export interface Trace {
  /** It is projected from the timeline. */
  derived: boolean;
  /** The steps in order. */
  completion_trace: TraceEntry[];
}
export const Trace: Shape<Trace> = { derived: false, completion_trace: [() => TraceEntry] };

/** A line of a ledger. */
export interface LedgerItem {
  /** The line; one without text is left out. */
  text?: string;
  /** Such as tracked, changed or contradicted. */
  status?: string;
  /** When it came. */
  introduced_phase?: string | null;
  /** When it changed. */
  updated_phase?: string | null;
  /** Why. */
  evidence?: string[];
}
export const LedgerItem: Shape<LedgerItem> = { text: ["", undefined], status: ["", undefined], introduced_phase: ["", null], updated_phase: ["", null], evidence: [""] };

/** Has what the harness takes as given. */
export interface Ledger {
  /** What is assumed. */
  assumptions?: LedgerItem[];
  /** What has to hold in the end. */
  acceptance_anchors?: LedgerItem[];
  /** What is not decided alone. */
  decision_boundaries?: LedgerItem[];
}
export const Ledger: Shape<Ledger> = { assumptions: [() => LedgerItem], acceptance_anchors: [() => LedgerItem], decision_boundaries: [() => LedgerItem] };

/** A system prompt of the harness. */
export interface Prompt {
  /** When, as the harness wrote it. */
  timestamp?: string;
  /** The workflow mode. */
  workflow_mode?: string;
  /** The permission mode. */
  permission_mode?: string;
  /** The task. */
  current_task?: string | null;
  /** The prompt's form. */
  prompt_format?: string | null;
  /** Its parts. */
  prompt_sections?: string[];
  /** The prompt, kept as given. */
  content: string;
}
export const Prompt: Shape<Prompt> = { timestamp: ["", undefined], workflow_mode: ["", undefined], permission_mode: ["", undefined], current_task: ["", null], prompt_format: ["", null], prompt_sections: [""], content: "" };

/** Has prompts in order. */
export interface PromptList {
  /** The number of the first that is there; 0 of none. */
  first_seq: number;
  /** They. */
  prompts: Prompt[];
}
export const PromptList: Shape<PromptList> = { first_seq: 0, prompts: [() => Prompt] };

/** The reply to a new prompt. */
export interface PromptAdded {
  /** Its number, or of the one it repeats. */
  seq: number;
  /** It repeats the newest. */
  skipped: boolean;
}
export const PromptAdded: Shape<PromptAdded> = { seq: 0, skipped: false };

/** Counts tokens, tools and turns. */
export interface Usage {
  /** Tokens read. */
  input_tokens: number;
  /** Tokens written. */
  output_tokens: number;
  /** Tokens put into a cache. */
  cache_creation_tokens: number;
  /** Tokens from a cache. */
  cache_read_tokens: number;
  /** Tools used. */
  tool_calls: number;
  /** Rounds. */
  iterations: number;
  /** Turns. */
  turns: number;
}
export const Usage: Shape<Usage> = { input_tokens: 0, output_tokens: 0, cache_creation_tokens: 0, cache_read_tokens: 0, tool_calls: 0, iterations: 0, turns: 0 };

/** A turn to append. */
export interface AppendTurn {
  /** What the harness answered. */
  final_response?: string;
  /** What the assistant said. */
  assistant_messages?: unknown;
  /** What tools said. */
  tool_result_messages?: unknown;
  /** Rounds. */
  iterations?: number;
  /** Tools used. */
  tool_calls?: number;
  /** What failed. */
  failures?: unknown;
  /** Whether it was verified. */
  verification_status?: string | null;
  /** What it used; prompt_tokens and completion_tokens are other names of input_tokens and output_tokens, unknown keys are ignored. */
  usage?: { [key: string]: unknown };
  /** How it went. */
  trace?: unknown;
  /** The definition of done, kept as given. */
  definition_of_done?: unknown;
  /** The workflow mode; the state's if absent. */
  workflow_mode?: string;
}
export const AppendTurn: Shape<AppendTurn> = { final_response: ["", undefined], assistant_messages: [null, undefined], tool_result_messages: [null, undefined], iterations: [0, undefined], tool_calls: [0, undefined], failures: [null, undefined], verification_status: ["", null], usage: { "": null }, trace: [null, undefined], definition_of_done: [null, undefined], workflow_mode: ["", undefined] };

/** The summary of a turn. */
export interface Turn {
  /** Its number, from 1. */
  seq: number;
  /** When it was appended. */
  created_at: string;
  /** What the harness answered. */
  final_response: string;
  /** What the assistant said. */
  assistant_messages?: unknown;
  /** What tools said. */
  tool_result_messages?: unknown;
  /** Rounds. */
  iterations: number;
  /** Tools used. */
  tool_calls: number;
  /** What failed. */
  failures?: unknown;
  /** Whether it was verified. */
  verification_status: string | null;
  usage: Usage;
  cumulative_usage: Usage;
  /** How it went. */
  trace?: unknown;
  /** The definition of done, kept as given. */
  definition_of_done: unknown;
  /** The workflow mode; the state's if absent. */
  workflow_mode: string;
  /** The record. */
  session_id: string;
}
export const Turn: Shape<Turn> = { seq: 0, created_at: "", final_response: "", assistant_messages: [null, undefined], tool_result_messages: [null, undefined], iterations: 0, tool_calls: 0, failures: [null, undefined], verification_status: ["", null], usage: () => Usage, cumulative_usage: () => Usage, trace: [null, undefined], definition_of_done: null, workflow_mode: "", session_id: "" };

/** Has turns in order. */
export interface TurnList {
  /** They. */
  turns: Turn[];
}
export const TurnList: Shape<TurnList> = { turns: [() => Turn] };

/** Says what a summary replaces. */
export interface Compaction {
  /** How many there have been. */
  count: number;
  /** Messages that are behind the summary. */
  removed_message_count: number;
  /** The summary. */
  summary: string;
  /** Estimated tokens before it. */
  original_input_tokens: number;
  /** Estimated tokens after it. */
  compressed_input_tokens: number;
}
export const Compaction: Shape<Compaction> = { count: 0, removed_message_count: 0, summary: "", original_input_tokens: 0, compressed_input_tokens: 0 };

/** A compaction with its summary message. */
export interface Archive {
  /** When. */
  created_at: string;
  /** The number of the last message that is behind the summary. */
  up_to: number;
  /** The message that stands for them. */
  message: Message | null;
  /** How many there have been. */
  count: number;
  /** Messages that are behind the summary. */
  removed_message_count: number;
  /** The summary. */
  summary: string;
  /** Estimated tokens before it. */
  original_input_tokens: number;
  /** Estimated tokens after it. */
  compressed_input_tokens: number;
}
export const Archive: Shape<Archive> = { created_at: "", up_to: 0, message: [() => Message, null], count: 0, removed_message_count: 0, summary: "", original_input_tokens: 0, compressed_input_tokens: 0 };

/** Has compactions in order. */
export interface CompactionList {
  /** They. */
  compactions: Archive[];
}
export const CompactionList: Shape<CompactionList> = { compactions: [() => Archive] };

/** Says how to compact a record. */
export interface Compact {
  /** Messages that stay as they are; 0 is 4. */
  keep_last?: number;
  /** Estimated tokens from which on it is worth it; 0 is 100000. */
  threshold?: number;
  /** Tokens of the model: the threshold is three quarters of it. */
  context_window?: number;
  /** The summary, instead of one that is made here. */
  summary?: string | null;
}
export const Compact: Shape<Compact> = { keep_last: [0, undefined], threshold: [0, undefined], context_window: [0, undefined], summary: ["", null] };

/** Says whether there was a compaction, and which. */
export interface Compacted {
  /** Whether anything was archived. */
  compacted: boolean;
  /** When. */
  created_at?: string;
  /** The number of the last message that is behind the summary. */
  up_to?: number;
  /** The message that stands for them. */
  message?: Message | null;
  /** How many there have been. */
  count?: number;
  /** Messages that are behind the summary. */
  removed_message_count?: number;
  /** The summary. */
  summary?: string;
  /** Estimated tokens before it. */
  original_input_tokens?: number;
  /** Estimated tokens after it. */
  compressed_input_tokens?: number;
}
export const Compacted: Shape<Compacted> = { compacted: false, created_at: ["", undefined], up_to: [0, undefined], message: [() => Message, null], count: [0, undefined], removed_message_count: [0, undefined], summary: ["", undefined], original_input_tokens: [0, undefined], compressed_input_tokens: [0, undefined] };

/** The metadata of a record. */
export interface RecordHead {
  /** The record's id. */
  session_id: string;
  /** Its thread. */
  thread_id: string;
  /** Whether it is the one that is written to. */
  current: boolean;
  /** When it began. */
  created_at: string;
  /** When it changed last. */
  updated_at: string;
  /** Messages ever appended. */
  messages: number;
  /** Messages up to this number are behind a summary. */
  archived: number;
  /** About what the others have in the file. */
  bytes: number;
  /** Entries of the timeline. */
  timeline: number;
  /** Prompts. */
  prompts: number;
  /** Turns. */
  turns: number;
  /** Messages in the mailbox. */
  waiting: number;
  /** Compactions. */
  compactions: number;
  usage: Usage;
}
export const RecordHead: Shape<RecordHead> = { session_id: "", thread_id: "", current: false, created_at: "", updated_at: "", messages: 0, archived: 0, bytes: 0, timeline: 0, prompts: 0, turns: 0, waiting: 0, compactions: 0, usage: () => Usage };

/** Has the records of a thread. */
export interface RecordList {
  /** The thread. */
  thread_id: string;
  /** The newest first. */
  records: RecordHead[];
}
export const RecordList: Shape<RecordList> = { thread_id: "", records: [() => RecordHead] };

/** A whole record as its file has it, with the keys of a Loader record of version 11; keys that are not known are kept. Without ?format=loader it has thread_id and last_turn_summary, too. */
export interface Record {
  /** What is being done: the first user message unless set. */
  current_task: string | null;
  /** Who drives the thread. */
  runtime_owner_type: string | null;
  /** The same in small letters and dashes. */
  runtime_owner_path: string | null;
  /** Such as execute, the default, plan or clarify. */
  workflow_mode: string;
  /** read-only, workspace-write, danger-full-access, prompt or allow. */
  permission_mode: string;
  /** Whether somebody may be asked. */
  permission_prompting_enabled: boolean;
  /** How many rules there are. */
  permission_rule_counts: RuleCounts;
  /** Where they come from. */
  permission_rules_source: string | null;
  /** Such as native or react. */
  prompt_format: string | null;
  /** The prompt's parts, in order. */
  prompt_sections: string[];
  /** The harness's definition of done. */
  active_dod_path: string | null;
  /** Where it is in a turn. */
  active_turn_phase: string | null;
  /** Why this workflow mode. */
  workflow_reason_code: string | null;
  /** The same in words. */
  workflow_reason_summary: string | null;
  /** How that was decided. */
  workflow_decision_kind: string | null;
  /** How unclear the task is. */
  workflow_ambiguity_score: number | null;
  /** How complex it is. */
  workflow_complexity_score: number | null;
  /** The mode that comes next. */
  workflow_scheduled_next_mode: string | null;
  /** Why the last turn went on or ended; what the trace is projected for. */
  last_completion_decision_code: string | null;
  /** The same in words. */
  last_completion_decision_summary: string | null;
  /** The last step of the turn. */
  last_turn_transition_summary: string | null;
  /** Its kind. */
  last_turn_transition_kind: string | null;
  /** Its reason. */
  last_turn_transition_reason_code: string | null;
  /** Its thread; not in the file. */
  thread_id?: string;
  /** The newest turn; not in the file. */
  last_turn_summary?: Turn | null;
  /** That of the file's form. */
  version: number;
  /** The record's id; null when there is none yet. */
  session_id: string | null;
  /** When it began; null when there is none yet. */
  created_at: string | null;
  /** When it changed last; null when there is none yet. */
  updated_at: string | null;
  /** Those that are not archived; after a compaction the first is the summary. */
  messages: Message[];
  /** The sum of all turns. */
  usage: { [key: string]: unknown };
  /** The newest 16 prompts. */
  prompt_history: Prompt[];
  /** The newest 24 decisions. */
  workflow_timeline: TimelineEntry[];
  workflow_ledger: Ledger;
  /** The newest compaction. */
  compaction: Compaction | null;
  /** Absent when the timeline tells it. */
  completion_trace?: TraceEntry[];
  [key: string]: unknown;
}
export const Record: Shape<Record> = { current_task: ["", null], runtime_owner_type: ["", null], runtime_owner_path: ["", null], workflow_mode: "", permission_mode: "", permission_prompting_enabled: false, permission_rule_counts: () => RuleCounts, permission_rules_source: ["", null], prompt_format: ["", null], prompt_sections: [""], active_dod_path: ["", null], active_turn_phase: ["", null], workflow_reason_code: ["", null], workflow_reason_summary: ["", null], workflow_decision_kind: ["", null], workflow_ambiguity_score: [0, null], workflow_complexity_score: [0, null], workflow_scheduled_next_mode: ["", null], last_completion_decision_code: ["", null], last_completion_decision_summary: ["", null], last_turn_transition_summary: ["", null], last_turn_transition_kind: ["", null], last_turn_transition_reason_code: ["", null], thread_id: ["", undefined], last_turn_summary: [() => Turn, null], version: 0, session_id: ["", null], created_at: ["", null], updated_at: ["", null], messages: [() => Message], usage: { "": null }, prompt_history: [() => Prompt], workflow_timeline: [() => TimelineEntry], workflow_ledger: () => Ledger, compaction: [() => Compaction, null], completion_trace: [() => TraceEntry] };

/** A record file. What is missing or odd has the default of a new record. */
export interface ImportRecord {
  [key: string]: unknown;
}
export const ImportRecord: Shape<ImportRecord> = {  };

/** Says who drives the thread. */
export interface Attach {
  /** A type, such as RuntimeHandle. */
  owner_type: string;
}
export const Attach: Shape<Attach> = { owner_type: "" };

/** The state of a record for the driver of its thread. */
export interface Attached {
  /** The record. */
  session_id: string;
  /** The thread. */
  thread_id: string;
  /** What is being done: the first user message unless set. */
  current_task: string | null;
  /** Who drives the thread. */
  runtime_owner_type: string | null;
  /** The same in small letters and dashes. */
  runtime_owner_path: string | null;
  /** Such as execute, the default, plan or clarify. */
  workflow_mode: string;
  /** read-only, workspace-write, danger-full-access, prompt or allow. */
  permission_mode: string;
  /** Whether somebody may be asked. */
  permission_prompting_enabled: boolean;
  /** How many rules there are. */
  permission_rule_counts: RuleCounts;
  /** Where they come from. */
  permission_rules_source: string | null;
  /** Such as native or react. */
  prompt_format: string | null;
  /** The prompt's parts, in order. */
  prompt_sections: string[];
  /** The harness's definition of done. */
  active_dod_path: string | null;
  /** Where it is in a turn. */
  active_turn_phase: string | null;
  /** Why this workflow mode. */
  workflow_reason_code: string | null;
  /** The same in words. */
  workflow_reason_summary: string | null;
  /** How that was decided. */
  workflow_decision_kind: string | null;
  /** How unclear the task is. */
  workflow_ambiguity_score: number | null;
  /** How complex it is. */
  workflow_complexity_score: number | null;
  /** The mode that comes next. */
  workflow_scheduled_next_mode: string | null;
  /** Why the last turn went on or ended; what the trace is projected for. */
  last_completion_decision_code: string | null;
  /** The same in words. */
  last_completion_decision_summary: string | null;
  /** The last step of the turn. */
  last_turn_transition_summary: string | null;
  /** Its kind. */
  last_turn_transition_kind: string | null;
  /** Its reason. */
  last_turn_transition_reason_code: string | null;
  /** The newest turn. */
  last_turn_summary: Turn | null;
}
export const Attached: Shape<Attached> = { session_id: "", thread_id: "", current_task: ["", null], runtime_owner_type: ["", null], runtime_owner_path: ["", null], workflow_mode: "", permission_mode: "", permission_prompting_enabled: false, permission_rule_counts: () => RuleCounts, permission_rules_source: ["", null], prompt_format: ["", null], prompt_sections: [""], active_dod_path: ["", null], active_turn_phase: ["", null], workflow_reason_code: ["", null], workflow_reason_summary: ["", null], workflow_decision_kind: ["", null], workflow_ambiguity_score: [0, null], workflow_complexity_score: [0, null], workflow_scheduled_next_mode: ["", null], last_completion_decision_code: ["", null], last_completion_decision_summary: ["", null], last_turn_transition_summary: ["", null], last_turn_transition_kind: ["", null], last_turn_transition_reason_code: ["", null], last_turn_summary: [() => Turn, null] };

/** A message for the driver of the thread. */
export interface Steer {
  /** The text. */
  message: string;
}
export const Steer: Shape<Steer> = { message: "" };

/** A number in a list. */
export interface Seq {
  /** It, from 1. */
  seq: number;
}
export const Seq: Shape<Seq> = { seq: 0 };

/** Has the messages that waited. */
export interface Drained {
  /** In the order in which they were left. */
  messages: string[];
}
export const Drained: Shape<Drained> = { messages: [""] };

/** The whole state: resize to cols x rows, reset, write data. First on every connect that does not `resume`, and again whenever this viewer missed something. */
export interface EventSnapshot {
  /** The event; on a WebSocket only, an event stream has it in its `event:` line. */
  event?: "snapshot";
  /** Id of the terminal; on a WebSocket only. */
  pty?: string;
  /** As in ScreenANSI. */
  data: string;
  /** Columns of the screen, in cells. */
  cols: number;
  /** Rows of the screen, in cells. */
  rows: number;
  /** Position: output bytes of the terminal, counted from 0 at its creation, that are part of this. */
  seq: number;
  /** The width table the receiver must load: xterm's addon-unicode11 or addon-unicode-graphemes. */
  unicode: "11" | "15-graphemes";
  /** `connect`; `lag`: the viewer fell behind; `resize`: the screen was rearranged in a way a viewer cannot repeat; `restore`: output is lost, so that nobody can repeat what it did. */
  reason: "connect" | "lag" | "resize" | "restore";
  /** True for the screen alone, without its history: for a viewer that is behind, which gets these instead of the output, and a whole snapshot once it keeps up. The receiver does the same with it. */
  partial?: boolean;
  /** Id of this connection among the viewers, see Viewer; in the first one. */
  viewer?: string;
}
export const EventSnapshot: Shape<EventSnapshot> = { event: ["", undefined], pty: ["", undefined], data: "", cols: 0, rows: 0, seq: 0, unicode: "", reason: "", partial: [false, undefined], viewer: ["", undefined] };

/** Replaces the first snapshot when `since` can be continued: keep the screen, resize to cols x rows. What was missed follows, `data` and `resize` in order, then a `meta` with what stands now. */
export interface EventResume {
  /** The event; on a WebSocket only, an event stream has it in its `event:` line. */
  event?: "resume";
  /** Id of the terminal; on a WebSocket only. */
  pty?: string;
  /** Columns of the screen at that position, in cells: what the viewer should have already. */
  cols: number;
  /** Rows of the screen at that position, in cells. */
  rows: number;
  /** The `since` of the request. */
  seq: number;
  /** Id of this connection among the viewers, see Viewer. */
  viewer?: string;
}
export const EventResume: Shape<EventResume> = { event: ["", undefined], pty: ["", undefined], cols: 0, rows: 0, seq: 0, viewer: ["", undefined] };

/** Output since the last event: write it. Terminal queries are cut out of it; a byte that is not UTF-8 is one U+FFFD; a character is never split. The bytes of a character that the program did not finish are one U+FFFD each, in a last event before `exit`. */
export interface EventData {
  /** The event; on a WebSocket only, an event stream has it in its `event:` line. */
  event?: "data";
  /** Id of the terminal; on a WebSocket only. */
  pty?: string;
  /** Text with escape sequences. */
  data: string;
  /** Output bytes applied up to and including this event. */
  seq: number;
}
export const EventData: Shape<EventData> = { event: ["", undefined], pty: ["", undefined], data: "", seq: 0 };

/** A change of the size at this place of the stream: resize. */
export interface EventResize {
  /** The event; on a WebSocket only, an event stream has it in its `event:` line. */
  event?: "resize";
  /** Id of the terminal; on a WebSocket only. */
  pty?: string;
  /** Columns of the screen, in cells. */
  cols: number;
  /** Rows of the screen, in cells. */
  rows: number;
  /** Position: output bytes of the terminal, counted from 0 at its creation, that are part of this. */
  seq: number;
}
export const EventResize: Shape<EventResize> = { event: ["", undefined], pty: ["", undefined], cols: 0, rows: 0, seq: 0 };

/** Has changes that are not output; only what changed is there. It has no `id:` line on an event stream. */
export interface EventMeta {
  /** The event; on a WebSocket only, an event stream has it in its `event:` line. */
  event?: "meta";
  /** Id of the terminal; on a WebSocket only. */
  pty?: string;
  /** The new title. */
  title?: string;
  /** The directory the program reported (OSC 7). */
  cwd?: string;
  /** The bell rang. */
  bell?: true;
  notify?: Notification;
  /** How many watch now. */
  viewers?: number;
  /** Number of the viewer whose wish decides the size. Absent beside `size` when nobody's does any more. */
  owner?: number;
  /** When who decides has changed: the size that comes of it. */
  size?: Size;
  clipboard?: Clipboard;
  presence?: Presence;
  /** When who types has changed; also behind the first snapshot of a locked terminal. */
  control?: Control;
  input?: InputMode;
  /** Id of this connection among the viewers, behind the first event of a binary connection that says its `client`: the frame of a snapshot has no room for it. */
  viewer?: string;
}
export const EventMeta: Shape<EventMeta> = { event: ["", undefined], pty: ["", undefined], title: ["", undefined], cwd: ["", undefined], bell: [false, undefined], notify: [() => Notification, undefined], viewers: [0, undefined], owner: [0, undefined], size: [() => Size, undefined], clipboard: [() => Clipboard, undefined], presence: [null, undefined], control: [() => Control, undefined], input: [() => InputMode, undefined], viewer: ["", undefined] };

/** A message for a person (OSC 9, OSC 777). */
export interface Notification {
  /** Its title; absent when it has none. */
  title?: string;
  /** Its text, at most 4096 bytes. */
  body: string;
}
export const Notification: Shape<Notification> = { title: ["", undefined], body: "" };

/** What the program wants on the clipboard (OSC 52), for viewers that may type only. Ask the user before you put it there. A viewer that is slow gets the last one alone. */
export interface Clipboard {
  /** Where to, in the letters of OSC 52: `c` is the clipboard, and so is an empty text; `p` the primary selection. */
  selection: string;
  /** The text in base64, at most 1 MiB before it was encoded. Empty means to clear it. */
  data_b64: string;
}
export const Clipboard: Shape<Clipboard> = { selection: "", data_b64: "" };

/** Comes when the program has ended and all its output was sent: the last event of a connection to its terminal, and for a page of this generation. */
export interface EventExit {
  /** Its exit code, 0..255; null when it is not known: `reason` is `lost` then. With a signal, 128 plus the signal's number. */
  code: number | null;
  /** Name of the signal that ended it, without SIG, such as `KILL`; "" when none did. */
  signal: string;
  /** `exit`: by itself; `signal`: by a signal from elsewhere; `killed`: somebody deleted the terminal; `memory`: the kernel, at the limit `memory_bytes`; `lost`: nobody saw it, and no code is made up. */
  reason: "exit" | "signal" | "killed" | "memory" | "lost";
  /** The event; on a WebSocket only, an event stream has it in its `event:` line. */
  event?: "exit";
  /** Id of the terminal; on a WebSocket only. */
  pty?: string;
  /** All output bytes of the terminal, of all generations. */
  seq: number;
}
export const EventExit: Shape<EventExit> = { code: [0, null], signal: "", reason: "", event: ["", undefined], pty: ["", undefined], seq: 0 };

/** Refuses a message of the viewer; the connection goes on. On a WebSocket only. */
export interface EventError {
  /** The event. */
  event: "error";
  /** The terminal the message named; absent when it named none, and on a terminal's own WebSocket. */
  pty?: string;
  /** One sentence for a person. */
  error: string;
  /** As in Error. */
  code: string;
  /** As in Error; absent when there is nothing more. */
  details?: ErrorDetails;
}
export const EventError: Shape<EventError> = { event: "", pty: ["", undefined], error: "", code: "", details: [() => ErrorDetails, undefined] };

/** The last event of a viewer whose ticket or login has ended. On an event stream only; a WebSocket closes with CloseUnauthorized. */
export interface EventExpired {
  /** One sentence for a person. */
  error: string;
}
export const EventExpired: Shape<EventExpired> = { error: "" };

/** The last event of a viewer that somebody has removed; do not connect again by yourself. On an event stream and, for one terminal of several, on GET /ws; another WebSocket closes with CloseKicked. */
export interface EventKicked {
  /** The event; on a WebSocket only, an event stream has it in its `event:` line. */
  event?: "kicked";
  /** Id of the terminal; on a WebSocket only. */
  pty?: string;
  /** One sentence for a person. */
  error: string;
}
export const EventKicked: Shape<EventKicked> = { event: ["", undefined], pty: ["", undefined], error: "" };

/** The answer to a ping. On a WebSocket only. */
export interface EventPong {
  /** The event. */
  event: "pong";
  /** What the ping had; absent when it had none. */
  t?: unknown;
}
export const EventPong: Shape<EventPong> = { event: "", t: [null, undefined] };

/** Has all terminals: first on every connect of a page, and again after changes, at most twice a second. On GET /ws only. */
export interface EventList {
  /** The event. */
  event: "list";
  /** All terminals, oldest first. */
  items: Terminal[];
}
export const EventList: Shape<EventList> = { event: "", items: [() => Terminal] };

/** Shows that a page is logged in. A WebSocket that a cookie opens needs it as its first message, within 5 seconds, and tells nothing before; others ignore it. */
export interface CommandAuth {
  /** The command. */
  type: "auth";
  /** The secret that the login gave the page. */
  page: string;
}
export const CommandAuth: Shape<CommandAuth> = { type: "", page: "" };

/** Types text or bytes: exactly one of `data` and `data_b64`. */
export interface CommandInput {
  /** The command. */
  type: "input";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
  /** Text. */
  data?: string;
  /** Any bytes in base64. */
  data_b64?: string;
}
export const CommandInput: Shape<CommandInput> = { type: "", pty: ["", undefined], data: ["", undefined], data_b64: ["", undefined] };

/** Presses keys. */
export interface CommandKeys {
  /** The command. */
  type: "keys";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
  /** As in Keys. */
  keys: string[];
}
export const CommandKeys: Shape<CommandKeys> = { type: "", pty: ["", undefined], keys: [""] };

/** Pastes text. */
export interface CommandPaste {
  /** The command. */
  type: "paste";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
  /** The text. */
  data: string;
}
export const CommandPaste: Shape<CommandPaste> = { type: "", pty: ["", undefined], data: "" };

/** Requests a size for this viewer; `size_policy` says whether the terminal takes it. Less than 20 columns or 5 rows count as those, more than 1000 as 1000. */
export interface CommandResize {
  /** The command. */
  type: "resize";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
  /** Columns. */
  cols: number;
  /** Rows. */
  rows: number;
}
export const CommandResize: Shape<CommandResize> = { type: "", pty: ["", undefined], cols: 0, rows: 0 };

/** Says that somebody looks at this viewer now: under `latest` its size counts. */
export interface CommandFocus {
  /** The command. */
  type: "focus";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
}
export const CommandFocus: Shape<CommandFocus> = { type: "", pty: ["", undefined] };

/** Says that nobody looks at this viewer now. It gets every event, but is not counted among the viewers and its size decides nothing. */
export interface CommandHide {
  /** The command. */
  type: "hide";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
}
export const CommandHide: Shape<CommandHide> = { type: "", pty: ["", undefined] };

/** Ends `hide`: somebody looks at this viewer again. */
export interface CommandShow {
  /** The command. */
  type: "show";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
}
export const CommandShow: Shape<CommandShow> = { type: "", pty: ["", undefined] };

/** Changes who types, as POST …/control does; this viewer acts. */
export interface CommandControl {
  /** The command. */
  type: "control";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
  /** As in ControlTerminal. */
  action: "lock" | "unlock" | "request" | "grant" | "deny";
  /** As in ControlTerminal. */
  viewer?: string;
}
export const CommandControl: Shape<CommandControl> = { type: "", pty: ["", undefined], action: "", viewer: ["", undefined] };

/** Asks for a snapshot with the history, which a viewer with `history=lazy` has not got. */
export interface CommandHistory {
  /** The command. */
  type: "history";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
}
export const CommandHistory: Shape<CommandHistory> = { type: "", pty: ["", undefined] };

/** Says which colours this viewer draws where the program has set none. Programs that ask are told those of the viewer whose size counts; without one, and of one that has not said, xterm.js's own on black. */
export interface CommandColors {
  /** The command. */
  type: "colors";
  /** Id of a terminal this page is attached to; on GET /ws only. */
  pty?: string;
  /** Of text. */
  foreground: string;
  /** Behind text; it decides whether the scheme is dark. */
  background: string;
  /** Of the cursor. */
  cursor: string;
  /** The first 16 of the palette. */
  palette?: string[];
}
export const CommandColors: Shape<CommandColors> = { type: "", pty: ["", undefined], foreground: "", background: "", cursor: "", palette: [""] };

/** Asks for a pong. */
export interface CommandPing {
  /** The command. */
  type: "ping";
  /** Anything of at most 64 bytes of JSON; comes back in the pong. */
  t?: unknown;
}
export const CommandPing: Shape<CommandPing> = { type: "", t: [null, undefined] };

/** Watches a terminal; it begins with a snapshot, or with `resume`. Attaching again starts over. At most 64 at once. On GET /ws only. */
export interface CommandAttach {
  /** The command. */
  type: "attach";
  /** Id of the terminal. Events name it by its id. */
  pty: string;
  /** Columns this viewer would like; goes with rows. */
  cols?: number;
  /** Rows this viewer would like. */
  rows?: number;
  /** Position to go on from, as the `since` of a stream. */
  since?: number;
  /** Begin as after `hide`. */
  hidden?: boolean;
  /** `lazy`: the screen without its history, until `history`. */
  history?: "lazy";
}
export const CommandAttach: Shape<CommandAttach> = { type: "", pty: "", cols: [0, undefined], rows: [0, undefined], since: [0, undefined], hidden: [false, undefined], history: ["", undefined] };

/** Ends the watching of a terminal. On GET /ws only. */
export interface CommandDetach {
  /** The command. */
  type: "detach";
  /** Id of the terminal. */
  pty: string;
}
export const CommandDetach: Shape<CommandDetach> = { type: "", pty: "" };

/** What JupyterLab says when it wants a terminal. */
export interface StartTerminado {
  /** Not used: the terminal is there. */
  name?: string;
  /** Not used. */
  cwd?: string;
}
export const StartTerminado: Shape<StartTerminado> = { name: ["", undefined], cwd: ["", undefined] };

/** A terminal as JupyterLab knows it. */
export interface TerminadoTerminal {
  /** The terminal's id or name, as the path has it. */
  name: string;
  /** When it printed or was typed into last. */
  last_activity: string;
}
export const TerminadoTerminal: Shape<TerminadoTerminal> = { name: "", last_activity: "" };

/** What the page of ttyd asks for before it connects. */
export interface TTYDToken {
  /** Empty: the request of the WebSocket itself shows who asks. */
  token: string;
}
export const TTYDToken: Shape<TTYDToken> = { token: "" };

/** The durable handle of compute. */
export interface Lease {
  /** The thread it was made for; absent when it was asked for by itself. */
  thread_id?: string;
  /** Its id. */
  lease_id: string;
  /** Its provider. */
  provider_name: string;
  /** The newest compute behind it; null before the first. */
  instance: Instance | null;
  /** When it was made. */
  created_at: string;
  /** When it changed last. */
  updated_at: string;
  /** What was asked for last. */
  desired_state: "running" | "paused" | "destroyed";
  observed_state: ComputeState;
  /** `recovering`: compute is being made. `expired`: destroyed; the next use makes other compute. */
  status: "active" | "recovering" | "expired";
  /** Grows with every event. */
  version: number;
  /** What the provider failed at last; empty when it did not. */
  last_error: string;
}
export const Lease: Shape<Lease> = { thread_id: ["", undefined], lease_id: "", provider_name: "", instance: [() => Instance, null], created_at: "", updated_at: "", desired_state: "", observed_state: "", status: "", version: 0, last_error: "" };

/** The newest compute behind it; null before the first. */
export interface Instance {
  /** The provider's own id. */
  instance_id: string;
  state: ComputeState;
  /** When it was made. */
  started_at: string;
}
export const Instance: Shape<Instance> = { instance_id: "", state: "", started_at: "" };

/** Has leases. */
export interface LeaseList {
  /** The oldest first. */
  leases: Lease[];
  /** The `after` of the next part; absent at the end. */
  next?: string;
}
export const LeaseList: Shape<LeaseList> = { leases: [() => Lease], next: ["", undefined] };

/** Asks for a new lease. Nothing runs until it is used. */
export interface CreateLease {
  /** Its id; empty or absent: the server chooses one. */
  id?: string;
  /** Its provider; absent: this machine (`local`). */
  provider_name?: string;
  /** Settings of the provider's own. Never told again. */
  config?: { [key: string]: unknown };
}
export const CreateLease: Shape<CreateLease> = { id: ["", undefined], provider_name: ["", undefined], config: { "": null } };

/** An entry of a lease's log: what was requested, observed or failed. */
export interface LeaseEvent {
  /** Its number. */
  seq: number;
  /** The lease. */
  lease_id: string;
  /** What happened. */
  type: "intent.ensure_running" | "intent.pause" | "intent.resume" | "intent.destroy" | "observe.status" | "provider.error";
  /** Who: api, reaper, use, webhook, recovery. */
  source: string;
  from: ComputeState;
  to: ComputeState;
  /** The provider's id of the compute. */
  instance_id?: string;
  /** Why it did not happen. */
  error?: string;
  /** When. */
  at: string;
}
export const LeaseEvent: Shape<LeaseEvent> = { seq: 0, lease_id: "", type: "", source: "", from: "", to: "", instance_id: ["", undefined], error: ["", undefined], at: "" };

/** The log of a lease. */
export interface LeaseEvents {
  /** The lease. */
  lease_id: string;
  /** The oldest first. */
  events: LeaseEvent[];
}
export const LeaseEvents: Shape<LeaseEvents> = { lease_id: "", events: [() => LeaseEvent] };

/** What compute uses; null is not known. */
export interface ComputeMetrics {
  /** Of one processor. */
  cpu_percent: number | null;
  /** Memory in use, in MB. */
  memory_used_mb: number | null;
  /** Memory there is, in MB. */
  memory_total_mb: number | null;
  /** Disk in use, in GB. */
  disk_used_gb: number | null;
  /** Disk there is, in GB. */
  disk_total_gb: number | null;
  /** Received, in kbit/s. */
  network_rx_kbps: number | null;
  /** Sent, in kbit/s. */
  network_tx_kbps: number | null;
}
export const ComputeMetrics: Shape<ComputeMetrics> = { cpu_percent: [0, null], memory_used_mb: [0, null], memory_total_mb: [0, null], disk_used_gb: [0, null], disk_total_gb: [0, null], network_rx_kbps: [0, null], network_tx_kbps: [0, null] };

/** Has the providers. */
export interface SandboxTypes {
  /** This machine first, then by name. */
  types: SandboxType[];
}
export const SandboxTypes: Shape<SandboxTypes> = { types: [() => SandboxType] };

/** A provider. */
export interface SandboxType {
  /** Its name. */
  name: string;
  /** It can be used now. */
  available: boolean;
  capabilities: Capabilities;
}
export const SandboxType: Shape<SandboxType> = { name: "", available: false, capabilities: () => Capabilities };

/** Say what a provider can do. */
export interface Capabilities {
  /** It can pause. */
  can_pause: boolean;
  /** It can resume. */
  can_resume: boolean;
  /** It can destroy. */
  can_destroy: boolean;
  /** It tells by webhooks what happens. */
  supports_webhook: boolean;
  /** It can be asked how compute is. */
  supports_status_probe: boolean;
  /** It has terminals. */
  pty: boolean;
  /** It has files. */
  files: boolean;
  /** It tells what compute uses. */
  metrics: boolean;
  /** Processes of paused compute go on when it is resumed. */
  memory_kept: boolean;
  /** How processes run there. */
  runtime_kind: string;
}
export const Capabilities: Shape<Capabilities> = { can_pause: false, can_resume: false, can_destroy: false, supports_webhook: false, supports_status_probe: false, pty: false, files: false, metrics: false, memory_kept: false, runtime_kind: "" };

/** Has leases with the threads that use them. */
export interface SandboxSessions {
  /** The oldest first. */
  sessions: SandboxSession[];
  /** The `after` of the next part; absent at the end. */
  next?: string;
}
export const SandboxSessions: Shape<SandboxSessions> = { sessions: [() => SandboxSession], next: ["", undefined] };

/** A lease with the threads that use it. */
export interface SandboxSession {
  /** Its name in the paths below: the lease's id. */
  session_id: string;
  /** The thread it was made for; absent when it was asked for by itself. */
  thread_id?: string;
  /** Its id. */
  lease_id: string;
  /** Its provider. */
  provider_name: string;
  /** The newest compute behind it; null before the first. */
  instance: Instance | null;
  /** When it was made. */
  created_at: string;
  /** When it changed last. */
  updated_at: string;
  /** What was asked for last. */
  desired_state: "running" | "paused" | "destroyed";
  observed_state: ComputeState;
  /** `recovering`: compute is being made. `expired`: destroyed; the next use makes other compute. */
  status: "active" | "recovering" | "expired";
  /** Grows with every event. */
  version: number;
  /** What the provider failed at last; empty when it did not. */
  last_error: string;
  /** Threads that use it; none: nobody does. */
  threads: string[];
}
export const SandboxSession: Shape<SandboxSession> = { session_id: "", thread_id: ["", undefined], lease_id: "", provider_name: "", instance: [() => Instance, null], created_at: "", updated_at: "", desired_state: "", observed_state: "", status: "", version: 0, last_error: "", threads: [""] };

/** Has commands of all terminals of a thread. */
export interface ThreadCommands {
  /** In the order in which they began. */
  commands: ThreadCommand[];
}
export const ThreadCommands: Shape<ThreadCommands> = { commands: [() => ThreadCommand] };

/** A command of a terminal of a thread. */
export interface ThreadCommand {
  /** Its id. */
  command_id: string;
  /** Its terminal. */
  terminal_id: string;
  /** The process that ran it. */
  runtime_id?: string;
  /** Its text. */
  command: string;
  /** Where it ran. */
  cwd: string;
  /** Its caller did not wait. */
  background: boolean;
  /** Its process. */
  pid?: number;
  status: CommandStatus;
  /** Null until it has one. */
  exit_code: number | null;
  /** What it wrote. */
  stdout_bytes: number;
  /** What it wrote to stderr. */
  stderr_bytes: number;
  /** Why the end of its session ended it: idle_timeout, max_duration, budget, destroyed or thread_deleted. Absent when it ended otherwise. */
  reason?: string;
  /** When it began. */
  started_at?: string;
  /** When it ended. */
  finished_at?: string;
}
export const ThreadCommand: Shape<ThreadCommand> = { command_id: "", terminal_id: "", runtime_id: ["", undefined], command: "", cwd: "", background: false, pid: [0, undefined], status: "", exit_code: [0, null], stdout_bytes: 0, stderr_bytes: 0, reason: ["", undefined], started_at: ["", undefined], finished_at: ["", undefined] };

/** One thing that happened to a thread. */
export interface ThreadEvent {
  /** The thread. */
  thread_id: string;
  /** Its number: 1, 2, 3, … A gap at the beginning means that older ones are no longer kept. 0: thread.deleted, which is told and not kept. */
  seq: number;
  /** What happened: thread.*, session.*, terminal.*, lease.*, runtime.*, command.*, permission.*, approval.*. */
  type: string;
  /** When. */
  at: string;
  data: ThreadEventData;
}
export const ThreadEvent: Shape<ThreadEvent> = { thread_id: "", seq: 0, type: "", at: "", data: () => ThreadEventData };

/** The subject of an event; its fields depend on the type. */
export interface ThreadEventData {
  /** A session. */
  session_id?: string;
  /** A terminal. */
  terminal_id?: string;
  /** A lease. */
  lease_id?: string;
  /** Compute. */
  instance_id?: string;
  /** A process of a terminal. */
  runtime_id?: string;
  /** A command. */
  command_id?: string;
  /** The first 1024 bytes of its text. */
  command?: string;
  /** The state before. */
  from?: string;
  /** The state after. */
  to?: string;
  /** Who, a provider, or a tool. */
  source?: string;
  /** Why. */
  reason?: string;
  /** What failed. */
  error?: string;
  /** A directory. */
  cwd?: string;
  /** Of a terminal's state, or the generation of a process. */
  version?: number;
  /** Of the process. */
  pid?: number;
  /** How it ended. */
  exit_code?: number;
  /** What ended it. */
  signal?: string;
  /** An approval. */
  approval_id?: string;
  /** When the session is over. */
  expires_at?: string;
}
export const ThreadEventData: Shape<ThreadEventData> = { session_id: ["", undefined], terminal_id: ["", undefined], lease_id: ["", undefined], instance_id: ["", undefined], runtime_id: ["", undefined], command_id: ["", undefined], command: ["", undefined], from: ["", undefined], to: ["", undefined], source: ["", undefined], reason: ["", undefined], error: ["", undefined], cwd: ["", undefined], version: [0, undefined], pid: [0, undefined], exit_code: [0, undefined], signal: ["", undefined], approval_id: ["", undefined], expires_at: ["", undefined] };

/** Has events of a thread. */
export interface ThreadEvents {
  /** The thread. */
  thread_id: string;
  /** The oldest first. */
  events: ThreadEvent[];
}
export const ThreadEvents: Shape<ThreadEvents> = { thread_id: "", events: [() => ThreadEvent] };

/** The reply to a webhook. */
export interface Matched {
  /** It was about an instance of this server's. */
  matched: boolean;
}
export const Matched: Shape<Matched> = { matched: false };

/** Has the webhooks that came. */
export interface HookEvents {
  /** The newest first. */
  events: HookEvent[];
}
export const HookEvents: Shape<HookEvents> = { events: [() => HookEvent] };

/** A webhook that came. */
export interface HookEvent {
  /** Its number. */
  seq: number;
  /** Who told it. */
  provider_name: string;
  /** Of which compute, in the provider's words; empty when it did not say. */
  instance_id: string;
  /** What happened, in the provider's words. */
  event_type: string;
  /** The lease whose compute it is; absent when it is none of ours. */
  matched_lease_id?: string;
  /** When it came. */
  created_at: string;
}
export const HookEvent: Shape<HookEvent> = { seq: 0, provider_name: "", instance_id: "", event_type: "", matched_lease_id: ["", undefined], created_at: "" };

/** The body of a webhook, in the words of the provider. */
export type Webhook = { [key: string]: unknown };

/** The mode of a thread. `read-only`, `workspace-write` (the default) and `danger-full-access` allow what needs no more; `prompt` asks for everything, `allow` allows everything, unless a rule says otherwise. */
export type PermissionMode = "read-only" | "workspace-write" | "danger-full-access" | "prompt" | "allow";

/** Matches a call when all its fields do; it has at least one. */
export interface PermissionRule {
  /** The tool, or the broader one that it belongs to. */
  tool?: string;
  /** The argument that prefix, equals or contains look at; without it they look at command. */
  key?: string;
  /** The beginning of the argument. */
  prefix?: string;
  /** All of the argument. */
  equals?: string;
  /** Of rules that deny or ask: a part of the argument, without key of the line "tool key=value …", with the arguments by name. Of rules that allow: as prefix. */
  contains?: string;
  /** A part of the argument file_path, path, new_path, cwd or directory. */
  path_contains?: string;
}
export const PermissionRule: Shape<PermissionRule> = { tool: ["", undefined], key: ["", undefined], prefix: ["", undefined], equals: ["", undefined], contains: ["", undefined], path_contains: ["", undefined] };

/** Has rules; at most 1000 of them. A deny rule comes before an ask rule, that before an allow rule, all before the mode. */
export interface PermissionRules {
  /** What is allowed. */
  allow?: PermissionRule[];
  /** What is denied. */
  deny?: PermissionRule[];
  /** What somebody is asked about. */
  ask?: PermissionRule[];
}
export const PermissionRules: Shape<PermissionRules> = { allow: [() => PermissionRule], deny: [() => PermissionRule], ask: [() => PermissionRule] };

/** Changes permissions; an absent field stays as it was. */
export interface SetPermissions {
  /** The mode. */
  mode?: PermissionMode;
  /** All rules. */
  rules?: PermissionRules;
}
export const SetPermissions: Shape<SetPermissions> = { mode: ["", undefined], rules: [() => PermissionRules, undefined] };

/** Say what may be done with the terminals of a thread. */
export interface Permissions {
  /** The thread. */
  thread_id: string;
  /** Its mode. */
  mode: PermissionMode;
  /** Its own rules. */
  rules: PermissionRules;
  /** Something is decided: the mode is another than the default, or there are rules. Else everything is let through and no event tells of it. */
  active: boolean;
  /** Somebody may be asked. */
  prompting_enabled: boolean;
  rule_counts: RuleCountsOf;
  /** The rules of --permission-rules, which are for all threads. */
  server_rules: PermissionRules;
  /** When somebody has set them. */
  updated_at: string | null;
}
export const Permissions: Shape<Permissions> = { thread_id: "", mode: "", rules: () => PermissionRules, active: false, prompting_enabled: false, rule_counts: () => RuleCountsOf, server_rules: () => PermissionRules, updated_at: ["", null] };

/** Counts the rules that apply, with the server's. */
export interface RuleCountsOf {
  /** That allow. */
  allow: number;
  /** That ask. */
  ask: number;
  /** That deny. */
  deny: number;
}
export const RuleCountsOf: Shape<RuleCountsOf> = { allow: 0, ask: 0, deny: 0 };

/** A call of a tool. */
export interface Authorize {
  /** Its name: one of the server's own, or any other, which needs danger-full-access. */
  tool: string;
  /** Its arguments. Numbers are the same only when they are written alike. */
  arguments?: { [key: string]: unknown } | null;
}
export const Authorize: Shape<Authorize> = { tool: "", arguments: { "": null } };

/** The decision about a call. */
export interface Decision {
  /** What it is. */
  decision: "allow" | "deny" | "ask";
  /** Why: a sentence for a person. */
  reason: string;
  /** The rule that decided. */
  rule: PermissionRule | null;
  /** The approval that is asked for, or that has decided. */
  approval_id?: string;
}
export const Decision: Shape<Decision> = { decision: "", reason: "", rule: [() => PermissionRule, null], approval_id: ["", undefined] };

/** A call that somebody was asked about. */
export interface Approval {
  /** Its id. */
  id: string;
  /** The thread. */
  thread_id: string;
  /** The tool. */
  tool: string;
  /** The arguments, whole. Input to a terminal on a stream is approved for a connection and is not told. */
  arguments: { [key: string]: unknown };
  /** Why somebody is asked. */
  reason: string;
  /** What has become of it: pending, approved (and not used yet), denied, used, or expired. */
  status: "pending" | "approved" | "denied" | "used" | "expired";
  /** When it was asked for. */
  created_at: string;
  /** When it was decided. */
  decided_at?: string;
  /** When the call was let through. */
  used_at?: string;
  /** Until when it can be decided or used, or the call stays denied. */
  expires_at?: string;
  /** The variables whose values are "***" in the arguments, with the lengths of these in bytes. */
  hidden?: { [key: string]: number };
}
export const Approval: Shape<Approval> = { id: "", thread_id: "", tool: "", arguments: { "": null }, reason: "", status: "", created_at: "", decided_at: ["", undefined], used_at: ["", undefined], expires_at: ["", undefined], hidden: { "": 0 } };

/** Has approvals. */
export interface Approvals {
  /** The newest first. */
  approvals: Approval[];
}
export const Approvals: Shape<Approvals> = { approvals: [() => Approval] };

/** Approves or denies a call. */
export interface DecideApproval {
  /** The answer. */
  decision: "approve" | "deny";
}
export const DecideApproval: Shape<DecideApproval> = { decision: "" };

/** Has the messages that wait for the driver of a thread. */
export interface Mail {
  /** In the order in which they were left. */
  messages: WaitingMessage[];
}
export const Mail: Shape<Mail> = { messages: [() => WaitingMessage] };

/** A message for the driver of a thread. */
export interface WaitingMessage {
  /** Its number. */
  seq: number;
  /** When it was left. */
  created_at: string;
  /** What it says. */
  message: string;
}
export const WaitingMessage: Shape<WaitingMessage> = { seq: 0, created_at: "", message: "" };

/** Says what starts in the terminal by itself after a crash of the machine, or of keeper and server at once, where it would be `lost`: nothing (`none`), its own command (`command`), or another one. It starts below the old screen as POST …/restart does it, once for each crash. */
export type Restore = "none" | "command" | { [key: string]: unknown };

/** Makes a fresh xterm.js 6 of that size equal to the terminal: history, screen, modes, cursor, and at the end the bytes of an unfinished escape sequence. It contains no query and rings no bell. */
export interface ScreenANSI {
  /** Text with escape sequences, for write(). */
  data: string;
  /** Columns of the screen, in cells. */
  cols: number;
  /** Rows of the screen, in cells. */
  rows: number;
  /** Position: output bytes of the terminal, counted from 0 at its creation, that are part of this. */
  seq: number;
}
export const ScreenANSI: Shape<ScreenANSI> = { data: "", cols: 0, rows: 0, seq: 0 };

/** The screen as plain text. */
export interface ScreenText {
  /** History and screen, a line feed after each line, blanks at the end of a line cut off; no escape sequence. */
  text: string;
  /** Columns of the screen, in cells. */
  cols: number;
  /** Rows of the screen, in cells. */
  rows: number;
  /** Position: output bytes of the terminal, counted from 0 at its creation, that are part of this. */
  seq: number;
}
export const ScreenText: Shape<ScreenText> = { text: "", cols: 0, rows: 0, seq: 0 };

/** The screen for a web page. */
export interface ScreenHTML {
  /** One `pre` element with inline styles: no script, no style sheet, all text escaped, links only to http, https and mailto. */
  html: string;
  /** Columns of the screen, in cells. */
  cols: number;
  /** Rows of the screen, in cells. */
  rows: number;
  /** Position: output bytes of the terminal, counted from 0 at its creation, that are part of this. */
  seq: number;
}
export const ScreenHTML: Shape<ScreenHTML> = { html: "", cols: 0, rows: 0, seq: 0 };

/** The screen with every cell's style. Columns and rows count from 0. */
export interface ScreenJSON {
  /** Columns of the screen, in cells. */
  cols: number;
  /** Rows of the screen, in cells. */
  rows: number;
  cursor: Cursor;
  /** Title the program set; "" when none. */
  title: string;
  /** Whether the alternate screen is shown. */
  alt: boolean;
  modes: Modes;
  scroll_region: ScrollRegion;
  /** The rows of the screen from top to bottom, as many as `rows`. */
  lines: Line[];
  /** The history above the screen, oldest first, as much as was asked for. */
  scrollback: Line[];
  /** Position: output bytes of the terminal, counted from 0 at its creation, that are part of this. */
  seq: number;
}
export const ScreenJSON: Shape<ScreenJSON> = { cols: 0, rows: 0, cursor: () => Cursor, title: "", alt: false, modes: () => Modes, scroll_region: () => ScrollRegion, lines: [() => Line], scrollback: [() => Line], seq: 0 };

/** The rows that scroll (DECSTBM), both included, from 0. */
export interface ScrollRegion {
  /** First row. */
  top: number;
  /** Last row. */
  bottom: number;
}
export const ScrollRegion: Shape<ScrollRegion> = { top: 0, bottom: 0 };

/** The cursor. */
export interface Cursor {
  /** Column, from 0. */
  x: number;
  /** Row of the screen, from 0. */
  y: number;
  /** Whether it shows (DECTCEM). */
  visible: boolean;
  /** Its form (DECSCUSR). */
  style: "block" | "underline" | "bar";
  /** Whether it blinks. */
  blink: boolean;
  /** Whether a character stands in the last column and the next one wraps first. */
  pending_wrap: boolean;
}
export const Cursor: Shape<Cursor> = { x: 0, y: 0, visible: false, style: "", blink: false, pending_wrap: false };

/** The modes of the terminal. */
export interface Modes {
  /** Cursor keys send SS3 (DECCKM). */
  application_cursor: boolean;
  /** The keypad sends SS3 (DECKPAM). */
  application_keypad: boolean;
  /** Rows count from the scroll region (DECOM). */
  origin: boolean;
  /** Text wraps at the last column (DECAWM); true at the start. */
  autowrap: boolean;
  /** Backspace goes to the line above (?45). */
  reverse_wrap: boolean;
  /** Printing moves what follows (IRM). */
  insert: boolean;
  /** A line feed also returns (LNM). */
  linefeed: boolean;
  /** Foreground and background are exchanged (DECSCNM). */
  reverse_video: boolean;
  /** Pastes are bracketed (?2004). */
  bracketed_paste: boolean;
  /** Focus changes are reported (?1004). */
  focus_events: boolean;
  /** Mouse events the program wants: none, presses (?9), presses and releases (?1000), also drags (?1002), also moves (?1003). */
  mouse: "none" | "x10" | "normal" | "button" | "any";
  /** How mouse events are sent: ?1005, ?1006, ?1015, ?1016. */
  mouse_encoding: "default" | "utf8" | "sgr" | "urxvt" | "sgr_pixels";
  /** The program is in the middle of a frame (?2026). */
  synchronized_output: boolean;
  /** Flags of the kitty keyboard protocol in force. */
  kitty_keyboard: number;
}
export const Modes: Shape<Modes> = { application_cursor: false, application_keypad: false, origin: false, autowrap: false, reverse_wrap: false, insert: false, linefeed: false, reverse_video: false, bracketed_paste: false, focus_events: false, mouse: "", mouse_encoding: "", synchronized_output: false, kitty_keyboard: 0 };

/** One line of cells. */
export interface Line {
  /** Whether it continues the line above (autowrap). */
  wrapped: boolean;
  /** Its characters, blanks at the end cut off. */
  text: string;
  /** The cells from left to right, up to the last one that is not a blank of the default style. */
  runs: Run[];
}
export const Line: Shape<Line> = { wrapped: false, text: "", runs: [() => Run] };

/** Has neighbouring cells of one style. */
export interface Run {
  /** Their characters; an erased cell is a space. */
  text: string;
  /** Columns they take. */
  cells: number;
  fg: Color;
  bg: Color;
  /** Attributes that are on. */
  attrs: ("bold" | "dim" | "italic" | "blink" | "inverse" | "invisible" | "strikethrough" | "overline")[];
  /** Kind of underline; absent when there is none. */
  underline?: "single" | "double" | "curly" | "dotted" | "dashed";
  /** Colour of the underline; absent when it is that of the text. */
  underline_color?: Color;
  /** Where the cells lead (OSC 8): http, https or mailto, at most 2083 bytes. Absent when there is no link or it leads elsewhere. */
  link?: string;
}
export const Run: Shape<Run> = { text: "", cells: 0, fg: null, bg: null, attrs: [""], underline: ["", undefined], underline_color: [null, undefined], link: ["", undefined] };

/** A colour: null is the default, a number an entry of the palette, a string red, green and blue. */
export type Color = null | number | string;

/** The health of the server. Without credentials, and for a user who is no administrator, it is only the status. */
export interface Health {
  /** `ok`, or `degraded`: it works, but see `reasons`. */
  status: "ok" | "degraded";
  /** Whether no byte of output is lost when the server is killed at this moment. False while there is no keeper, a journal cannot be written, or the system cannot move output to the disk past the server's memory; `reasons` says which. Absent without credentials. */
  lossless?: boolean;
  /** Why it is degraded, one sentence each. Absent without credentials; absent or empty when it is not degraded. */
  reasons?: string[];
  /** How many terminals have a gap or damage in what is kept of them: see `damage` of each. That alone is no reason to be degraded. Absent without credentials. */
  damaged?: number;
  /** The server's version. Absent without credentials. */
  version?: string;
  /** Its process id. Absent without credentials. */
  pid?: number;
  /** When it began to answer. Absent without credentials. */
  started_at?: string;
}
export const Health: Shape<Health> = { status: "", lossless: [false, undefined], reasons: [""], damaged: [0, undefined], version: ["", undefined], pid: [0, undefined], started_at: ["", undefined] };

/** The version of the server. */
export interface Version {
  /** The program. */
  name: "evertty";
  /** The server's version; `dev` when it was built without one. */
  version: string;
  /** Version of this contract; it grows when a name changes its meaning. */
  api: number;
}
export const Version: Shape<Version> = { name: "", version: "", api: 0 };

/** Has the routes of the server. */
export interface RouteList {
  /** The program. */
  name: "evertty";
  /** The server's version. */
  version: string;
  /** All routes. */
  routes: RouteLine[];
}
export const RouteList: Shape<RouteList> = { name: "", version: "", routes: [() => RouteLine] };

/** One route. */
export interface RouteLine {
  /** HTTP method. */
  method: string;
  /** Path; `:sid` and `:id` are parameters, `*` is the rest. */
  path: string;
  /** What it is for. */
  does: string;
}
export const RouteLine: Shape<RouteLine> = { method: "", path: "", does: "" };

/** The body of a request that failed. */
export interface Error {
  /** One sentence for a person. It may change between versions. */
  error: string;
  /** What programs compare. */
  code: string;
  /** With NEEDS_APPROVAL: the approval that somebody has to decide; `details` has it too. */
  approval_id?: string;
  details: ErrorDetails;
}
export const Error: Shape<Error> = { error: "", code: "", approval_id: ["", undefined], details: () => ErrorDetails };

/** Has more for programs; `{}` when there is nothing more. */
export interface ErrorDetails {
  /** With METHOD_NOT_ALLOWED: the methods that the path takes. */
  allow?: string[];
  /** With NEEDS_APPROVAL: the approval. */
  approval_id?: string;
  /** With INPUT_BLOCKED: how many bytes the program took. With LINE_TOO_LONG: those of the line. */
  bytes?: number;
  /** With AMBIGUOUS: terminals that may be meant, as SESSION/NAME or ids. */
  choices?: string[];
  /** With errors of a command that was given: its id. */
  command_id?: string;
  /** With NOT_KEPT of a recording: the last position. */
  end?: number;
  /** The field of the body, or the parameter of the query, that is wrong. */
  field?: string;
  /** With NAME_TAKEN: the terminal that has the name. */
  id?: string;
  /** With TOO_LARGE: bytes that a body may have. With LINE_TOO_LONG: bytes that a line may have. */
  limit?: number;
  /** With a provider that is not set up: those that are. */
  providers?: string[];
  /** With status 500: the header X-Request-Id, under which the server's log says why. */
  request_id?: string;
  /** With TIMEOUT and EXITED of a wait: its position in the output. With INPUT_BLOCKED: the position before the input. */
  seq?: number;
  /** With errors of a session: its name. */
  session?: string;
  /** With UNSUPPORTED_API_VERSION: the versions that this server speaks. */
  spoken?: number[];
  /** With NOT_KEPT of a recording: the first position that is kept. */
  start?: number;
  /** With TIMEOUT and EXITED of a wait: history and screen at that moment. */
  text?: string;
}
export const ErrorDetails: Shape<ErrorDetails> = { allow: [""], approval_id: ["", undefined], bytes: [0, undefined], choices: [""], command_id: ["", undefined], end: [0, undefined], field: ["", undefined], id: ["", undefined], limit: [0, undefined], providers: [""], request_id: ["", undefined], seq: [0, undefined], session: ["", undefined], spoken: [0], start: [0, undefined], text: ["", undefined] };

/** Asks for a link that shows one terminal, or all of a session, to whoever has it. At most 1000 are kept, 100 of a user; one more is 429 LIMIT. A link ends with its terminal, by DELETE /shares/:id, with its user, or by a logout of all. */
export interface ShareRequest {
  /** Id or name of the terminal. */
  pty?: string;
  /** The session: all its terminals, also later ones. */
  session?: string;
  /** `read`: look; `write`: look and type. */
  role?: "" | "read" | "write";
  /** How long it opens something, in seconds: up to 30 days. */
  ttl_s?: number;
  /** How often it may be opened; 0 is no limit. */
  uses?: number;
  /** What a person calls it: plain text of at most 64 characters. */
  name?: string;
}
export const ShareRequest: Shape<ShareRequest> = { pty: ["", undefined], session: ["", undefined], role: ["", undefined], ttl_s: [0, undefined], uses: [0, undefined], name: ["", undefined] };

/** A link that shows terminals to whoever has it. Its secret is told only when it is made. */
export interface Share {
  /** The server's name for it. */
  id: string;
  /** Id of the terminal; absent where it is a session. */
  pty?: string;
  /** The session; absent where it is a terminal. */
  session?: string;
  /** What it lets its viewers do. */
  role: "read" | "write";
  /** What a person calls it; "" when none was given. */
  name: string;
  /** RFC 3339, UTC. */
  created_at: string;
  /** From then on it opens nothing new; who watches by then goes on until it is deleted. RFC 3339, UTC. */
  expires_at: string;
  /** How often it may be opened in all; 0 is no limit. */
  uses: number;
  /** How often it may still be opened; null without a limit. */
  uses_left: number | null;
  /** Whether it opens nothing more although it has not expired: it was used up, or a viewer of it was kicked. */
  closed: boolean;
  /** Connections that it has opened and that are open now. */
  viewers: number;
  /** Who made it: a user, or in the words of the audit log how they were known. */
  by: string;
}
export const Share: Shape<Share> = { id: "", pty: ["", undefined], session: ["", undefined], role: "", name: "", created_at: "", expires_at: "", uses: 0, uses_left: [0, null], closed: false, viewers: 0, by: "" };

/** A new link. */
export interface MadeShare {
  /** The server's name for it. */
  id: string;
  /** Id of the terminal; absent where it is a session. */
  pty?: string;
  /** The session; absent where it is a terminal. */
  session?: string;
  /** What it lets its viewers do. */
  role: "read" | "write";
  /** What a person calls it; "" when none was given. */
  name: string;
  /** RFC 3339, UTC. */
  created_at: string;
  /** From then on it opens nothing new; who watches by then goes on until it is deleted. RFC 3339, UTC. */
  expires_at: string;
  /** How often it may be opened in all; 0 is no limit. */
  uses: number;
  /** How often it may still be opened; null without a limit. */
  uses_left: number | null;
  /** Whether it opens nothing more although it has not expired: it was used up, or a viewer of it was kicked. */
  closed: boolean;
  /** Connections that it has opened and that are open now. */
  viewers: number;
  /** Who made it: a user, or in the words of the audit log how they were known. */
  by: string;
  /** The link, for a browser. Programs put what is behind the last slash as `?ticket=` on a terminal's /stream, /ws and /snapshot. */
  url: string;
  /** The same for other machines, when `url` has a loopback address and the server listens on all addresses. */
  network_url?: string;
  /** `network_url`, or else `url`, as a QR code: an SVG document of its own. */
  qr_svg: string;
}
export const MadeShare: Shape<MadeShare> = { id: "", pty: ["", undefined], session: ["", undefined], role: "", name: "", created_at: "", expires_at: "", uses: 0, uses_left: [0, null], closed: false, viewers: 0, by: "", url: "", network_url: ["", undefined], qr_svg: "" };

/** The links that there are, the oldest first. */
export interface ShareList {
  /** The links. */
  shares: Share[];
}
export const ShareList: Shape<ShareList> = { shares: [() => Share] };

/** What a page that a link has opened may show. */
export interface Shared {
  /** Id of the terminal; absent where it is a session. */
  pty?: string;
  /** The session; absent where it is a terminal. */
  session?: string;
  /** What the page may do. */
  role: "read" | "write";
  /** What a person calls the link. */
  name: string;
  /** From then on it opens nothing new, this page neither. RFC 3339, UTC. */
  expires_at: string;
}
export const Shared: Shape<Shared> = { pty: ["", undefined], session: ["", undefined], role: "", name: "", expires_at: "" };

/** A shell in a list. */
export interface ShellInfo {
  /** The shell's id. */
  id: string;
  /** Its session. */
  session: string;
  /** It is the one of calls that name no shell. */
  default: boolean;
  /** Of bash; 0 while none runs. */
  pid: number;
  /** Its directory now. */
  cwd: string;
  /** `ended`: bash has gone (exit, a signal), and comes back with the next command. */
  state: "running" | "ended" | "deleted";
  /** What its commands may touch, those on a terminal and beside the shell too. */
  sandbox: Sandbox;
  /** A command runs. */
  busy: boolean;
  /** Commands that wait. */
  queued: number;
  /** When it was made. */
  created_at: string;
}
export const ShellInfo: Shape<ShellInfo> = { id: "", session: "", default: false, pid: 0, cwd: "", state: "", sandbox: "", busy: false, queued: 0, created_at: "" };

/** Has shells, oldest first. */
export interface ShellList {
  /** The shells. */
  shells: ShellInfo[];
  /** `after` of the next part, with limit; absent at the end. In the list of all sessions it is SESSION/ID. */
  next?: string;
}
export const ShellList: Shape<ShellList> = { shells: [() => ShellInfo], next: ["", undefined] };

/** A shell of a session. */
export interface Shell {
  /** The shell's id. */
  id: string;
  /** Its session. */
  session: string;
  /** It is the one of calls that name no shell. */
  default: boolean;
  /** Of bash; 0 while none runs. */
  pid: number;
  /** Its directory now. */
  cwd: string;
  /** `ended`: bash has gone (exit, a signal), and comes back with the next command. */
  state: "running" | "ended" | "deleted";
  /** What its commands may touch, those on a terminal and beside the shell too. */
  sandbox: Sandbox;
  /** A command runs. */
  busy: boolean;
  /** Commands that wait. */
  queued: number;
  /** When it was made. */
  created_at: string;
  /** It has read the profile files. */
  login: boolean;
  /** Of commands that give none; 0 is none. */
  command_timeout_ms: number;
  /** What the reply or stream of a command has of each output, where the command does not say. Its logs have all up to their own bounds. */
  max_output_bytes: number;
  /** What was changed or added in its environment since its start. */
  env_delta: { [key: string]: string };
  /** What was removed from it. */
  env_unset: string[];
}
export const Shell: Shape<Shell> = { id: "", session: "", default: false, pid: 0, cwd: "", state: "", sandbox: "", busy: false, queued: 0, created_at: "", login: false, command_timeout_ms: 0, max_output_bytes: 0, env_delta: { "": "" }, env_unset: [""] };

/** Asks for a new shell. */
export interface CreateShell {
  /** Its id; absent: the server gives one. */
  id?: string;
  /** Where it begins; absent: the home directory. */
  cwd?: string;
  /** Added to the environment. */
  env?: { [key: string]: string };
  /** After which its commands are cancelled, where they do not say; 0 is never. */
  command_timeout_ms?: number;
  /** What the reply or stream of a command has of each output; 0 is the server's default. Its logs have all up to their own bounds. */
  max_output_bytes?: number;
  /** Read the profile files, as a login shell does. */
  login?: boolean;
  /** What its commands may touch; "" is `none`. 501 CAPABILITY where the kernel cannot, and at a provider. */
  sandbox?: Sandbox;
}
export const CreateShell: Shape<CreateShell> = { id: ["", undefined], cwd: ["", undefined], env: { "": "" }, command_timeout_ms: [0, undefined], max_output_bytes: [0, undefined], login: [false, undefined], sandbox: ["", undefined] };

/** A command to run: exactly one of `command` and `argv`. */
export interface Exec {
  /** Shell text, of any length and number of lines. It is run in the shell itself, not in a subshell: what it changes lasts. */
  command?: string;
  /** A program and its arguments, which arrive as they are. */
  argv?: string[];
  /** One process beside the shell, in no queue, with the shell's directory and environment and nothing else of it. `command` is then run by `bash -c`. */
  isolated?: boolean;
  /** Directory of this command alone. An absent one is a result: code 1, and the reason on stderr. */
  cwd?: string;
  /** Variables of this command alone. */
  env?: { [key: string]: string };
  /** After which it is cancelled, with code 124; 0 is the shell's. It counts from its start; `queue_timeout_ms` bounds the wait before. */
  timeout_ms?: number;
  /** How long it may wait for its turn behind other commands; 0 is no bound. One that has not begun by then is answered with 429 QUEUE_TIMEOUT, or has the status failed when nobody waits for it, and never runs. */
  queue_timeout_ms?: number;
  /** What it reads, then end of file; absent: end of file at once. */
  stdin?: string;
  /** The same as bytes. */
  stdin_b64?: string;
  /** More can be written by POST …/commands/{cid}/input, which also closes it. */
  stdin_open?: boolean;
  /** Run it beside those that follow. */
  background?: boolean;
  /** What its reply or stream has of each output; the command goes on, and its logs have all up to their own bounds. 0 is the shell's. */
  max_output_bytes?: number;
  /** Read the profile files before it, unless the shell has. */
  login?: boolean;
  /** Run it on a terminal of its own, as one process: stdout has everything. `stdin` is typed. Not with `stdin_open` or `background`. */
  tty?: boolean;
  /** Cancel it when this request's connection ends before it does. */
  cancel_on_disconnect?: boolean;
}
export const Exec: Shape<Exec> = { command: ["", undefined], argv: [""], isolated: [false, undefined], cwd: ["", undefined], env: { "": "" }, timeout_ms: [0, undefined], queue_timeout_ms: [0, undefined], stdin: ["", undefined], stdin_b64: ["", undefined], stdin_open: [false, undefined], background: [false, undefined], max_output_bytes: [0, undefined], login: [false, undefined], tty: [false, undefined], cancel_on_disconnect: [false, undefined] };

/** Says how a command ended and what it printed. */
export interface ExecResult {
  /** The code is 0. */
  success: boolean;
  /** 0 to 255; 124 after a timeout, 130 after a cancel. */
  exit_code: number;
  /** The same. */
  exitCode: number;
  /** An output had more than is kept, or than this reply carries (10 MiB); the logs have what is kept. */
  truncated: boolean;
  /** Why `truncated` is set, and absent when it is not. max_output_bytes, reply_limit: the reply has not all, the logs have. log_limit: the log of one output has all that it may. log_quota: the logs of all commands have (--exec-log-quota); the oldest go first. disk_full, write_failed: the disk did not take it. not_followed: the server and its keeper ended while it printed. */
  truncated_reason?: "max_output_bytes" | "reply_limit" | "log_limit" | "log_quota" | "disk_full" | "write_failed" | "not_followed";
  /** The timeout ended it. */
  timed_out: boolean;
  /** A cancel ended it. */
  cancelled: boolean;
  /** How long it ran. */
  duration_ms: number;
  /** When it ended. */
  timestamp: string;
  /** What was run. */
  command: string;
  /** Its id. */
  command_id: string;
  /** Its session. */
  session: string;
  /** Its shell. */
  shell: string;
  /** With tty: the terminal, whose screen stays readable by its id for a day. */
  pty?: string;
  /** The shell's directory after it. */
  cwd: string;
  /** The directory that was wanted and is gone; the nearest parent was taken. */
  cwd_fallback?: string;
  /** Something that it started still runs and may print; that goes to its logs. */
  background: boolean;
  /** The shell had ended and was started again with its state before this command. */
  recreated: boolean;
  /** With recreated: what could not be restored, in words. */
  lost: string[];
  /** The shell ended with this command (exit, exec, set -e, a signal). */
  shell_ended: boolean;
  /** Bytes of stdout in the log. */
  stdout_bytes: number;
  /** Bytes of stderr in the log. */
  stderr_bytes: number;
  /** Of a command on a terminal: that what it did to directory and variables is not the shell's. Absent of others. */
  note?: string;
  /** Why the end of its session ended it: idle_timeout, max_duration, budget, destroyed or thread_deleted. Absent when it ended otherwise. */
  reason?: string;
  /** Its output; a byte that is not UTF-8 is one U+FFFD. */
  stdout: string;
  /** The bytes of stdout, in base64; only where they are not UTF-8. */
  stdout_b64?: string;
  /** Its errors, likewise. */
  stderr: string;
  /** The bytes of stderr, in base64; only where they are not UTF-8. */
  stderr_b64?: string;
}
export const ExecResult: Shape<ExecResult> = { success: false, exit_code: 0, exitCode: 0, truncated: false, truncated_reason: ["", undefined], timed_out: false, cancelled: false, duration_ms: 0, timestamp: "", command: "", command_id: "", session: "", shell: "", pty: ["", undefined], cwd: "", cwd_fallback: ["", undefined], background: false, recreated: false, lost: [""], shell_ended: false, stdout_bytes: 0, stderr_bytes: 0, note: ["", undefined], reason: ["", undefined], stdout: "", stdout_b64: ["", undefined], stderr: "", stderr_b64: ["", undefined] };

/** Says how a command ended. */
export interface EventComplete {
  /** The code is 0. */
  success: boolean;
  /** 0 to 255; 124 after a timeout, 130 after a cancel. */
  exit_code: number;
  /** The same. */
  exitCode: number;
  /** An output had more than is kept, or than this reply carries (10 MiB); the logs have what is kept. */
  truncated: boolean;
  /** Why `truncated` is set, and absent when it is not. max_output_bytes, reply_limit: the reply has not all, the logs have. log_limit: the log of one output has all that it may. log_quota: the logs of all commands have (--exec-log-quota); the oldest go first. disk_full, write_failed: the disk did not take it. not_followed: the server and its keeper ended while it printed. */
  truncated_reason?: "max_output_bytes" | "reply_limit" | "log_limit" | "log_quota" | "disk_full" | "write_failed" | "not_followed";
  /** The timeout ended it. */
  timed_out: boolean;
  /** A cancel ended it. */
  cancelled: boolean;
  /** How long it ran. */
  duration_ms: number;
  /** When it ended. */
  timestamp: string;
  /** What was run. */
  command: string;
  /** Its id. */
  command_id: string;
  /** Its session. */
  session: string;
  /** Its shell. */
  shell: string;
  /** With tty: the terminal, whose screen stays readable by its id for a day. */
  pty?: string;
  /** The shell's directory after it. */
  cwd: string;
  /** The directory that was wanted and is gone; the nearest parent was taken. */
  cwd_fallback?: string;
  /** Something that it started still runs and may print; that goes to its logs. */
  background: boolean;
  /** The shell had ended and was started again with its state before this command. */
  recreated: boolean;
  /** With recreated: what could not be restored, in words. */
  lost: string[];
  /** The shell ended with this command (exit, exec, set -e, a signal). */
  shell_ended: boolean;
  /** Bytes of stdout in the log. */
  stdout_bytes: number;
  /** Bytes of stderr in the log. */
  stderr_bytes: number;
  /** Of a command on a terminal: that what it did to directory and variables is not the shell's. Absent of others. */
  note?: string;
  /** Why the end of its session ended it: idle_timeout, max_duration, budget, destroyed or thread_deleted. Absent when it ended otherwise. */
  reason?: string;
}
export const EventComplete: Shape<EventComplete> = { success: false, exit_code: 0, exitCode: 0, truncated: false, truncated_reason: ["", undefined], timed_out: false, cancelled: false, duration_ms: 0, timestamp: "", command: "", command_id: "", session: "", shell: "", pty: ["", undefined], cwd: "", cwd_fallback: ["", undefined], background: false, recreated: false, lost: [""], shell_ended: false, stdout_bytes: 0, stderr_bytes: 0, note: ["", undefined], reason: ["", undefined] };

/** Says that the command runs. */
export interface EventStart {
  /** Its id. */
  command_id: string;
  /** Of the shell, of the background process, or of the one beside the shell. */
  pid: number;
  /** With tty: the terminal. */
  pty?: string;
  /** Its session. */
  session: string;
  /** Its shell. */
  shell: string;
  /** What is run. */
  command: string;
  /** Since when. */
  timestamp: string;
}
export const EventStart: Shape<EventStart> = { command_id: "", pid: 0, pty: ["", undefined], session: "", shell: "", command: "", timestamp: "" };

/** A piece of an output: text, or bytes that are not UTF-8. */
export interface EventOutput {
  /** Text, never half a character. */
  data?: string;
  /** Bytes that are not UTF-8. */
  data_b64?: string;
}
export const EventOutput: Shape<EventOutput> = { data: ["", undefined], data_b64: ["", undefined] };

/** The reply to a command in the background. */
export interface ExecAccepted {
  /** Always true. */
  success: boolean;
  /** Its id. */
  command_id: string;
  /** Of the background process; 0 while it waits behind other commands. */
  pid: number;
  status: CommandStatus;
  /** Its session. */
  session: string;
  /** Its shell. */
  shell: string;
}
export const ExecAccepted: Shape<ExecAccepted> = { success: false, command_id: "", pid: 0, status: "", session: "", shell: "" };

/** The state of a command. `failed`: it never got a code. */
export type CommandStatus = "queued" | "running" | "done" | "cancelled" | "failed";

/** Changes the environment of a shell. */
export interface SetEnv {
  /** Variables to export. */
  env?: { [key: string]: string };
  /** Variables to remove. */
  unset?: string[];
}
export const SetEnv: Shape<SetEnv> = { env: { "": "" }, unset: [""] };

/** A command of a shell. */
export interface Command {
  /** Its id. */
  command_id: string;
  /** Its session. */
  session: string;
  /** Its shell. */
  shell: string;
  /** What was run; in a list at most 4 KiB of it. */
  command: string;
  /** This is not all of the text. */
  clipped?: boolean;
  /** Where it began. */
  cwd: string;
  status: CommandStatus;
  /** Its place in the queue of its shell, 1 is the next one; absent of one that does not wait there. */
  queue_position?: number;
  /** Why it failed; absent of one that did not. */
  error?: string;
  /** As in the event start; 0 before. */
  pid: number;
  /** null before the end. */
  exit_code: number | null;
  /** It was to run beside the others. */
  background: boolean;
  /** It ran beside the shell. */
  isolated: boolean;
  /** The terminal that it runs or ran on, with `tty`; absent of others. After the end of the command it is on no list, and readable by its id for a day. */
  pty?: string;
  /** The timeout ended it. */
  timed_out: boolean;
  /** The log has not all. */
  truncated: boolean;
  /** Why `truncated` is set, as in the reply of exec. */
  truncated_reason?: "max_output_bytes" | "reply_limit" | "log_limit" | "log_quota" | "disk_full" | "write_failed" | "not_followed";
  /** Why the end of its session ended it: idle_timeout, max_duration, budget, destroyed or thread_deleted. Absent when it ended otherwise. */
  reason?: string;
  /** The shell ended with it. */
  shell_ended: boolean;
  /** The shell was started again before it. */
  recreated: boolean;
  /** When it was given. */
  created_at: string;
  /** When it began; null before. */
  started_at: string | null;
  /** When it ended; null before. */
  finished_at: string | null;
  /** How long it ran, or has run. */
  duration_ms: number;
  /** Bytes of stdout in the log. */
  stdout_bytes: number;
  /** Bytes of stderr in the log. */
  stderr_bytes: number;
}
export const Command: Shape<Command> = { command_id: "", session: "", shell: "", command: "", clipped: [false, undefined], cwd: "", status: "", queue_position: [0, undefined], error: ["", undefined], pid: 0, exit_code: [0, null], background: false, isolated: false, pty: ["", undefined], timed_out: false, truncated: false, truncated_reason: ["", undefined], reason: ["", undefined], shell_ended: false, recreated: false, created_at: "", started_at: ["", null], finished_at: ["", null], duration_ms: 0, stdout_bytes: 0, stderr_bytes: 0 };

/** Has commands, newest last. */
export interface CommandList {
  /** The commands. */
  commands: Command[];
  /** `after` of the next part, when `after` was given; absent at the end. */
  next?: string;
}
export const CommandList: Shape<CommandList> = { commands: [() => Command], next: ["", undefined] };

/** Has the output of a command up to now. */
export interface CommandLogs {
  /** Its id. */
  command_id: string;
  status: CommandStatus;
  /** There was more than is kept. */
  truncated: boolean;
  /** Why `truncated` is set, as in the reply of exec. */
  truncated_reason?: "max_output_bytes" | "reply_limit" | "log_limit" | "log_quota" | "disk_full" | "write_failed" | "not_followed";
  /** Bytes of stdout. */
  stdout_bytes: number;
  /** Bytes of stderr. */
  stderr_bytes: number;
  /** Its output; a byte that is not UTF-8 is one U+FFFD. */
  stdout: string;
  /** The bytes of stdout, in base64; only where they are not UTF-8. */
  stdout_b64?: string;
  /** Its errors, likewise. */
  stderr: string;
  /** The bytes of stderr, in base64; only where they are not UTF-8. */
  stderr_b64?: string;
}
export const CommandLogs: Shape<CommandLogs> = { command_id: "", status: "", truncated: false, truncated_reason: ["", undefined], stdout_bytes: 0, stderr_bytes: 0, stdout: "", stdout_b64: ["", undefined], stderr: "", stderr_b64: ["", undefined] };

/** Input for a command: text or base64, or only their end. */
export interface ExecInput {
  /** Text. */
  data?: string;
  /** Bytes in base64. */
  data_b64?: string;
  /** Close its input after this. */
  eof?: boolean;
}
export const ExecInput: Shape<ExecInput> = { data: ["", undefined], data_b64: ["", undefined], eof: [false, undefined] };

/** The reply to a cancel. */
export interface CommandCancelled {
  /** Always true. */
  success: boolean;
  /** Its id. */
  command_id: string;
  status: CommandStatus;
}
export const CommandCancelled: Shape<CommandCancelled> = { success: false, command_id: "", status: "" };

/** One terminal: a program on a pseudo-terminal, and its screen, which outlives the program. */
export interface Terminal {
  /** The server's name for it: 20 characters, unique for ever. */
  id: string;
  /** The same as `id`, under the name older clients read. */
  ptyID: string;
  /** The name given at creation, unique among the listed terminals of the session; "" when none was given. */
  name: string;
  /** The session it belongs to. */
  session: string;
  /** The program and its arguments, as given or defaulted. */
  cmd: string[];
  /** Working directory of the program now; once the program has ended, the last one that was seen, and until one was seen that of the request (absolute). A restart begins here. */
  cwd: string;
  /** The directory in which the last restart should have started the program, but could not: it was gone or could not be entered, and the nearest parent was taken. Absent else. */
  cwd_fallback?: string;
  /** The variables given at creation, not those the program inherited. A deleted terminal has none. */
  env: { [key: string]: string };
  /** Columns of the screen, in cells. */
  cols: number;
  /** Rows of the screen, in cells. */
  rows: number;
  /** Lines of history kept above the screen. */
  scrollback: number;
  /** What a PATCH set as title, else what the program set (OSC 0 or 2), cut at 1024 bytes; "" when neither did. */
  title: string;
  /** What creation or the last PATCH set; {} when that is none. */
  labels: Labels;
  /** `running`; `exited`: the program has ended; `lost`: it went with the machine, or with keeper and server at once, and nobody saw how. The end of a server is none of these. Only POST …/restart leads back to `running`. `restored` does not occur. */
  state: "running" | "exited" | "lost" | "restored";
  /** How the program ended; null while it runs. */
  exit: Exit | null;
  /** Process id of the program, the same under the next server; 0 when it does not run. */
  pid: number;
  /** Number of its process: 1 for the first, one more with each restart. */
  generation: number;
  /** Streams and WebSockets that watch it now. */
  viewers: number;
  size_policy: SizePolicy;
  /** What starts here by itself after a crash of the machine. */
  restore: Restore;
  /** When it was created. RFC 3339, UTC. */
  created_at: string;
  /** The last input, output or resize. RFC 3339, UTC. */
  last_activity_at: string;
  /** The last output; null before the first. RFC 3339, UTC. */
  last_output_at: string | null;
  /** Output bytes so far that are part of the screen, of all generations. */
  seq: number;
  /** Whether the alternate screen is shown, as in an editor; for an ended program, whether it was. */
  alt_screen: boolean;
  /** How often the program rang the bell. */
  bell_count: number;
  /** What the terminal takes on disk, in bytes. */
  journal_bytes: number;
  /** What its screens, history, styles and links take in memory, in bytes: at most `serve --terminal-memory`, or what the plain cells of its screens take when that is more. Once the program has ended, what its last screen takes; 0 while that is on disk only. */
  memory_bytes: number;
  /** Whether its screens are on disk alone, see POST …/park. The program runs on, and whoever looks at it, types or prints brings them back. `memory_bytes` is 0. */
  parked: boolean;
  /** When it was deleted; absent while it is listed. RFC 3339, UTC. */
  deleted_at?: string;
  /** What its programs may touch, also after a restart. */
  sandbox: Sandbox;
  /** What its programs may use, as given at creation; absent when nothing was. */
  limits?: Limits;
  /** How memory_bytes and pids are enforced: `cgroup` counts all programs of the terminal together; with `rlimit` each process may have memory_bytes, and pids counts what its user starts. Absent without these two. */
  limits_by?: "cgroup" | "rlimit";
  /** What was wrong with its files on disk when they were last read, which output was lost since, and what readers have found damaged; one line each, for a person. Absent when nothing was. */
  damage?: string;
  /** What it uses now; only in lists with `usage=1`, of running terminals. */
  usage?: TerminalUsage;
}
export const Terminal: Shape<Terminal> = { id: "", ptyID: "", name: "", session: "", cmd: [""], cwd: "", cwd_fallback: ["", undefined], env: { "": "" }, cols: 0, rows: 0, scrollback: 0, title: "", labels: { "": "" }, state: "", exit: [() => Exit, null], pid: 0, generation: 0, viewers: 0, size_policy: "", restore: null, created_at: "", last_activity_at: "", last_output_at: ["", null], seq: 0, alt_screen: false, bell_count: 0, journal_bytes: 0, memory_bytes: 0, parked: false, deleted_at: ["", undefined], sandbox: "", limits: [() => Limits, undefined], limits_by: ["", undefined], damage: ["", undefined], usage: [() => TerminalUsage, undefined] };

/** What a terminal uses at the time of the request. Its programs are its process and all that this started. */
export interface TerminalUsage {
  /** Processor time of its programs so far, in seconds, of all cores together. The difference between two requests is the load; it is negative when a program has ended that nobody waited for. */
  cpu_seconds: number;
  /** Resident memory of its programs, in bytes; what several share counts in each. The terminal's own memory is `memory_bytes` beside. */
  rss_bytes: number;
  /** How many processes its programs are. */
  processes: number;
  /** Output that waits for its slowest viewer, in bytes. */
  lag_bytes: number;
  /** How long output has waited for the viewer that waits longest, in seconds. */
  lag_seconds: number;
  /** What it waits for: `approval`: somebody is asked about a call on this terminal, or about one of its thread that names none; `command`: a shell is at its prompt; `none`: nothing that is known, it may be busy. */
  waits_for: "approval" | "command" | "none";
  /** How many calls of POST …/wait for it are going on. */
  waits: number;
}
export const TerminalUsage: Shape<TerminalUsage> = { cpu_seconds: 0, rss_bytes: 0, processes: 0, lag_bytes: 0, lag_seconds: 0, waits_for: "", waits: 0 };

/** Says how a program ended. */
export interface Exit {
  /** Its exit code, 0..255; null when it is not known: `reason` is `lost` then. With a signal, 128 plus the signal's number. */
  code: number | null;
  /** Name of the signal that ended it, without SIG, such as `KILL`; "" when none did. */
  signal: string;
  /** `exit`: by itself; `signal`: by a signal from elsewhere; `killed`: somebody deleted the terminal; `memory`: the kernel, at the limit `memory_bytes`; `lost`: nobody saw it, and no code is made up. */
  reason: "exit" | "signal" | "killed" | "memory" | "lost";
}
export const Exit: Shape<Exit> = { code: [0, null], signal: "", reason: "" };

/** Says whose size counts when several viewers request one: the viewer who typed, focused or resized last (`latest`), who has watched longest (`owner`), the smallest or the largest of all wishes, or nobody's (`fixed`). POST …/resize always counts. */
export type SizePolicy = "latest" | "owner" | "smallest" | "largest" | "fixed";

/** Says what programs may touch. `none`: all that their user may. `workspace`: they read all but the server's data directory, and change files only below the directory in which they were created and the temporary directory (TMPDIR, else /tmp; /dev/shm too). `read-only`: they change no file. In both they gain no rights by sudo or other programs with special modes, reach neither the server nor processes outside, and so does all that they start. */
export type Sandbox = "none" | "workspace" | "read-only";

/** Bound what programs use. They are enforced by a cgroup v2 where the server has a delegated one, else by resource limits of processes; what neither can do is refused with 501 CAPABILITY. */
export interface Limits {
  /** Memory in bytes. By cgroup the kernel kills a program of the terminal that needs more; without one it gets no more. */
  memory_bytes?: number;
  /** Processor time in percent of one core. Only by cgroup. */
  cpu_percent?: number;
  /** Processes and threads; beyond them none can be started. Without a cgroup not for root. */
  pids?: number;
  /** Open files of each process, as `ulimit -n` shows. */
  nofile?: number;
}
export const Limits: Shape<Limits> = { memory_bytes: [0, undefined], cpu_percent: [0, undefined], pids: [0, undefined], nofile: [0, undefined] };

/** Says what to start. Every field may be left out, and so may the whole body. */
export interface CreateTerminal {
  /** The program and its arguments: 1 to 4096 words of at most 131071 bytes. A program without a slash is looked up in PATH. */
  cmd?: string[];
  /** Columns, in cells. */
  cols?: number;
  /** Rows, in cells. */
  rows?: number;
  /** Working directory; "" is the home directory of the server's user (HOME, else that of the user database), to which a relative one is relative. */
  cwd?: string;
  /** Variables to add to the few the program inherits; these win. NAME=VALUE may have at most 131071 bytes. */
  env?: { [key: string]: string };
  /** A name to find it by, unique in its session; "" is no name. */
  name?: string;
  /** Lines of history to keep above the screen. */
  scrollback?: number;
  /** Whose wish decides the size; "" is `latest`. */
  size_policy?: SizePolicy;
  labels?: Labels;
  /** What its programs may touch; "" is `none`. 501 CAPABILITY where the kernel cannot, and at a provider. */
  sandbox?: Sandbox;
  /** What its programs may use; absent: no limit. 501 CAPABILITY where it cannot be enforced, and at a provider. */
  limits?: Limits;
  /** What starts here by itself after a crash of the machine. */
  restore?: Restore;
}
export const CreateTerminal: Shape<CreateTerminal> = { cmd: [""], cols: [0, undefined], rows: [0, undefined], cwd: ["", undefined], env: { "": "" }, name: ["", undefined], scrollback: [0, undefined], size_policy: ["", undefined], labels: { "": "" }, sandbox: ["", undefined], limits: [() => Limits, undefined], restore: [null, undefined] };

/** Words that users give a terminal to find it by: at most 32. A key has 1 to 63 letters, digits, '.', '_', '-' or '/', with a letter or digit at both ends. A value has at most 255 bytes and no control characters. */
export type Labels = { [key: string]: string };

/** Changes a terminal. What is absent stays as it is. When one field is wrong, nothing is changed. */
export interface ChangeTerminal {
  /** Another name, unique in its session; "" is no name. */
  name?: string;
  /** Whose wish decides the size from now on. */
  size_policy?: SizePolicy;
  /** What starts here by itself after a crash of the machine from now on. */
  restore?: Restore;
  /** Columns, in cells; as POST …/resize does it, whatever the size policy. */
  cols?: number;
  /** Rows, in cells. */
  rows?: number;
  /** All labels that it has from now on: those that are left out here are gone. */
  labels?: Labels;
  /** The title in infos and lists, whatever the program sets: at most 1024 bytes without control characters; "" shows the program's again. Viewers get the program's. */
  title?: string;
}
export const ChangeTerminal: Shape<ChangeTerminal> = { name: ["", undefined], size_policy: ["", undefined], restore: [null, undefined], cols: [0, undefined], rows: [0, undefined], labels: { "": "" }, title: ["", undefined] };

/** Has terminals, oldest first; deleted ones are left out. */
export interface TerminalList {
  /** Their ids. */
  ptys: string[];
  /** The terminals, in the same order. */
  items: Terminal[];
  /** `after` of the next part, with limit; absent at the end. */
  next?: string;
}
export const TerminalList: Shape<TerminalList> = { ptys: [""], items: [() => Terminal], next: ["", undefined] };

/** Has what to type: exactly one of the two fields. The whole body may have 1 MiB. */
export interface Input {
  /** Text, sent as UTF-8. A line feed is a line feed; the Enter key is `\r`. */
  data?: string;
  /** Any bytes, in standard base64 with padding. */
  data_b64?: string;
}
export const Input: Shape<Input> = { data: ["", undefined], data_b64: ["", undefined] };

/** The reply to input that the program's terminal took. */
export interface InputTaken {
  /** Always true. */
  success: true;
  /** How many bytes were written. */
  bytes: number;
}
export const InputTaken: Shape<InputTaken> = { success: false, bytes: 0 };

/** The reply to input that the program's terminal took. */
export interface Sent {
  /** Always true. */
  success: true;
  /** How many bytes were written. 0 for a `mouse` that the program did not ask for: then nothing was sent. */
  bytes: number;
  /** Position of the output just before: what the input leads to is printed behind it. Give it as `since` to a wait, which then misses nothing. */
  seq: number;
}
export const Sent: Shape<Sent> = { success: false, bytes: 0, seq: 0 };

/** What a mouse does in a cell, sent as the program asked for: its tracking mode decides whether, its encoding how. Without a mouse mode nothing is sent, and the reply's `bytes` is 0. */
export interface MouseEvent {
  /** Column, from 0. */
  x: number;
  /** Row, from 0. */
  y: number;
  /** `none` is for a movement without a button. */
  button?: "left" | "middle" | "right" | "wheel_up" | "wheel_down" | "wheel_left" | "wheel_right" | "none";
  /** `click` is a press and a release. */
  action?: "press" | "release" | "move" | "click";
  /** Keys that are held. */
  mods?: ("shift" | "alt" | "meta" | "ctrl")[];
}
export const MouseEvent: Shape<MouseEvent> = { x: 0, y: 0, button: ["", undefined], action: ["", undefined], mods: [""] };

/** Keys to press, one after the other, or what a mouse does; sent the way the program's modes ask for (application cursor keys and keypad, kitty keyboard, mouse). */
export interface Keys {
  mouse?: MouseEvent;
  /** Names of keys, in any case: Enter Tab BTab Escape Space BSpace Up Down Left Right Home End PgUp PgDn Insert Delete F1..F24; Return Esc Backspace PageUp PPage PageDown NPage IC Ins DC Del mean the same; KP0..KP9 KP. KP/ KP* KP- KP+ KP= KPEnter are the keypad; or one character; each with any of the prefixes `C-`, `M-`, `S-`; or `text:` and literal text. */
  keys?: string[];
}
export const Keys: Shape<Keys> = { mouse: [() => MouseEvent, undefined], keys: [""] };

/** Text to paste. When the program asked for bracketed paste it goes between ESC[200~ and ESC[201~, with newlines as LF; otherwise each newline becomes CR. CR LF is one newline. In both cases any ESC[201~ inside, control characters besides TAB, CR and LF, and the characters that the terminal makes signals of are left out. */
export interface Paste {
  /** The text. */
  data: string;
}
export const Paste: Shape<Paste> = { data: "" };

/** A size in cells. */
export interface Size {
  /** Columns. */
  cols: number;
  /** Rows. */
  rows: number;
}
export const Size: Shape<Size> = { cols: 0, rows: 0 };

/** The new size. */
export interface Resized {
  /** Always true. */
  success: true;
  /** Columns. */
  cols: number;
  /** Rows. */
  rows: number;
}
export const Resized: Shape<Resized> = { success: false, cols: 0, rows: 0 };

/** A signal for the foreground process group. */
export interface Signal {
  /** HUP, INT, QUIT, ABRT, KILL, USR1, USR2, PIPE, ALRM, TERM, CONT, STOP, TSTP, TTIN, TTOU or WINCH; in any case, with or without SIG. */
  signal: string;
}
export const Signal: Shape<Signal> = { signal: "" };

/** An object without fields. */
export interface Nothing {
}
export const Nothing: Shape<Nothing> = {  };

/** The reply of a call that has nothing to tell. */
export interface Done {
  /** Always true. */
  success: true;
}
export const Done: Shape<Done> = { success: false };

/** Says what to wait for: one condition, or `any` of several. */
export interface Wait {
  /** `text`: the pattern is shown; `regex`: it matches a line (RE2; `^` and `$` are those of each line); `idle`: nothing was printed or typed for `idle_ms`, counted from the beginning of the wait at the earliest; `exit`: the program has ended; `prompt`: a shell waits for a command (OSC 133 or 633 marks, else its line editor reads); `title`: the title contains the pattern; `cursor`: it rests at `x`, `y`; `alt_screen`: the alternate screen is shown; `mode`: a mode has a value. Text is looked at as it is shown at every moment: what scrolled by, was erased or overwritten at once still matches. */
  for?: "text" | "regex" | "idle" | "exit" | "prompt" | "title" | "cursor" | "alt_screen" | "mode";
  /** For `text` and `title` the text, for `regex` an RE2 expression: 1 to 4096 bytes. Rows that the right margin broke are one line; blanks that were printed at the end of a line count, and `$` matches before them too. A pattern with `\n`, or with `(?s)` and a dot, is looked for in all lines together, each ended by `\n`. The expressions of a wait may need 10000 instructions in all, about one a character or class, each as often as it may repeat. Ignored otherwise. */
  pattern?: string;
  /** Silence that `idle` waits for, in milliseconds; 0 is 500. */
  idle_ms?: number;
  /** Wait for the absence of `text`, `regex`, `title`, `cursor`, `alt_screen`, `mode` or `prompt`. Text is absent when the screen does not show it; the history does not count. */
  not?: boolean;
  /** `text` and `regex` leave out the history. Without it what is in the history at the beginning counts, unless there is `since`. */
  screen_only?: boolean;
  /** Column for `cursor`, from 0; absent: any. */
  x?: number;
  /** Row for `cursor`, from 0; absent: any. */
  y?: number;
  /** Which mode, for `mode`: a name of `modes` in the snapshot as JSON. */
  mode?: "application_cursor" | "application_keypad" | "origin" | "autowrap" | "reverse_wrap" | "insert" | "linefeed" | "reverse_video" | "bracketed_paste" | "focus_events" | "mouse" | "mouse_encoding" | "synchronized_output" | "kitty_keyboard";
  /** What the mode is: true or false, for `mouse` and `mouse_encoding` a name, for `kitty_keyboard` the flags. Absent is true. */
  value?: boolean | string | number;
  /** Conditions instead of one; the first that is true ends the wait, and `index` says which. */
  any?: WaitCondition[];
  /** When to give up, in milliseconds; 0 is 30000. */
  timeout_ms?: number;
  /** Only what was printed or changed behind this position counts; the screen begins as it was there. `idle` and `prompt` need some output behind it, a prompt mark has to be behind it; `cursor`, `alt_screen` and `mode` begin with how it was there; `exit` does not care. It must be in the journal (else 404 NOT_KEPT) and not beyond the end of the output (else 400). Take `seq` of the input's reply, or of the wait before. */
  since?: number;
  /** The echo of what was sent through the API does not count as text. */
  ignore_echo?: boolean;
}
export const Wait: Shape<Wait> = { for: ["", undefined], pattern: ["", undefined], idle_ms: [0, undefined], not: [false, undefined], screen_only: [false, undefined], x: [0, undefined], y: [0, undefined], mode: ["", undefined], value: [null, undefined], any: [() => WaitCondition], timeout_ms: [0, undefined], since: [0, undefined], ignore_echo: [false, undefined] };

/** One condition of a wait. */
export interface WaitCondition {
  /** `text`: the pattern is shown; `regex`: it matches a line (RE2; `^` and `$` are those of each line); `idle`: nothing was printed or typed for `idle_ms`, counted from the beginning of the wait at the earliest; `exit`: the program has ended; `prompt`: a shell waits for a command (OSC 133 or 633 marks, else its line editor reads); `title`: the title contains the pattern; `cursor`: it rests at `x`, `y`; `alt_screen`: the alternate screen is shown; `mode`: a mode has a value. Text is looked at as it is shown at every moment: what scrolled by, was erased or overwritten at once still matches. */
  for: "text" | "regex" | "idle" | "exit" | "prompt" | "title" | "cursor" | "alt_screen" | "mode";
  /** For `text` and `title` the text, for `regex` an RE2 expression: 1 to 4096 bytes. Rows that the right margin broke are one line; blanks that were printed at the end of a line count, and `$` matches before them too. A pattern with `\n`, or with `(?s)` and a dot, is looked for in all lines together, each ended by `\n`. The expressions of a wait may need 10000 instructions in all, about one a character or class, each as often as it may repeat. Ignored otherwise. */
  pattern?: string;
  /** Silence that `idle` waits for, in milliseconds; 0 is 500. */
  idle_ms?: number;
  /** Wait for the absence of `text`, `regex`, `title`, `cursor`, `alt_screen`, `mode` or `prompt`. Text is absent when the screen does not show it; the history does not count. */
  not?: boolean;
  /** `text` and `regex` leave out the history. Without it what is in the history at the beginning counts, unless there is `since`. */
  screen_only?: boolean;
  /** Column for `cursor`, from 0; absent: any. */
  x?: number;
  /** Row for `cursor`, from 0; absent: any. */
  y?: number;
  /** Which mode, for `mode`: a name of `modes` in the snapshot as JSON. */
  mode?: "application_cursor" | "application_keypad" | "origin" | "autowrap" | "reverse_wrap" | "insert" | "linefeed" | "reverse_video" | "bracketed_paste" | "focus_events" | "mouse" | "mouse_encoding" | "synchronized_output" | "kitty_keyboard";
  /** What the mode is: true or false, for `mouse` and `mouse_encoding` a name, for `kitty_keyboard` the flags. Absent is true. */
  value?: boolean | string | number;
}
export const WaitCondition: Shape<WaitCondition> = { for: "", pattern: ["", undefined], idle_ms: [0, undefined], not: [false, undefined], screen_only: [false, undefined], x: [0, undefined], y: [0, undefined], mode: ["", undefined], value: [null, undefined] };

/** The reply to a condition that came true. */
export interface Waited {
  /** Always true. */
  matched: true;
  /** Lines of the last 1000 rows of history and of the screen at that moment, those that the margin broke as one; with `since` only those that were printed or changed behind it. */
  text: string;
  /** Position: output bytes of the terminal, counted from 0 at its creation, up to which was looked. For `text` and `regex` the end of the match. The next wait with this `since` misses nothing. */
  seq: number;
  /** Which condition of `any`, from 0. */
  index?: number;
  match?: Match;
  exit?: Exit;
}
export const Waited: Shape<Waited> = { matched: false, text: "", seq: 0, index: [0, undefined], match: [() => Match, undefined], exit: [() => Exit, undefined] };

/** What `text` or `regex` matched, and where it was printed. Of text that was printed longer ago than can be gone through both positions are one at which it was shown already. */
export interface Match {
  /** The text. */
  text: string;
  /** Position before its first character. */
  start_seq: number;
  /** Position behind its last one. */
  end_seq: number;
}
export const Match: Shape<Match> = { text: "", start_seq: 0, end_seq: 0 };

/** The state of a session. `idle`: it expires soon for want of activity. `failed`: its compute could not be had. */
export type SessionStatus = "active" | "idle" | "paused" | "closed" | "failed";

/** The last observed state of compute. `dead`: it is gone, or there was none yet. */
export type ComputeState = "running" | "paused" | "dead" | "unknown";

/** What one session may use, or has used. What is absent is not limited, or is none. */
export interface Budget {
  /** Processor time of all its processes, in seconds. */
  cpu_seconds?: number;
  /** Commands that were started. */
  commands?: number;
  /** Bytes of output. */
  bytes?: number;
}
export const Budget: Shape<Budget> = { cpu_seconds: [0, undefined], commands: [0, undefined], bytes: [0, undefined] };

/** Says how long sessions of the thread may live. */
export interface Policy {
  /** Without activity: commands, input, output, files, viewers, touch. 0 expires at once. */
  idle_seconds: number;
  /** In all. */
  max_seconds: number;
  budget?: Budget;
}
export const Policy: Shape<Policy> = { idle_seconds: 0, max_seconds: 0, budget: [() => Budget, undefined] };

/** Changes a policy. A field that is absent stays as it was; a budget is given as a whole, and 0 in it is no limit. */
export interface SetPolicy {
  /** Without activity: commands, input, output, files, viewers, touch. 0 expires at once. */
  idle_seconds?: number;
  /** In all. */
  max_seconds?: number;
  budget?: Budget;
}
export const SetPolicy: Shape<SetPolicy> = { idle_seconds: [0, undefined], max_seconds: [0, undefined], budget: [() => Budget, undefined] };

/** Asks for a new thread. */
export interface CreateThread {
  /** The thread's name, which is also the session's in /session/{sid}; empty or absent: the server chooses one. */
  id?: string;
  /** The provider on which its processes run; absent: the lease's, or this machine (`local`). */
  sandbox?: string;
  /** An existing lease, to share its compute with other threads. */
  lease_id?: string;
  policy?: SetPolicy;
}
export const CreateThread: Shape<CreateThread> = { id: ["", undefined], sandbox: ["", undefined], lease_id: ["", undefined], policy: [() => SetPolicy, undefined] };

/** Owns terminals and outlives their processes. */
export interface Thread {
  /** Its name. */
  thread_id: string;
  /** What its agent and user said. */
  messages: { [key: string]: unknown }[];
  sandbox: ThreadSandbox;
  /** The lease of the active terminal. */
  lease_id: string;
  policy: Policy;
  /** When it was made. */
  created_at: string;
  /** When its record changed last. */
  updated_at: string;
  /** How many messages come before these: GET …/messages has them. Absent in lists, which have no messages. */
  messages_omitted?: number;
}
export const Thread: Shape<Thread> = { thread_id: "", messages: [{ "": null }], sandbox: () => ThreadSandbox, lease_id: "", policy: () => Policy, created_at: "", updated_at: "", messages_omitted: [0, undefined] };

/** Says where the processes of a thread run. */
export interface ThreadSandbox {
  /** The provider's name. */
  type: string;
  /** The session's status; empty when there never was one. */
  status: "" | "active" | "idle" | "paused" | "closed" | "failed";
  /** Its session: the live one, or the newest; empty when it never had one. */
  session_id: string;
  /** Its active terminal. */
  terminal_id: string;
}
export const ThreadSandbox: Shape<ThreadSandbox> = { type: "", status: "", session_id: "", terminal_id: "" };

/** Has threads. */
export interface ThreadList {
  /** By id. */
  threads: Thread[];
  /** `after` of the next part; absent at the end. */
  next?: string;
}
export const ThreadList: Shape<ThreadList> = { threads: [() => Thread], next: ["", undefined] };

/** A session: while it is live, processes of the thread may live. */
export interface ThreadSession {
  /** Its thread. */
  thread_id: string;
  /** Its id; null when there is none yet. */
  session_id: string | null;
  /** The thread's active terminal. */
  terminal_id: string;
  /** Its status; null when the thread never had a session. */
  status: SessionStatus | null;
  /** When it began; null when there is none yet. */
  created_at: string | null;
  /** The last activity; null when there is none yet. */
  last_active_at: string | null;
  /** When it is over unless something happens: the earlier of last_active_at + idle_seconds and created_at + max_seconds. While it is paused only the latter counts; null when there is none yet. */
  expires_at: string | null;
  /** Of its policy. */
  idle_seconds: number;
  /** Of its policy. */
  max_seconds: number;
  budget?: Budget;
  used?: Budget;
  /** When it was over; absent while it is live. */
  ended_at?: string;
  /** Why it is over. */
  close_reason?: "idle_timeout" | "max_duration" | "budget" | "destroyed" | "superseded" | "thread_deleted" | "provider";
}
export const ThreadSession: Shape<ThreadSession> = { thread_id: "", session_id: ["", null], terminal_id: "", status: ["", null], created_at: ["", null], last_active_at: ["", null], expires_at: ["", null], idle_seconds: 0, max_seconds: 0, budget: [() => Budget, undefined], used: [() => Budget, undefined], ended_at: ["", undefined], close_reason: ["", undefined] };

/** The part of a terminal that outlives its processes. */
export interface ThreadTerminal {
  /** Its thread. */
  thread_id: string;
  /** Its id. */
  terminal_id: string;
  /** Where it runs. */
  lease_id: string;
  /** Its directory. */
  cwd: string;
  /** Variables that were changed or added against the environment at the first start. */
  env_delta: { [key: string]: string };
  /** The number of this state; a change makes the next one. */
  version: number;
  /** When it was made. */
  created_at: string;
  /** When its state changed last. */
  updated_at: string;
  /** The same as version. */
  state_version: number;
  /** Variables that were removed, ascending. */
  env_unset: string[];
  /** A shell for commands, or a program on a pseudo-terminal. */
  kind: "shell" | "pty";
  /** Its name; unique in the thread. */
  name: string;
  /** It is the one that is meant when none is named. */
  active: boolean;
}
export const ThreadTerminal: Shape<ThreadTerminal> = { thread_id: "", terminal_id: "", lease_id: "", cwd: "", env_delta: { "": "" }, version: 0, created_at: "", updated_at: "", state_version: 0, env_unset: [""], kind: "", name: "", active: false };

/** A terminal after a rollback. */
export interface RolledBack {
  /** Its thread. */
  thread_id: string;
  /** Its id. */
  terminal_id: string;
  /** Where it runs. */
  lease_id: string;
  /** Its directory. */
  cwd: string;
  /** Variables that were changed or added against the environment at the first start. */
  env_delta: { [key: string]: string };
  /** The number of this state; a change makes the next one. */
  version: number;
  /** When it was made. */
  created_at: string;
  /** When its state changed last. */
  updated_at: string;
  /** The same as version. */
  state_version: number;
  /** Variables that were removed, ascending. */
  env_unset: string[];
  /** A shell for commands, or a program on a pseudo-terminal. */
  kind: "shell" | "pty";
  /** Its name; unique in the thread. */
  name: string;
  /** It is the one that is meant when none is named. */
  active: boolean;
  /** What its running process learnt: `now` it is there, `queued` it will be when the commands before are done, `next` the next process starts there. */
  applied: "now" | "queued" | "next";
  /** The directory of the version, when it is gone. A shell is in the nearest one above it, which is cwd once it has got there. */
  cwd_fallback?: string;
}
export const RolledBack: Shape<RolledBack> = { thread_id: "", terminal_id: "", lease_id: "", cwd: "", env_delta: { "": "" }, version: 0, created_at: "", updated_at: "", state_version: 0, env_unset: [""], kind: "", name: "", active: false, applied: "", cwd_fallback: ["", undefined] };

/** Has the terminals of a thread. */
export interface ThreadTerminals {
  /** The oldest first. */
  terminals: ThreadTerminal[];
  /** `after` of the next part, with limit; absent at the end. */
  next?: string;
}
export const ThreadTerminals: Shape<ThreadTerminals> = { terminals: [() => ThreadTerminal], next: ["", undefined] };

/** Has the versions of a terminal's state. */
export interface TerminalStates {
  /** The newest first, at most 1000. */
  states: TerminalState[];
}
export const TerminalStates: Shape<TerminalStates> = { states: [() => TerminalState] };

/** One version of a terminal's state. */
export interface TerminalState {
  /** The directory. */
  cwd: string;
  /** Variables that were changed or added against the environment at the first start. */
  env_delta: { [key: string]: string };
  /** Variables that were removed. */
  env_unset: string[];
  /** The same. */
  state_version: number;
  /** Since when. */
  at: string;
  /** Its number. */
  version: number;
}
export const TerminalState: Shape<TerminalState> = { cwd: "", env_delta: { "": "" }, env_unset: [""], state_version: 0, at: "", version: 0 };

/** Says to which version to go back. */
export interface Rollback {
  /** The number of an earlier state. */
  version: number;
}
export const Rollback: Shape<Rollback> = { version: 0 };

/** One connection that shows a terminal. */
export interface Viewer {
  /** Id, as `viewer` of the connection's first snapshot has it; new with each connection. */
  id: string;
  /** What it calls itself; "" when it has not said. */
  name: string;
  /** `read` looks, `write` also types, `admin` may do everything. */
  role: "read" | "write" | "admin";
  /** What it is: the web page, `evertty attach`, another program, a client of another product, an SSH client. */
  client: "web" | "attach" | "api" | "compat" | "ssh";
  /** Columns that it asked for; 0 when it has not. */
  cols: number;
  /** Rows that it asked for; 0 when it has not. */
  rows: number;
  /** When it connected. */
  connected_at: string;
  /** Output that it has not taken yet, in bytes of the terminal. */
  lag_bytes: number;
  /** How often it got another snapshot than its first. */
  resyncs: number;
  /** When it typed last; null before. */
  typing_at: string | null;
  /** Whether its size decides that of the terminal. */
  owner: boolean;
  /** Nobody looks at it now: a page shows another terminal. */
  hidden?: boolean;
}
export const Viewer: Shape<Viewer> = { id: "", name: "", role: "", client: "", cols: 0, rows: 0, connected_at: "", lag_bytes: 0, resyncs: 0, typing_at: ["", null], owner: false, hidden: [false, undefined] };

/** Has those who watch a terminal, oldest first. */
export interface ViewerList {
  /** The viewers. */
  viewers: Viewer[];
  control: Control;
}
export const ViewerList: Shape<ViewerList> = { viewers: [() => Viewer], control: () => Control };

/** Says who types. */
export interface Control {
  /** `open`: everybody who may type does. `locked`: the holder alone. */
  mode: "open" | "locked";
  /** Id of the viewer that types alone; null while it is open. */
  holder: string | null;
  /** Ids of the viewers that ask for the keyboard, in the order in which they began. */
  requests: string[];
}
export const Control: Shape<Control> = { mode: "", holder: ["", null], requests: [""] };

/** Changes who types. */
export interface ControlTerminal {
  /** `lock`: from now on only who acts types. `unlock`: everybody does. `request`: who acts asks for the keyboard. `grant`: the viewer is the holder from now on. `deny`: it asks no more. The last two are the holder's, and `unlock` too; an administrator may do them always. */
  action: "lock" | "unlock" | "request" | "grant" | "deny";
  /** Id of the viewer that it is granted or denied to; absent: who asked first. For `lock` and `request` who acts, if `as` does not say. */
  viewer?: string;
  /** As the query's `as`. */
  as?: string;
}
export const ControlTerminal: Shape<ControlTerminal> = { action: "", viewer: ["", undefined], as: ["", undefined] };

/** The reply to a change of who types. */
export interface Controlled {
  /** Always true. */
  success: true;
  control: Control;
}
export const Controlled: Shape<Controlled> = { success: false, control: () => Control };

/** One who watches now. */
export interface PresentViewer {
  /** Id, as in Viewer. */
  id: string;
  /** What it calls itself; "" when it has not said. */
  name: string;
  /** As in Viewer. */
  role: "read" | "write" | "admin";
  /** Whether it has typed within the last 2 seconds. */
  typing: boolean;
}
export const PresentViewer: Shape<PresentViewer> = { id: "", name: "", role: "", typing: false };

/** Who watches now: a list of up to 32 viewers, and the number of more. At most once a second. */
export type Presence = PresentViewer[] | number;

/** Says what the terminal's line discipline does with what is typed (termios(3)). A viewer on a slow line may show what is typed before the program does, but never while `echo` is false and `canonical` true: so programs ask for a password. */
export interface InputMode {
  /** The line discipline shows what is typed (ECHO). */
  echo: boolean;
  /** The program gets whole lines (ICANON). */
  canonical: boolean;
  /** A line editor of the program has the keyboard: it shows what is typed by itself. */
  editing: boolean;
}
export const InputMode: Shape<InputMode> = { echo: false, canonical: false, editing: false };
