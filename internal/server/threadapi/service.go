// Package threadapi has the routes of threads: their lifecycle, events, conversations,
// permissions and leases.
package threadapi

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/thread"
	"github.com/evertty/evertty/wire"
)

// threads has the handlers of threads: their layers, policies and events.
type threads struct{ *httpapi.Base }

// records has the handlers of what harnesses keep in threads.
type records struct {
	*httpapi.Base
	threads *threads // for a thread that has the name of a route
}

// leases has the handlers of leases.
type leases struct{ *httpapi.Base }

// webhooks has the handlers of what providers tell.
type webhooks struct {
	*httpapi.Base
	auth *auth.Auth // checks the secret
}

// permissions has the handlers of permissions and approvals.
type permissions struct {
	*httpapi.Base
	auth *auth.Auth // notes who saw hidden values
	seen seen
}

// Routes returns the routes of threads, in the order of the documentation.
func Routes(b *httpapi.Base, a *auth.Auth) []httpapi.Route {
	t := &threads{b}
	return slices.Concat(t.layerRoutes(), t.lifeRoutes(), (&records{b, t}).routes(), (&leases{b}).routes(),
		(&webhooks{b, a}).routes(), (&permissions{Base: b, auth: a}).routes())
}

// wired are the wire types of rows.
func wired[W any, R interface{ Wire() W }](rows []R) []W {
	list := make([]W, 0, len(rows))
	for _, r := range rows {
		list = append(list, r.Wire())
	}
	return list
}

// encoded are the JSON texts of a list.
func encoded[T any](list []T) ([]json.RawMessage, error) {
	texts := make([]json.RawMessage, 0, len(list))
	for _, v := range list {
		text, err := httpapi.Encode(v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
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
