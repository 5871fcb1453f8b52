package server

import "net/http"

// threadRoutes are the durable view of threads: records, their policies and their events.
func (s *Server) threadRoutes() []route {
	return []route{
		{http.MethodGet, "/api/threads", s.getThreads, false, false, "the threads, by id; ?after=&limit="},
		{http.MethodPost, "/api/threads", s.postThread, true, false, "make a thread with its session, terminal and lease"},
		{http.MethodGet, "/api/threads/:id", s.getThread, false, false, "one thread"},
		{http.MethodDelete, "/api/threads/:id", s.deleteThread, true, false, "end everything of a thread and forget it"},
		{http.MethodGet, "/api/threads/:id/session", s.getThreadSession, false, false, "the thread's session: how long its processes may live"},
		{http.MethodGet, "/api/threads/:id/terminal", s.getThreadTerminal, false, false, "the active terminal: directory and variables"},
		{http.MethodGet, "/api/threads/:id/lease", s.getThreadLease, false, false, "where the active terminal runs"},
		{http.MethodGet, "/api/threads/:id/terminals", s.getThreadTerminals, false, false, "all terminals of a thread"},
		{http.MethodGet, "/api/threads/:id/commands", s.getThreadCommands, false, false, "the commands of a thread, newest last; ?terminal=&limit=&before="},
		{http.MethodGet, "/api/threads/:id/events", s.getThreadEvents, false, true, "everything that happens to a thread, as Server-Sent Events or, with ?format=json, as a list; ?since=&limit="},
		{http.MethodPost, "/api/threads/:id/touch", s.postThreadTouch, true, false, "note activity: the session's idle time begins anew"},
		{http.MethodPatch, "/api/threads/:id/policy", s.patchThreadPolicy, true, false, "change how long the thread's sessions may live and what they may use"},
		{http.MethodPost, "/api/threads/:id/pause", s.postThreadPause, true, false, "stop the thread's processes where they are"},
		{http.MethodPost, "/api/threads/:id/resume", s.postThreadResume, true, false, "let the thread's processes go on"},
		{http.MethodPost, "/api/threads/:id/sandbox/pause", s.postThreadPause, true, false, "the same as …/pause"},
		{http.MethodPost, "/api/threads/:id/sandbox/resume", s.postThreadResume, true, false, "the same as …/resume"},
		{http.MethodDelete, "/api/threads/:id/sandbox", s.deleteThreadSandbox, true, false, "end the thread's processes and its compute; its state stays"},
		{http.MethodPost, "/api/threads/:id/terminals/:tid/activate", s.postTerminalActivate, true, false, "make a terminal the one that is meant when none is named"},
		{http.MethodGet, "/api/threads/:id/terminals/:tid/history", s.getTerminalHistory, false, false, "the versions of a terminal's state, newest first"},
		{http.MethodPost, "/api/threads/:id/terminals/:tid/rollback", s.postTerminalRollback, true, false, "go back to an earlier version of a terminal's state"},
	}
}

// leaseRoutes are about where processes run.
func (s *Server) leaseRoutes() []route {
	return []route{
		{http.MethodGet, "/api/leases", s.getLeases, false, false, "the leases, oldest first; ?provider="},
		{http.MethodPost, "/api/leases", s.postLease, true, false, "make a lease that threads may share"},
		{http.MethodGet, "/api/leases/:id", s.getLease, false, false, "one lease"},
		{http.MethodDelete, "/api/leases/:id", s.deleteLease, true, false, "forget a lease that nothing uses"},
		{http.MethodPost, "/api/leases/:id/pause", s.postLeasePause, true, false, "pause a lease's compute, whoever uses it"},
		{http.MethodPost, "/api/leases/:id/resume", s.postLeaseResume, true, false, "let a lease's compute go on"},
		{http.MethodPost, "/api/leases/:id/destroy", s.postLeaseDestroy, true, false, "end a lease's compute; its next use makes other"},
		{http.MethodPost, "/api/leases/:id/refresh", s.postLeaseRefresh, true, false, "ask the provider how the compute is"},
		{http.MethodGet, "/api/leases/:id/events", s.getLeaseEvents, false, false, "the book of a lease, oldest first; ?after=&limit="},
		{http.MethodGet, "/api/leases/:id/metrics", s.getLeaseMetrics, false, false, "what a lease's compute uses"},

		{http.MethodGet, "/api/sandbox/types", s.getSandboxTypes, false, false, "the providers and what each can do"},
		{http.MethodGet, "/api/sandbox/sessions", s.getSandboxSessions, false, false, "the leases with the threads that use them"},
		{http.MethodGet, "/api/sandbox/sessions/:id/metrics", s.getLeaseMetrics, false, false, "the same as /api/leases/:id/metrics"},
		{http.MethodPost, "/api/sandbox/sessions/:id/pause", s.postLeasePause, true, false, "the same as /api/leases/:id/pause"},
		{http.MethodPost, "/api/sandbox/sessions/:id/resume", s.postLeaseResume, true, false, "the same as /api/leases/:id/resume"},
		{http.MethodDelete, "/api/sandbox/sessions/:id", s.postLeaseDestroy, true, false, "the same as /api/leases/:id/destroy"},

		// The secret of webhooks is instead of a role: providers have no token of ours.
		{http.MethodPost, webhookPath, s.postWebhook, false, false, "what a provider tells about an instance"},
		{http.MethodGet, "/api/webhooks/events", s.getWebhookEvents, false, false, "what providers told, newest first; ?limit="},
	}
}
