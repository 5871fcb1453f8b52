package server

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// compressed is the header of replies that may be large.
var compressed = httpapi.Header{Name: "Content-Encoding", Schema: `{"type": "string", "enum": ["zstd", "gzip"]}`,
	Text: "`zstd` or `gzip`, the one Accept-Encoding prefers, when the reply has 1400 bytes or more; absent otherwise."}

// eventTable is a Markdown table of events.
func eventTable(tables ...[]wire.EventType) string {
	b := "| event | data | when |\n| --- | --- | --- |\n"
	for _, e := range slices.Concat(tables...) {
		b += fmt.Sprintf("| `%s` | %s | %s |\n", e.Name, reflect.TypeOf(e.Value).Name(), e.When)
	}
	return b
}

// Replies that are written by hand, as the document has them.
var (
	screen = httpapi.Reply{Name: "Screen", Status: 200,
		Text:    "The screen, in the form that `format` asks for.",
		Headers: []httpapi.Header{compressed},
		JSON:    wire.Screens,
	}
	recordingReply = httpapi.Reply{Name: "Recording", Status: 200,
		Text: "**asciicast** (https://docs.asciinema.org/manual/asciicast/v3, …/v2): a header, then an event a " +
			"line. " +
			"Time begins with the first event. `o` is output, decoded: a byte that is not UTF-8 is one U+FFFD; `r` a " +
			"resize; `i` what was typed, when the server records that; `x` the exit status, of version 3 only; `m` " +
			"what else a viewer must know: `generation 2` (the program was started again), `exit 0` (before that, " +
			"and in version 2), `12 bytes lost` (the disk was full), `damaged from here` (the checksum is " +
			"wrong).\n\n**raw**: the output alone, byte for byte.",
		Headers: []httpapi.Header{
			{Name: "Content-Disposition", Text: "A file name: the terminal's.", Schema: `{"type": "string"}`},
			{Name: "Content-Encoding", Text: "`zstd` or `gzip`, the one Accept-Encoding prefers; absent otherwise.",
				Schema: `{"type": "string", "enum": ["zstd", "gzip"]}`},
			{Name: "Evertty-From",
				Text: "Position at which the recording begins: `from` of a request for the same one. One with " +
					"`follow` that the end of the server breaks off goes on behind what was received.",
				Schema: `{"type": "integer", "minimum": 0}`},
		},
		Media: []httpapi.Media{
			{Type: "application/x-asciicast", Schema: `{"type": "string"}`,
				Example: "{\"version\":3,\"term\":" +
					"{\"cols\":80,\"rows\":24,\"type\":\"xterm-256color\"},\"timestamp\":1504467315," +
					"\"command\":\"bash " +
					"-l\"}\n[0.000, \"o\", \"$ \"]\n[1.001, \"o\", \"ls\\r\\n\"]\n[0.887, \"x\", \"0\"]\n"},
			{Type: "application/octet-stream", Schema: `{"type": "string"}`, Example: ""},
		},
	}
	eventStream = httpapi.Reply{Name: "EventStream", Status: 200,
		Text: "Server-Sent Events, until the exit. Each has `event:`, `id:` (its seq; not for `meta`) and one " +
			"`data:` line of JSON. A comment comes every 15 seconds without an event.\n\n" +
			eventTable(wire.StreamEvents, wire.SSEEvents) +
			"\nWith `since` the header Last-Event-ID counts when it is larger, so that an EventSource that " +
			"reconnects by itself resumes; without `since` it means nothing. An EventSource that connects again by " +
			"itself asks for the same URL, so put `since` only into one that you close at its first error.",
		Headers: []httpapi.Header{
			{Name: "X-Accel-Buffering", Text: "`no`: proxies must pass events on at once.",
				Schema: `{"type": "string", "const": "no"}`},
		},
		Media: []httpapi.Media{
			{Type: "text/event-stream", Schema: `{"type": "string"}`, Example: "event: snapshot\nid: 5\ndata: " +
				"{\"cols\":80,\"rows\":24,\"seq\":5,\"unicode\":\"11\"," +
				"\"reason\":\"connect\",\"data\":\"\\u0018hello\\u001b[20l\\u001b[?25h\\u001b[1;6H\"}\n\nevent: " +
				"data\nid: 7\ndata: {\"seq\":7,\"data\":\"\\r\\n\"}\n\n"},
		},
		Events: slices.Concat(wire.StreamEvents, wire.SSEEvents),
	}
	terminalSocket = httpapi.Reply{Name: "TerminalSocket", Status: 101,
		Text: "A WebSocket of one terminal, until the exit (close 1000), the end of the server (close 1001) or of " +
			"the ticket or login (close 4401). One that a cookie opens needs `auth` as its first message within 5 " +
			"seconds (else close 4401); what is wrong with its request follows as an `error` (close 1008). A " +
			"message may have 1 MiB (else close 1009); a ping frame comes every 15 seconds, and a viewer that " +
			"answers none for 45 is closed.\n\n`format=json`: text frames. From the server one event each, with its " +
			"kind in `event` and the terminal's id in `pty`, and `error` and `pong`; from the client one command " +
			"each, named by `type`.\n\n" + eventTable(wire.StreamEvents) +
			"\n`format=binary`: from the server 0x01 + u16be cols + u16be rows + u64be seq + ANSI (snapshot), " +
			"0x02 + u64be seq + output (data), 0x03 + JSON (everything else); from the client 0x00 + input bytes, " +
			"0x03 + JSON command.\n\nA viewer with the role read gets `error` READ_ONLY for input; its resize and " +
			"focus change nothing.",
		Events:   slices.Concat(wire.StreamEvents, wire.SocketEvents),
		Commands: wire.SocketCommands,
	}
	pageSocket = httpapi.Reply{Name: "PageSocket", Status: 101,
		Text: "A WebSocket of any number of terminals, because a browser opens only six connections to one server. " +
			"Text frames, `auth` and 4401 as on a terminal's own WebSocket; events and commands name the terminal in " +
			"`pty`. `list` " +
			"comes first; `attach` begins and `detach` ends the watching of a terminal; after a reconnect attach " +
			"again, with `since` to go on.",
		Events:   slices.Concat(wire.PageEvents, wire.StreamEvents, wire.SocketEvents),
		Commands: slices.Concat(wire.PageCommands, wire.SocketCommands),
	}
	foreignSocket = httpapi.Reply{Name: "ForeignSocket", Status: 101,
		Text: "A WebSocket in the protocol of another product, for its unmodified client: " +
			"docs/guide/foreign-clients.md. What comes first is the screen, as output behind a reset; so it is whenever " +
			"the viewer missed anything, and behind each resize. Input of a viewer with the role read is dropped, as its sizes are.",
	}
	terminadoList = httpapi.Reply{Name: "TerminadoList", Status: 200, Text: "The terminal of the path, alone.",
		Media: []httpapi.Media{{Type: "application/json",
			Schema: `{"type": "array", "items": {"$ref": "#/components/schemas/TerminadoTerminal"}}`}},
	}
	notModified = httpapi.Reply{Name: "NotModified", Status: 304,
		Text: "The file is still the one that If-None-Match names (RFC 9110).",
	}
	root = httpapi.Reply{Name: "Root", Status: 200,
		Text: "The page, or the list. After a login by a link on another site: a page that goes on to `/#page=…`, " +
			"with the cookie.",
		JSON:  []any{wire.RouteList{}},
		Media: []httpapi.Media{{Type: "text/html", Schema: ``, Example: ""}},
	}
	loggedIn = httpapi.Reply{Name: "LoggedIn", Status: 303,
		Text: "Logged in; go on to `/#page=SECRET`. The secret and the cookie are the two halves of the login.",
		Headers: []httpapi.Header{
			{Name: "Location", Text: "`/#page=SECRET`; `/` where there is no Set-Cookie.",
				Schema: `{"type": "string"}`, Required: true},
			{Name: "Set-Cookie",
				Text: "The session; absent with --auth none, and for who was logged in already and opens a used link " +
					"again.",
				Schema: `{"type": "string"}`},
		},
	}
	pageFile = httpapi.Reply{Name: "PageFile", Status: 200,
		Text: "The file, compressed with gzip when the client takes it.",
		Headers: []httpapi.Header{
			{Name: "ETag", Text: "Names this content, for If-None-Match.",
				Schema: `{"type": "string"}`, Required: true},
		},
		Media: []httpapi.Media{{Type: "*/*", Schema: ``, Example: ""}},
	}
	metricsReply = httpapi.Reply{Name: "Metrics", Status: 200,
		Text:  "Counters and gauges, without ids of terminals.",
		Media: []httpapi.Media{{Type: "text/plain", Schema: `{"type": "string"}`, Example: ""}},
	}
	document = httpapi.Reply{Name: "Document", Status: 200,
		Text:  "OpenAPI 3.1.",
		Media: []httpapi.Media{{Type: "application/json", Schema: `{"type": "object"}`, Example: ""}},
	}
)
