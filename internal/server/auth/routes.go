package auth

import (
	"net/http"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// What following a link answers, as the document has it.
var (
	openedReply = httpapi.Reply{Name: "Opened", Status: http.StatusOK,
		Text:    "A page that goes on to `/t/ID/`.",
		Headers: []httpapi.Header{{Name: "Set-Cookie", Text: "The cookie of the share.", Schema: `{"type": "string"}`}},
		Media:   []httpapi.Media{{Type: "text/html", Schema: ``, Example: ""}},
	}
	deadReply = httpapi.Reply{Name: "DeadLink", Status: http.StatusNotFound,
		Text: "A page that says that the link opens nothing: it is wrong, has expired, was used up or was revoked. " +
			"It never says which.",
		Media: []httpapi.Media{{Type: "text/html", Schema: ``, Example: ""}},
	}
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
		httpapi.Post("createShare", "/shares", "A link that shows a terminal, or a session, to whoever has it",
			a.createShare).
			Text("Opened in a browser it shows those terminals in that role and nothing else.").
			Body("What for.").Status(http.StatusCreated, "The link. Its secret is told only here.").
			Refusing(httpapi.Named).Audited("share.create"),
		httpapi.Get("listShares", "/shares", "The links that there are", a.listShares).
			Text("Those that may open something, and those whose viewers are still there; a user's own. Never the "+
				"secrets."),
		httpapi.Delete("deleteShare", "/shares/:share", "Revoke a link", a.deleteShare).
			Text("It opens nothing more, and what it has opened ends at once.").
			Refusing([]error{errNoShare}).Audited("share.delete"),
		httpapi.Hand(http.MethodGet, "openShare", linkRoute, "Follow a link", a.openShare, openedReply, deadReply).
			Text("Needs no other credentials. One GET is one use; HEAD is none. It sets a cookie for this share alone, "+
				"bound to the path `/t/ID/`, and leads there. Below that path is a page that shows what is shared, and "+
				"of the API what it needs: `/ws`, `/share`, and `/stream`, `/ws` and `/snapshot` of its terminals. "+
				"With a slash behind it a link leads here."),
		httpapi.Get("getShared", "/share", "What the link that has let in this page shows", a.shared).
			Refusing([]error{errDeadLink()}),
		httpapi.Post("logOut", "/logout", "End a browser's login", a.logOut).
			Text("Also ends what it has opened. A logout of all holds for who was let in at the same moment too.").
			Replying("LoggedOut", "Ended.", httpapi.Header{Name: "Set-Cookie",
				Text: "Removes the cookie, if the request had one.", Schema: `{"type": "string"}`}).
			Refusing(httpapi.NoSpace).Audited("logout"),
	)
}
