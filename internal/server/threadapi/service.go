// Package threadapi has the routes of threads: their lifecycle, events, conversations,
// permissions and leases.
package threadapi

import (
	"slices"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
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
