package auth

import (
	"net/http"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// Routes let others in, and end what has let them in.
func (a *Auth) Routes() []httpapi.Route {
	return httpapi.Group("access",
		httpapi.Post("createTicket", "/tickets", "A ticket for a terminal, or for a login", a.createTicket).
			Text("For what cannot send a header: an EventSource or a WebSocket of a page, a link for somebody else.").
			Body("What for.").Status(http.StatusCreated, "The ticket. Its secret is told only here.").
			Refusing(httpapi.Named).Audited("ticket.create"),
		httpapi.Delete("endTickets", "/tickets", "End tickets", a.endTickets).
			Text("Also ends what they have opened. Ending none is no error.").
			Refusing(httpapi.Named).Audited("ticket.delete"),
		httpapi.Post("logOut", "/logout", "End a browser's login", a.logOut).
			Text("Also ends what it has opened. A logout of all holds for who was let in at the same moment too.").
			Replying("LoggedOut", "Ended.", httpapi.Header{Name: "Set-Cookie",
				Text: "Removes the cookie, if the request had one.", Schema: `{"type": "string"}`}).
			Refusing(httpapi.NoSpace).Audited("logout"),
	)
}
