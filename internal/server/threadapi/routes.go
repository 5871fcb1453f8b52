package threadapi

import (
	"slices"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// threadRoutes are the durable view of threads: records, their policies and their events.
func (s *Service) threadRoutes() []httpapi.Route {
	return slices.Concat(s.layerRoutes(), s.lifeRoutes())
}

// layerRoutes are about a thread and its layers.
func (s *Service) layerRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldGet("/api/threads", s.getThreads, "the threads, by id; ?after=&limit=").
			Doc("listThreads", "threads", "The threads").
			Params("threadsAfter threadsLimit").
			Gives("ThreadList Invalid NoCompute"),
		httpapi.OldPost("/api/threads", s.postThread, "make a thread with its session, terminal and lease").
			Doc("createThread", "threads", "Make a thread").
			Text("With its session, terminal and lease. It is not needed: the first use of /session/{sid} makes "+
				"the thread of that name.").
			MayTake(wire.CreateThread{}, "What to make; nothing is a local thread with a name of the server's.").
			Gives("ThreadMade Invalid NoThread Lifecycle TooLarge NotJSON Incapable NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id", s.getThread, "one thread").
			Doc("getThread", "threads", "One thread").
			Gives("Thread NoThread NoCompute"),
		httpapi.OldDelete("/api/threads/:id", s.deleteThread, "end everything of a thread and forget it").
			Doc("deleteThread", "threads", "End everything of a thread and forget it").
			Text("Programs, shells, screens, logs, records and events. A lease that was made for it and that " +
				"nobody else uses goes too.").
			Gives("Done Invalid NoThread TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/session", s.getThreadSession,
			"the thread's session: how long its processes may live").
			Doc("getThreadSession", "threads", "The session").
			Text("The live one, or the newest. One whose time is over is closed by looking at it.").
			Gives("ThreadSession NoThread NoCompute"),
		httpapi.OldGet("/api/threads/:id/terminal", s.getThreadTerminal, "the active terminal: directory and variables").
			Doc("getThreadTerminal", "threads", "The active terminal").
			Params("secrets").
			Gives("ThreadTerminal NoThread NoCompute"),
		httpapi.OldGet("/api/threads/:id/lease", s.getThreadLease, "where the active terminal runs").
			Doc("getThreadLease", "threads", "Where the active terminal runs").
			Gives("Lease NoThread NoCompute"),
		httpapi.OldGet("/api/threads/:id/terminals", s.getThreadTerminals,
			"the terminals of a thread, oldest first; ?after=&limit=").
			Doc("listThreadTerminals", "threads", "All terminals").
			Params("secrets listAfter listLimit").
			Gives("ThreadTerminals Invalid NoThread NoCompute"),
		httpapi.OldGet("/api/threads/:id/commands", s.getThreadCommands,
			"the commands of a thread, newest last; ?terminal=&limit=&before=").
			Doc("listThreadCommands", "threads", "The commands of all terminals").
			Params("ofTerminal limit before").
			Gives("ThreadCommands Invalid NoThread NoCompute"),
		httpapi.OldGet("/api/threads/:id/events", s.getThreadEvents,
			"everything that happens to a thread, as Server-Sent Events or, with ?format=json, as a list; "+
				"?since=&limit=").Streams().
			Doc("getThreadEvents", "threads", "Everything that happens to a thread").
			Params("eventsSince eventsFormat eventsLimit").
			Gives("ThreadEvents Invalid NoThread NoCompute"),
	}
}

// lifeRoutes are about how long its processes live.
func (s *Service) lifeRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldPost("/api/threads/:id/touch", s.postThreadTouch, "note activity: the session's idle time begins anew").
			Doc("touchThread", "threads", "Note activity").
			Text("The idle time begins anew. A paused session stays paused.").
			Gives("ThreadSession Invalid NoThread Lifecycle TooLarge NotJSON NoCompute"),
		httpapi.OldPatch("/api/threads/:id/policy", s.patchThreadPolicy,
			"change how long the thread's sessions may live and what they may use").
			Doc("setThreadPolicy", "threads", "Change the policy").
			Text("Of the live session too.").
			Takes(wire.SetPolicy{}, "What changes.").
			Gives("Thread Invalid NoThread TooLarge NotJSON NeedsApproval NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/pause", s.postThreadPause, "stop the thread's processes where they are").
			Doc("pauseThread", "threads", "Stop the processes where they are").
			Text("Local processes get SIGSTOP, a provider's compute its own pause. A second time changes nothing. " +
				"Commands and input resume a thread by themselves.").
			Gives("Thread Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/resume", s.postThreadResume, "let the thread's processes go on").
			Doc("resumeThread", "threads", "Let the processes go on").
			Text("A second time changes nothing. A thread whose session is over gets a new one.").
			Gives("Thread Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/sandbox/pause", s.postThreadPause, "the same as …/pause").
			Doc("pauseSandbox", "threads", "Stop the processes where they are").
			Text("Local processes get SIGSTOP, a provider's compute its own pause. A second time changes nothing. " +
				"Commands and input resume a thread by themselves. The same as …/pause.").
			Gives("Thread Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/sandbox/resume", s.postThreadResume, "the same as …/resume").
			Doc("resumeSandbox", "threads", "Let the processes go on").
			Text("A second time changes nothing. A thread whose session is over gets a new one. " +
				"The same as …/resume.").
			Gives("Thread Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldDelete("/api/threads/:id/sandbox", s.deleteThreadSandbox,
			"end the thread's processes and its compute; its state stays").
			Doc("destroySandbox", "threads", "End the processes and the compute").
			Text("Terminals and leases stay; the next use goes on in their state, on new compute.").
			Gives("Thread Invalid NoThread TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldPost("/api/threads/:id/terminals/:tid/activate", s.postTerminalActivate,
			"make a terminal the one that is meant when none is named").
			Doc("activateTerminal", "threads", "Make it the active one").
			Gives("ThreadTerminal Invalid NoThread TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/threads/:id/terminals/:tid/history", s.getTerminalHistory,
			"the versions of a terminal's state, newest first").
			Doc("getTerminalHistory", "threads", "The versions of its state").
			Params("secrets").
			Gives("TerminalStates NoThread NoCompute"),
		httpapi.OldPost("/api/threads/:id/terminals/:tid/rollback", s.postTerminalRollback,
			"go back to an earlier version of a terminal's state").
			Doc("rollbackTerminal", "threads", "Go back to a version").
			Text("Makes a new version that equals the old one.").
			Takes(wire.Rollback{}, "Where to.").
			Gives("RolledBack Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval NoCompute NoSpace"),
	}
}

// leaseRoutes are about where processes run.
func (s *Service) leaseRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.OldGet("/api/leases", s.getLeases, "the leases, oldest first; ?provider=").
			Doc("listLeases", "leases", "The leases").
			Params("ofProvider leasesAfter leasesLimit").
			Gives("LeaseList Invalid NoThread NoCompute"),
		httpapi.OldPost("/api/leases", s.postLease, "make a lease that threads may share").
			Doc("createLease", "leases", "Make a lease that threads may share").
			MayTake(wire.CreateLease{}, "What to make; nothing is a local lease.").
			Gives("201 Lease Invalid Lifecycle TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/leases/:id", s.getLease, "one lease").
			Doc("getLease", "leases", "One lease").
			Gives("Lease NoThread NoCompute"),
		httpapi.OldDelete("/api/leases/:id", s.deleteLease, "forget a lease that nothing uses").
			Doc("deleteLease", "leases", "Forget a lease").
			Text("IN_USE when a thread has it or its compute is not dead.").
			Gives("Done Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval NoCompute NoSpace"),
		httpapi.OldPost("/api/leases/:id/pause", s.postLeasePause, "pause a lease's compute, whoever uses it").
			Doc("pauseLease", "leases", "Pause its compute").
			Text("Whoever uses it. A second time changes nothing.").
			Gives("Lease Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldPost("/api/leases/:id/resume", s.postLeaseResume, "let a lease's compute go on").
			Doc("resumeLease", "leases", "Let its compute go on").
			Text("A second time changes nothing.").
			Gives("Lease Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldPost("/api/leases/:id/destroy", s.postLeaseDestroy, "end a lease's compute; its next use makes other").
			Doc("destroyLease", "leases", "End its compute").
			Text("The lease stays; its next use makes other compute.").
			Gives("Lease Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldPost("/api/leases/:id/refresh", s.postLeaseRefresh, "ask the provider how the compute is").
			Doc("refreshLease", "leases", "Ask the provider how its compute is").
			Gives("Lease Invalid NoThread Lifecycle TooLarge NotJSON Incapable NoCompute NoSpace"),
		httpapi.OldGet("/api/leases/:id/events", s.getLeaseEvents, "the book of a lease, oldest first; ?after=&limit=").
			Doc("getLeaseEvents", "leases", "Its book").
			Params("bookAfter eventsLimit").
			Gives("LeaseEvents Invalid NoThread NoCompute"),
		httpapi.OldGet("/api/leases/:id/metrics", s.getLeaseMetrics, "what a lease's compute uses").
			Doc("getLeaseMetrics", "leases", "What its compute uses").
			Gives("ComputeMetrics NoThread Lifecycle Incapable NoCompute"),

		httpapi.OldGet("/api/sandbox/types", s.getSandboxTypes, "the providers and what each can do").
			Doc("listSandboxTypes", "leases", "The providers and what each can do").
			Gives("SandboxTypes NoCompute"),
		httpapi.OldGet("/api/sandbox/sessions", s.getSandboxSessions, "the leases with the threads that use them").
			Doc("listSandboxSessions", "leases", "The leases with the threads that use them").
			Params("ofProvider leasesAfter leasesLimit").
			Gives("SandboxSessions Invalid NoThread NoCompute"),
		httpapi.OldGet("/api/sandbox/sessions/:id/metrics", s.getLeaseMetrics, "the same as /api/leases/:id/metrics").
			Doc("getSandboxMetrics", "leases", "The same as /api/leases/{id}/metrics").
			Gives("ComputeMetrics NoThread Lifecycle Incapable NoCompute"),
		httpapi.OldPost("/api/sandbox/sessions/:id/pause", s.postLeasePause, "the same as /api/leases/:id/pause").
			Doc("pauseSandboxSession", "leases", "The same as /api/leases/{id}/pause").
			Gives("Lease Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldPost("/api/sandbox/sessions/:id/resume", s.postLeaseResume, "the same as /api/leases/:id/resume").
			Doc("resumeSandboxSession", "leases", "The same as /api/leases/{id}/resume").
			Gives("Lease Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),
		httpapi.OldDelete("/api/sandbox/sessions/:id", s.postLeaseDestroy, "the same as /api/leases/:id/destroy").
			Doc("deleteSandboxSession", "leases", "The same as POST /api/leases/{id}/destroy").
			Gives("Lease Invalid NoThread Lifecycle TooLarge NotJSON NeedsApproval Incapable NoCompute NoSpace"),

		// The secret of webhooks is instead of a role: providers have no token of ours.
		httpapi.OldPost(auth.WebhookPath, s.postWebhook, "what a provider tells about an instance").ReadOnly().
			Doc("postWebhook", "leases", "Tell what happened to compute").
			Text("For providers. When the server has a secret for webhooks (--webhook-secret-file) nothing else is "+
				"asked than a signature: X-Webhook-Signature is `sha256=` and the hexadecimal HMAC-SHA256 of "+
				"`TIME.BODY` with the secret as key, X-Webhook-Timestamp is TIME, in seconds since 1970 and within 5 "+
				"minutes of the server's. Each is taken once. Over TLS and from this machine X-Webhook-Secret with "+
				"the secret does too. Without a secret the usual credentials are needed.").
			Takes(wire.Webhook{},
				"What the provider tells, in its own words. Known names are understood: instance_id, sandbox_id, "+
					"session_id (also in camel case), id; event_type, type, event; state, status, newState; and "+
					"the same inside data, eventData, payload.").
			Gives("Matched Invalid TooLarge NotJSON NoCompute NoSpace"),
		httpapi.OldGet("/api/webhooks/events", s.getWebhookEvents, "what providers told, newest first; ?limit=").
			Doc("listWebhooks", "leases", "What providers told").
			Params("hooksLimit").
			Gives("HookEvents Invalid NoCompute"),
	}
}
