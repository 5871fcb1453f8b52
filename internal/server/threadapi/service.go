// Package threadapi has the routes of threads: their lifecycle, events, conversations,
// permissions and leases.
package threadapi

import (
	"context"
	"slices"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// Service has the handlers of threads.
type Service struct {
	*httpapi.Base
	Auth *auth.Auth // checks the secret of webhooks

	seen seen
}

// Routes returns the routes of threads, in the order of the documentation.
func (s *Service) Routes() []httpapi.Route {
	return slices.Concat(s.threadRoutes(), s.conversationRoutes(), s.leaseRoutes(), s.permissionRoutes())
}

// wired are the wire types of rows.
func wired[W any, R interface{ Wire() W }](rows []R) []W {
	list := make([]W, 0, len(rows))
	for _, r := range rows {
		list = append(list, r.Wire())
	}
	return list
}

// layers are the wire types that a view makes of a thread with its layers.
func layers[W any](l thread.Layers, err error, view func(thread.Layers) W) (reply W, _ error) {
	if err == nil {
		reply = view(l)
	}
	return reply, err
}

// shownTerminal is the active terminal of a thread; its secrets are hidden from who did not ask for them.
func shownTerminal(l thread.Layers, show wire.ShowSecrets) wire.ThreadTerminal {
	reply := l.WireTerminal()
	if !show.Secrets {
		reply.EnvDelta = thread.HideSecrets(reply.EnvDelta)
	}
	return reply
}

// lasting is the context of work that goes on when the client hangs up.
func lasting(ctx context.Context) context.Context { return context.WithoutCancel(ctx) }
