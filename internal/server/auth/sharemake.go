package auth

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// createShare makes a link for those who may do everything.
func (a *Auth) createShare(ctx context.Context, in wire.ShareRequest) (wire.MadeShare, error) {
	if err := requireAll(ctx); err != nil {
		return wire.MadeShare{}, err
	}
	order, ttl, err := shareOf(in)
	if err != nil {
		return wire.MadeShare{}, err
	}
	if in.PTY != "" {
		if order.grant.PTY, err = a.findTerminal(httpapi.SpaceOf(ctx), in.PTY); err != nil {
			return wire.MadeShare{}, err
		}
	}
	c, by := httpapi.EchoOf(ctx), GrantOf(ctx)
	shown, _ := c.Get(byKey).(string)
	order.grant.User, order.grant.Admin, order.by = by.User, by.Admin, cmp.Or(by.User, shown)
	secret, made, err := a.shares.issue(order, ttl, a.opened.viewers())
	if err != nil {
		return wire.MadeShare{}, err
	}
	SetTarget(ctx, made.id+"/"+cmp.Or(made.grant.PTY, made.grant.Session))
	a.log.Info("share made", "share", made.id, "user", by.User, "pty", made.grant.PTY, "session", made.grant.Session,
		"role", made.grant.Role, "ttl", ttl, "uses", made.limit, "remote", c.Request().RemoteAddr)
	reply := wire.MadeShare{Share: made.wire(0), URL: a.baseURL(c.Request()) + linkPath + secret}
	if network := a.networkURL(c.Request()); network != "" {
		reply.NetworkURL = network + linkPath + secret
	}
	reply.QRSVG, err = qrSVG(cmp.Or(reply.NetworkURL, reply.URL))
	return reply, err
}

// shareOf checks a request; an error says which field is wrong.
func shareOf(in wire.ShareRequest) (s share, ttl time.Duration, err error) {
	s, ttl = share{name: in.Name, grant: Grant{Role: Read, Session: in.Session}}, shareTTL
	if (in.PTY == "") == (in.Session == "") {
		return s, 0, httpapi.BadRequest("say what is shared: \"pty\", a terminal, or \"session\", all terminals " +
			"of one").WithField("pty")
	}
	if err := httpapi.CheckSession(wire.SessionRef{Session: in.Session}); err != nil {
		return s, 0, httpapi.BadRequest("%v", err).WithField("session")
	}
	switch role := Role(in.Role); role {
	case "":
	case Read, Write:
		s.grant.Role = role
	default:
		return s, 0, httpapi.BadRequest("\"role\" must be read or write, not %q", httpapi.Clip(in.Role)).
			WithField("role")
	}
	if in.TTLS != nil {
		if limit := int(maxShareTTL / time.Second); *in.TTLS < 1 || *in.TTLS > limit {
			return s, 0, httpapi.BadRequest("\"ttl_s\" must be 1 to %d seconds, not %d", limit, *in.TTLS).
				WithField("ttl_s")
		}
		ttl = time.Duration(*in.TTLS) * time.Second
	}
	if in.Uses != nil {
		if s.limit = *in.Uses; s.limit < 0 || s.limit > maxShareUses {
			return s, 0, httpapi.BadRequest("\"uses\" must be 0 (no limit) to %d, not %d", maxShareUses, s.limit).
				WithField("uses")
		}
	}
	if utf8.RuneCountInString(in.Name) > maxShareName || strings.ContainsFunc(in.Name, NotPlain) {
		return s, 0, httpapi.BadRequest("\"name\" must be plain text of at most %d characters", maxShareName).
			WithField("name")
	}
	return s, ttl, nil
}

// NotPlain is what no name has: control characters, and those that change the direction of what is around them.
func NotPlain(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError
}

// wire is the share as clients see it.
func (s *share) wire(viewers int) wire.Share {
	w := wire.Share{ID: s.id, PTY: s.grant.PTY, Session: s.grant.Session, Role: string(s.grant.Role), Name: s.name,
		CreatedAt: s.created.UTC(), ExpiresAt: s.expires.UTC(), Uses: s.limit, Closed: s.spent(), Viewers: viewers,
		By: s.by}
	if s.limit > 0 {
		left := max(s.limit-s.used, 0)
		w.UsesLeft = &left
	}
	return w
}

// listShares are the links that the request may end.
func (a *Auth) listShares(ctx context.Context, _ wire.Nothing) (wire.ShareList, error) {
	reply := wire.ShareList{Shares: []wire.Share{}}
	if err := requireAll(ctx); err != nil {
		return reply, err
	}
	viewers := a.opened.viewers()
	for _, one := range a.shares.list(viewers, sharesOf(ctx)) {
		reply.Shares = append(reply.Shares, one.wire(viewers[one.id]))
	}
	return reply, nil
}

// sharesOf are those that the request sees: a user's own.
func sharesOf(ctx context.Context) func(*share) bool {
	own := GrantOf(ctx).Owner()
	return func(s *share) bool { return own == "" || s.grant.User == own }
}

// deleteShare ends a link and what it has opened.
func (a *Auth) deleteShare(ctx context.Context, in wire.ShareRef) (wire.Done, error) {
	if err := requireAll(ctx); err != nil {
		return wire.Done{}, err
	}
	mine := sharesOf(ctx)
	n, viewers := a.endShares(func(s *share) bool { return s.id == in.ID && mine(s) })
	if n == 0 {
		return wire.Done{}, errNoShare
	}
	a.log.Info("share ended", "share", in.ID, "viewers", viewers)
	return httpapi.Done, nil
}

// endShares ends the shares that match, and what they have opened.
func (a *Auth) endShares(matches func(*share) bool) (n, viewers int) {
	ended := map[string]bool{}
	for _, id := range a.shares.end(matches) {
		ended[id] = true
	}
	if len(ended) > 0 {
		viewers = a.opened.end(func(o *opened) bool { return ended[o.share] })
	}
	return len(ended), viewers
}

// errNoShare is a link that is not there, or not of who asks.
var errNoShare = httpapi.NewError(404, "NOT_FOUND", "there is no such link")
