package sshd

import (
	"context"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/stream"
)

// connection is one that has logged in.
type connection struct {
	*Server
	conn     *ssh.ServerConn
	token    string // with which its sessions ask the server
	guest    auth.Guest
	sessions sync.WaitGroup
	ctx      context.Context // ends with the connection and with the server
}

// serve answers a connection until its end.
func (s *Server) serve(c net.Conn) {
	defer c.Close()
	e, ok := s.enter(c)
	if !ok {
		return
	}
	_ = c.SetDeadline(time.Now().Add(handshakeTime))
	conn, channels, requests, err := ssh.NewServerConn(c, s.ssh)
	if err != nil {
		s.refused(c, err)
	}
	known := s.know(e, err == nil)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests) // none is offered: no forwarding
	defer drain(channels)
	if !known {
		return
	}
	defer s.forget(c)
	_ = c.SetDeadline(time.Time{})
	g := conn.Permissions.ExtraData[guestKey{}].(auth.Guest)
	g.From, g.Door, g.Ended = c.RemoteAddr().String(), stream.ClientSSH, func() { _ = c.Close() }
	token, leave, err := s.Auth.Admit(g)
	if err != nil {
		s.Auth.RefuseGuest(g.From, "ssh", err)
		return
	}
	defer leave()
	s.Auth.NoteGuest(g, auth.AuditLogin, "ssh", "ok")
	s.Log.Info("logged in by SSH", "user", g.User, "role", g.Role, "remote", g.From, "by", g.Who)
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	go s.keepAlive(ctx, conn, c)
	(&connection{Server: s, conn: conn, token: token, guest: g, ctx: ctx}).answer(channels, cancel)
}

// drain lets a connection that is closed end: what reads it waits until its channels are taken.
func drain(channels <-chan ssh.NewChannel) {
	go func() {
		for n := range channels {
			_ = n.Reject(ssh.ResourceShortage, "the connection ends")
		}
	}()
}

// answer runs the sessions of a connection until it ends and nothing is left of them.
func (c *connection) answer(channels <-chan ssh.NewChannel, cancel func()) {
	slots := make(chan struct{}, maxOfConnection)
	for {
		select {
		case n, ok := <-channels:
			if !ok {
				cancel()
				c.sessions.Wait()
				return
			}
			c.open(n, slots)
		case <-c.Server.ctx.Done():
			c.sessions.Wait() // each has its last word
			return
		}
	}
}

// open begins a session.
func (c *connection) open(n ssh.NewChannel, slots chan struct{}) {
	if n.ChannelType() != "session" {
		_ = n.Reject(ssh.Prohibited, "evertty forwards nothing")
		return
	}
	select {
	case slots <- struct{}{}:
	default:
		_ = n.Reject(ssh.ResourceShortage, "this connection has the most sessions that one may have")
		return
	}
	channel, requests, err := n.Accept()
	if err != nil {
		<-slots
		return
	}
	c.sessions.Go(func() {
		defer func() { <-slots }()
		(&session{connection: c, channel: channel}).answer(requests)
	})
}

// keepAlive closes a connection whose client does not answer.
func (s *Server) keepAlive(ctx context.Context, conn *ssh.ServerConn, c net.Conn) {
	beat := time.NewTicker(aliveEvery)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
		late := time.AfterFunc(aliveMost, func() { _ = c.Close() })
		_, _, err := conn.SendRequest("keepalive@openssh.com", true, nil)
		late.Stop()
		if err != nil {
			return
		}
	}
}
