package openapi

// title and description of the document.
const (
	title       = "evertty"
	summary     = "PTYs that outlive their viewers, over HTTP."
	description = "Terminals that outlive their viewers. A program runs on a real pseudo-terminal until it ends, " +
		"whatever becomes of the server; whoever connects gets a `snapshot` of the true screen, or goes on from a " +
		"position, and then gets exactly the output that follows.\n\n**Bodies** are JSON objects with the header " +
		"`Content-Type: application/json`, at most 1 MiB; 8 MiB where they carry commands, their input or files. " +
		"Unknown fields, fields given twice and wrong types are 400 and say where. Fields may be added to replies in " +
		"later versions; none is removed.\n\n**Errors** are always `Error`: compare `code`, show `error`. " +
		"`x-any-request` lists what a request to any path can get.\n\n**Positions** (`seq`, `id:`, `since`, `from`) " +
		"count output bytes of the terminal from 0; they go on when its program is started again.\n\n**Access**: " +
		"with `--auth none` nothing is asked; otherwise see `securitySchemes`. In every mode Host must be ours, and " +
		"a browser's requests that have effects or open a stream must come from a page of ours; there is no CORS. " +
		"HEAD is answered wherever GET is, with its headers and no body; of a stream it ends at once and is no " +
		"viewer. OPTIONS names the methods of a path in Allow. Secrets in variables (`env`, `env_delta`, " +
		"`arguments`) are shown as \"***\".\n\nEvery reply carries the headers X-Request-Id, the name of the request " +
		"in the server's log, and X-Evertty-API, the version of this contract that the server speaks. A request may " +
		"carry X-Evertty-API too: a server that does not speak that version refuses it with 400 " +
		"UNSUPPORTED_API_VERSION before it has any effect."
)

// tags are the groups of routes, in the order of the document.
var tags = [][2]string{
	{"terminals",
		"Start, find, change and end them. Everything about one terminal is served at /pty/{id} and, the same, at " +
			"/session/{sid}/pty/{id}, where a name needs to be unique in the session only."},
	{"input", "Type into them."},
	{"screen", "Look at them."},
	{"access", "Let others in."},
	{"commands",
		"Run shell commands without a terminal. A session has a default shell, which comes into being when first " +
			"used, and any number of others; directory, variables, functions and options last from one command to " +
			"the next. Everything is served at /session/{sid} for the default shell and at " +
			"/session/{sid}/shell/{shid} for one."},
	{"compat",
		"The routes of Cloudflare's sandbox container, for its clients. A session there is a session here, with its " +
			"default shell. The header X-Session-Id names it, else the body's sessionId, else it is \"default\"."},
	{"foreign",
		"WebSockets in the protocols of other products, for their unmodified clients: docs/guide/foreign-clients.md."},
	{"threads",
		"The durable view of sessions: what /session/{sid} shows live, /api/threads/{id} has as records, which " +
			"outlive processes, servers and machines. The first use of either makes a thread with all its layers: a " +
			"session (how long processes may live), a terminal (directory and variables), a lease (where processes " +
			"run)."},
	{"record",
		"What the harness that drives a thread did. What writes makes the thread and its record; ?record=ID reads " +
			"one that is not current."},
	{"permissions",
		"What may be done with the terminals of a thread: a mode, and rules that allow, deny or ask. Where nobody " +
			"has set any, nothing is held up. See docs/guide/permissions.md."},
	{"leases", "Where processes run: this machine (`local`) or what a provider rents out."},
	{"server", "The server itself."},
}

// anyRequest names the refusals that a request to any path may get.
var anyRequest = []string{"UnsupportedVersion", "Unauthorized", "Forbidden", "NotFound", "MethodNotAllowed", "TooMany",
	"Failed", "Unavailable"}

// credentials are the ways to say who asks.
const credentials = `{
 "bearer": {
  "type": "http",
  "scheme": "bearer",
  "description": "The token of DIR/token, for programs. It may do everything and never stands in a URL."
 },
 "cookie": {
  "type": "apiKey",
  "in": "cookie",
  "name": "evertty_session_XXXXXXXX",
  "description": "A browser's session, from GET /?ticket=: HttpOnly, SameSite=Strict, ` +
	`30 days from the last visit. The eight hex digits of its name` +
	` differ from server to server. Alone it opens GET / and the page's files.` +
	` A WebSocket by cookie needs an Origin, and auth as its first message."
 },
 "page": {
  "type": "apiKey",
  "in": "header",
  "name": "Evertty-Page",
  "description": "The other half of a browser's session: the secret in the address that GET /?ticket= leads to."
 },
 "ticket": {
  "type": "apiKey",
  "in": "query",
  "name": "ticket",
  "description": "A ticket of POST /tickets, for one terminal and one role; for stream, ws, snapshot and the sockets below /compat."
 },
 "webhook": {
  "type": "apiKey",
  "in": "header",
  "name": "X-Webhook-Secret",
  "description": "The secret of --webhook-secret-file, for providers; for POST /api/webhooks/{provider} alone."
 }
}`
