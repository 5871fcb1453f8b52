package threadapi

import (
	"net/http"
	"slices"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/exec"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// threadEvents is written by hand: a stream of events, or a list.
var threadEvents = httpapi.Reply{Name: "ThreadEvents", Status: http.StatusOK,
	Text: "A stream of events named by their types (an `event:` line), with `id:` their numbers: first those " +
		"after `since` that are kept, then each as it happens. A comment every 15 s when nothing does. After " +
		"`thread.deleted` it ends; `error` says that the server goes. As a list: ThreadEvents.",
	JSON:   []any{wire.ThreadEvents{}},
	Media:  []httpapi.Media{{Type: "text/event-stream", Schema: `{"type": "string"}`}},
	Events: []wire.EventType{{Value: wire.ThreadEvent{}}},
}

// changing are the refusals of what changes the compute of a thread or lease.
var changing = slices.Concat(httpapi.NoThread, httpapi.Lifecycle, httpapi.Approved, httpapi.Incapable,
	httpapi.NoCompute, httpapi.NoSpace)

// layerRoutes are about a thread and its layers.
func (t *threads) layerRoutes() []httpapi.Route {
	return httpapi.Group(
		"threads",
		httpapi.Get("listThreads", "/api/threads", "The threads", t.listThreads).
			Refusing(httpapi.NoCompute),
		httpapi.Post("createThread", "/api/threads", "Make a thread", t.createThread).
			Text("With its session, terminal and lease. It is not needed: the first use of /session/{sid} makes "+
				"the thread of that name.").
			OptionalBody("What to make; nothing is a local thread with a name of the server's.").
			Status(http.StatusCreated, "Made.").
			Refusing(httpapi.NoThread, httpapi.Lifecycle, httpapi.Incapable, httpapi.NoCompute, httpapi.NoSpace).
			Audited("thread.create"),
		httpapi.Get("getThread", "/api/threads/:id", "One thread", t.getThread).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Delete("deleteThread", "/api/threads/:id", "End everything of a thread and forget it", t.deleteThread).
			Text("Programs, shells, screens, logs, records and events. A lease that was made for it and that "+
				"nobody else uses goes too.").
			Refusing(httpapi.NoThread, httpapi.Approved, httpapi.Incapable, httpapi.NoCompute, httpapi.NoSpace).
			Audited("thread.delete"),
		httpapi.Get("getThreadSession", "/api/threads/:id/session", "The session", t.getThreadSession).
			Text("The live one, or the newest. One whose time is over is closed by looking at it.").
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Get("getThreadTerminal", "/api/threads/:id/terminal", "The active terminal", t.getThreadTerminal).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Get("getThreadLease", "/api/threads/:id/lease", "Where the active terminal runs", t.getThreadLease).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Get("listThreadTerminals", "/api/threads/:id/terminals", "All terminals", t.listThreadTerminals).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Get("listThreadCommands", "/api/threads/:id/commands", "The commands of all terminals",
			t.listThreadCommands).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Hand(http.MethodGet, "getThreadEvents", "/api/threads/:id/events",
			"Everything that happens to a thread",
			t.getThreadEvents, threadEvents).
			Streams().
			Refusing(httpapi.NoThread, httpapi.NoCompute),
	)
}

// lifeRoutes are about how long its processes live.
func (t *threads) lifeRoutes() []httpapi.Route {
	return httpapi.Group(
		"threads",
		httpapi.Post("touchThread", "/api/threads/:id/touch", "Note activity", t.touchThread).
			Text("The idle time begins anew. A paused session stays paused.").
			Refusing(httpapi.NoThread, httpapi.Lifecycle, httpapi.NoCompute).Audited(httpapi.NotAudited),
		httpapi.Patch("setThreadPolicy", "/api/threads/:id/policy", "Change the policy", t.setThreadPolicy).
			Text("Of the live session too.").
			Body("What changes.").
			Refusing(httpapi.NoThread, httpapi.Approved, httpapi.NoCompute, httpapi.NoSpace).
			Audited("thread.policy"),
		httpapi.Post("pauseThread", "/api/threads/:id/pause", "Stop the processes where they are", t.pauseThread).
			Text("Local processes get SIGSTOP, a provider's compute its own pause. A second time changes nothing. "+
				"Commands and input resume a thread by themselves.").
			Refusing(changing).
			Audited("thread.pause"),
		httpapi.Post("resumeThread", "/api/threads/:id/resume", "Let the processes go on", t.resumeThread).
			Text("A second time changes nothing. A thread whose session is over gets a new one.").
			Refusing(changing).
			Audited("thread.resume"),
		httpapi.Post("pauseSandbox", "/api/threads/:id/sandbox/pause", "Stop the processes where they are",
			t.pauseThread).
			Text("Local processes get SIGSTOP, a provider's compute its own pause. A second time changes nothing. "+
				"Commands and input resume a thread by themselves. The same as …/pause.").
			Refusing(changing).
			Audited("thread.pause"),
		httpapi.Post("resumeSandbox", "/api/threads/:id/sandbox/resume", "Let the processes go on", t.resumeThread).
			Text("A second time changes nothing. A thread whose session is over gets a new one. "+
				"The same as …/resume.").
			Refusing(changing).
			Audited("thread.resume"),
		httpapi.Delete("destroySandbox", "/api/threads/:id/sandbox", "End the processes and the compute",
			t.destroySandbox).
			Text("Terminals and leases stay; the next use goes on in their state, on new compute.").
			Refusing(httpapi.NoThread, httpapi.Approved, httpapi.Incapable, httpapi.NoCompute, httpapi.NoSpace).
			Audited("lease.delete"),
		httpapi.Post("activateTerminal", "/api/threads/:id/terminals/:tid/activate", "Make it the active one",
			t.activateTerminal).
			Refusing(httpapi.NoThread, httpapi.NoCompute, httpapi.NoSpace).
			Audited("thread.activate"),
		httpapi.Get("getTerminalHistory", "/api/threads/:id/terminals/:tid/history", "The versions of its state",
			t.getTerminalHistory).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Post("rollbackTerminal", "/api/threads/:id/terminals/:tid/rollback", "Go back to a version",
			t.rollbackTerminal).
			Text("Makes a new version that equals the old one.").
			Body("Where to.").
			Refusing(httpapi.NoThread, httpapi.Lifecycle, httpapi.Approved, httpapi.NoCompute, httpapi.NoSpace).
			Audited("thread.rollback"),
	)
}

// routes are about where processes run.
func (l *leases) routes() []httpapi.Route {
	return httpapi.Group(
		"leases",
		httpapi.Get("listLeases", "/api/leases", "The leases", l.listLeases).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Post("createLease", "/api/leases", "Make a lease that threads may share", l.createLease).
			OptionalBody("What to make; nothing is a local lease.").
			Status(http.StatusCreated, "").Refusing(httpapi.Lifecycle, httpapi.NoCompute, httpapi.NoSpace).
			Audited("lease.create"),
		httpapi.Get("getLease", "/api/leases/:id", "One lease", l.getLease).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Delete("deleteLease", "/api/leases/:id", "Forget a lease", l.deleteLease).
			Text("IN_USE when a thread has it or its compute is not dead.").
			Refusing(httpapi.NoThread, httpapi.Lifecycle, httpapi.Approved, httpapi.NoCompute, httpapi.NoSpace).
			Audited("lease.delete"),
		httpapi.Post("pauseLease", "/api/leases/:id/pause", "Pause its compute", l.pauseLease).
			Text("Whoever uses it. A second time changes nothing.").
			Refusing(changing).
			Audited("lease.pause"),
		httpapi.Post("resumeLease", "/api/leases/:id/resume", "Let its compute go on", l.resumeLease).
			Text("A second time changes nothing.").
			Refusing(changing).
			Audited("lease.resume"),
		httpapi.Post("destroyLease", "/api/leases/:id/destroy", "End its compute", l.destroyLease).
			Text("The lease stays; its next use makes other compute.").
			Refusing(changing).
			Audited("lease.delete"),
		httpapi.Post("refreshLease", "/api/leases/:id/refresh", "Ask the provider how its compute is", l.refreshLease).
			Refusing(httpapi.NoThread, httpapi.Lifecycle, httpapi.Incapable, httpapi.NoCompute, httpapi.NoSpace).
			Audited(httpapi.NotAudited),
		httpapi.Get("getLeaseEvents", "/api/leases/:id/events", "Its book", l.getLeaseEvents).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Get("getLeaseMetrics", "/api/leases/:id/metrics", "What its compute uses", l.getLeaseMetrics).
			Refusing(httpapi.NoThread, httpapi.Lifecycle, httpapi.Incapable, httpapi.NoCompute),
		httpapi.Get("listSandboxTypes", "/api/sandbox/types", "The providers and what each can do", l.listSandboxTypes).
			Refusing(httpapi.NoCompute),
		httpapi.Get("listSandboxSessions", "/api/sandbox/sessions", "The leases with the threads that use them",
			l.listSandboxSessions).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Get("getSandboxMetrics", "/api/sandbox/sessions/:id/metrics", "The same as /api/leases/{id}/metrics",
			l.getLeaseMetrics).
			Refusing(httpapi.NoThread, httpapi.Lifecycle, httpapi.Incapable, httpapi.NoCompute),
		httpapi.Post("pauseSandboxSession", "/api/sandbox/sessions/:id/pause", "The same as /api/leases/{id}/pause",
			l.pauseLease).
			Refusing(changing).
			Audited("lease.pause"),
		httpapi.Post("resumeSandboxSession", "/api/sandbox/sessions/:id/resume", "The same as /api/leases/{id}/resume",
			l.resumeLease).
			Refusing(changing).
			Audited("lease.resume"),
		httpapi.Delete("deleteSandboxSession", "/api/sandbox/sessions/:id", "The same as POST /api/leases/{id}/destroy",
			l.destroyLease).
			Refusing(changing).
			Audited("lease.delete"),
	)
}

// routes are about what providers tell. The secret of webhooks stands for a role: providers have no token of ours.
func (w *webhooks) routes() []httpapi.Route {
	return httpapi.Group("leases",
		httpapi.Post("postWebhook", auth.WebhookPath, "Tell what happened to compute", w.post).
			Text("For providers. When the server has a secret for webhooks (--webhook-secret-file) nothing else is "+
				"asked than a signature: X-Webhook-Signature is `sha256=` and the hexadecimal HMAC-SHA256 of "+
				"`TIME.BODY` with the secret as key, X-Webhook-Timestamp is TIME, in seconds since 1970 and within 5 "+
				"minutes of the server's. Each is taken once. Over TLS and from this machine X-Webhook-Secret with "+
				"the secret does too. Without a secret the usual credentials are needed.").
			Reads(wire.Webhook{},
				"What the provider tells, in its own words. Known names are understood: instance_id, sandbox_id, "+
					"session_id (also in camel case), id; event_type, type, event; state, status, newState; and "+
					"the same inside data, eventData, payload.").
			Status(http.StatusAccepted, "").ReadOnly().AdminOnly().Refusing(httpapi.NoCompute, httpapi.NoSpace),
		httpapi.Get("listWebhooks", "/api/webhooks/events", "What providers told", w.list).
			AdminOnly().Refusing(httpapi.NoCompute),
	)
}

// routes are about what may be done with a thread's terminals. They are not held by permissions themselves:
// who may call the server may change them.
func (p *permissions) routes() []httpapi.Route {
	return httpapi.Group("permissions",
		httpapi.Get("getPermissions", "/api/threads/:id/permissions", "What may be done", p.getPermissions).
			Text("Also of a thread of which nobody has said it: the default mode, and no rules.").
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Put("setPermissions", "/api/threads/:id/permissions", "Change what may be done", p.setPermissions).
			Text("For what comes after it; what runs goes on. A thread that is not there is made. Rules that are not "+
				"understood change nothing. The thread's record says the mode and the counts too.").
			Reads(wire.SetPermissions{}, "What changes.").
			Refusing(httpapi.NoThread, httpapi.NoCompute, httpapi.NoSpace).Audited("permissions.change"),
		httpapi.Post("authorize", "/api/threads/:id/authorize", "Ask what the permissions say", p.authorize).
			Text("For tools that somebody else carries out. The decision is an event of the thread. `ask` makes an "+
				"approval; "+
				"once that is approved, the identical call is `allow` once, within 10 minutes.").
			Body("The call.").
			UpTo(exec.MaxBody).Refusing(httpapi.NoThread, httpapi.NoCompute, httpapi.NoSpace).
			Audited(httpapi.NotAudited),
		httpapi.Get("listApprovals", "/api/threads/:id/approvals", "List approvals", p.listApprovals).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Get("getApproval", "/api/threads/:id/approvals/:aid", "One approval", p.getApproval).
			Refusing(httpapi.NoThread, httpapi.NoCompute),
		httpapi.Post("decideApproval", "/api/threads/:id/approvals/:aid", "Approve or deny a call", p.decideApproval).
			Text("Approved, the identical call is let through once within 10 minutes; denied, it is refused for as "+
				"long. A call with `hidden` values is approved after somebody has looked at them.").
			Body("The answer.").
			Refusing(httpapi.NoThread, httpapi.Decided, httpapi.NoCompute, httpapi.NoSpace).
			Audited("approval.decide"),
	)
}
