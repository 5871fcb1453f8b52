package server

import (
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
)

// threadRoutes are the durable view of threads: records, their policies and their events.
func (s *Server) threadRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Get("/api/threads", s.getThreads, "the threads, by id; ?after=&limit="),
		httpapi.Post("/api/threads", s.postThread, "make a thread with its session, terminal and lease"),
		httpapi.Get("/api/threads/:id", s.getThread, "one thread"),
		httpapi.Delete("/api/threads/:id", s.deleteThread, "end everything of a thread and forget it"),
		httpapi.Get("/api/threads/:id/session", s.getThreadSession, "the thread's session: how long its processes may live"),
		httpapi.Get("/api/threads/:id/terminal", s.getThreadTerminal, "the active terminal: directory and variables"),
		httpapi.Get("/api/threads/:id/lease", s.getThreadLease, "where the active terminal runs"),
		httpapi.Get("/api/threads/:id/terminals", s.getThreadTerminals, "all terminals of a thread"),
		httpapi.Get("/api/threads/:id/commands", s.getThreadCommands, "the commands of a thread, newest last; ?terminal=&limit=&before="),
		httpapi.Get("/api/threads/:id/events", s.getThreadEvents, "everything that happens to a thread, as Server-Sent Events or, with ?format=json, as a list; ?since=&limit=").Streams(),
		httpapi.Post("/api/threads/:id/touch", s.postThreadTouch, "note activity: the session's idle time begins anew"),
		httpapi.Patch("/api/threads/:id/policy", s.patchThreadPolicy, "change how long the thread's sessions may live and what they may use"),
		httpapi.Post("/api/threads/:id/pause", s.postThreadPause, "stop the thread's processes where they are"),
		httpapi.Post("/api/threads/:id/resume", s.postThreadResume, "let the thread's processes go on"),
		httpapi.Post("/api/threads/:id/sandbox/pause", s.postThreadPause, "the same as …/pause"),
		httpapi.Post("/api/threads/:id/sandbox/resume", s.postThreadResume, "the same as …/resume"),
		httpapi.Delete("/api/threads/:id/sandbox", s.deleteThreadSandbox, "end the thread's processes and its compute; its state stays"),
		httpapi.Post("/api/threads/:id/terminals/:tid/activate", s.postTerminalActivate, "make a terminal the one that is meant when none is named"),
		httpapi.Get("/api/threads/:id/terminals/:tid/history", s.getTerminalHistory, "the versions of a terminal's state, newest first"),
		httpapi.Post("/api/threads/:id/terminals/:tid/rollback", s.postTerminalRollback, "go back to an earlier version of a terminal's state"),
	}
}

// leaseRoutes are about where processes run.
func (s *Server) leaseRoutes() []httpapi.Route {
	return []httpapi.Route{
		httpapi.Get("/api/leases", s.getLeases, "the leases, oldest first; ?provider="),
		httpapi.Post("/api/leases", s.postLease, "make a lease that threads may share"),
		httpapi.Get("/api/leases/:id", s.getLease, "one lease"),
		httpapi.Delete("/api/leases/:id", s.deleteLease, "forget a lease that nothing uses"),
		httpapi.Post("/api/leases/:id/pause", s.postLeasePause, "pause a lease's compute, whoever uses it"),
		httpapi.Post("/api/leases/:id/resume", s.postLeaseResume, "let a lease's compute go on"),
		httpapi.Post("/api/leases/:id/destroy", s.postLeaseDestroy, "end a lease's compute; its next use makes other"),
		httpapi.Post("/api/leases/:id/refresh", s.postLeaseRefresh, "ask the provider how the compute is"),
		httpapi.Get("/api/leases/:id/events", s.getLeaseEvents, "the book of a lease, oldest first; ?after=&limit="),
		httpapi.Get("/api/leases/:id/metrics", s.getLeaseMetrics, "what a lease's compute uses"),

		httpapi.Get("/api/sandbox/types", s.getSandboxTypes, "the providers and what each can do"),
		httpapi.Get("/api/sandbox/sessions", s.getSandboxSessions, "the leases with the threads that use them"),
		httpapi.Get("/api/sandbox/sessions/:id/metrics", s.getLeaseMetrics, "the same as /api/leases/:id/metrics"),
		httpapi.Post("/api/sandbox/sessions/:id/pause", s.postLeasePause, "the same as /api/leases/:id/pause"),
		httpapi.Post("/api/sandbox/sessions/:id/resume", s.postLeaseResume, "the same as /api/leases/:id/resume"),
		httpapi.Delete("/api/sandbox/sessions/:id", s.postLeaseDestroy, "the same as /api/leases/:id/destroy"),

		// The secret of webhooks is instead of a role: providers have no token of ours.
		httpapi.Post(auth.WebhookPath, s.postWebhook, "what a provider tells about an instance").ReadOnly(),
		httpapi.Get("/api/webhooks/events", s.getWebhookEvents, "what providers told, newest first; ?limit="),
	}
}
