// Package client is the Go client of evertty's HTTP API: it creates terminals, types into them,
// reads their screens and follows their output; it runs commands in shells; it manages threads.
//
// Requests and replies are types of package wire. A type of this package that embeds one noun, such as
// Terminal, also has its JSON in Raw, with fields that a newer server has added, and encodes as that.
// API has a method for each route of the server.
//
// Two streams bring the same typed events: Stream by Server-Sent Events, for reading only, and
// Attach by WebSocket, for reading and typing. Both begin with a snapshot; what follows it is exact:
// no gap, no byte twice. A viewer that gives the position of its last event may continue there
// instead. A Follower does the same over restarts of the server.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds of what the client waits for and keeps.
const (
	dialTimeout = 5 * time.Second // to open a connection; a server is near or it is not there
	maxReply    = 256 << 20       // bytes of one reply: snapshots of the longest history stay below
	maxProblem  = 1 << 20         // bytes read of an error reply
)

// acceptJSON is the media type of requests and of replies that are no stream.
const acceptJSON = "application/json"

// unixHost stands in URLs for a server behind a unix socket. It is a loopback
// name, so it passes the server's check of the Host header.
const unixHost = "localhost"

// Client talks to one server. It is safe for concurrent use. Methods return
// *Error for what the server refuses, and an error that matches ErrNoServer when
// no server answers.
type Client struct {
	*connection
	terminals
	shells
	threads
	leases
}

// The methods of Client, by noun.
type (
	terminals struct{ *connection }
	shells    struct{ *connection }
	threads   struct{ *connection }
	leases    struct{ *connection }
)

// connection sends requests to one server.
type connection struct {
	address string // as given, for messages
	base    *url.URL
	token   string
	socket  string // path of the unix socket, "" for TCP
	own     bool   // the socket is a data directory's: only its owner or root may be the server
	http    *http.Client
}

// New makes a client of the server at baseURL: http://host:port,
// https://host:port or unix:///path/of/socket. A path is the server's base path
// (serve --base-path). A query is ignored, so the printed login URL works too. token is sent as a Bearer token;
// "" sends none. No connection is opened.
func New(baseURL, token string) (*Client, error) {
	c := &connection{address: baseURL, token: token}
	if path, ok := strings.CutPrefix(baseURL, "unix://"); ok {
		if !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("client: server %q: want unix:///absolute/path", baseURL)
		}
		c.socket, c.base = path, &url.URL{Scheme: "http", Host: unixHost}
	} else {
		u, err := url.Parse(baseURL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("client: server %q: want http://host:port, https://host:port or unix:///path",
				baseURL)
		}
		c.base = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimRight(u.Path, "/")}
		c.address = c.base.String()
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext, t.Proxy = c.dial, c.proxy
	// No route leads elsewhere: whoever answers so must not get the token.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &http.Client{Transport: t, CheckRedirect: stay}
	return &Client{c, terminals{c}, shells{c}, threads{c}, leases{c}}, nil
}

// Address is the server's address with its base path, without query or credentials.
func (c *connection) Address() string { return c.address }

// Local reports whether the address is of this machine: a unix socket or a loopback name.
func (c *connection) Local() bool {
	if c.socket != "" || c.base.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(c.base.Hostname())
	return ip != nil && ip.IsLoopback()
}

// Close closes idle connections. The client stays usable.
func (c *connection) Close() { c.http.CloseIdleConnections() }

func (c *connection) dial(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: dialTimeout}
	var conn net.Conn
	var err error
	switch {
	case c.own:
		conn, err = dialOwn(ctx, d, c.socket)
	case c.socket != "":
		conn, err = d.DialContext(ctx, "unix", c.socket)
	default:
		conn, err = d.DialContext(ctx, network, address)
	}
	if err != nil && ctx.Err() == nil {
		return nil, fmt.Errorf("%w at %s: %w", ErrNoServer, c.address, err)
	}
	return conn, err
}

// proxy is the environment's; a socket has none.
func (c *connection) proxy(r *http.Request) (*url.URL, error) {
	if c.socket != "" {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// header is the header of every request.
func (c *connection) header() http.Header {
	h := http.Header{"Accept": {acceptJSON}}
	if c.token != "" {
		h.Set("Authorization", "Bearer "+c.token)
	}
	return h
}

// at is the URL of a path with a query; segments are escaped.
func (c *connection) at(query url.Values, segments ...string) string {
	var b strings.Builder
	b.WriteString(c.base.String())
	for _, s := range segments {
		b.WriteString("/" + url.PathEscape(s))
	}
	if len(query) > 0 {
		b.WriteString("?" + query.Encode())
	}
	return b.String()
}

// call sends body as JSON (nil: none) and decodes the reply into out.
func (c *connection) call(ctx context.Context, method, target string, body, out any) error {
	var send []byte
	if body != nil {
		var err error
		if send, err = json.Marshal(body); err != nil {
			return fmt.Errorf("client: %s %s: %w", method, target, err)
		}
	}
	resp, err := c.open(ctx, method, target, acceptJSON, send)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxReply)).Decode(out); err != nil {
		return fmt.Errorf("client: the reply is not what evertty sends: %w", err)
	}
	return nil
}

// open sends a request, with body as JSON unless it is nil, and returns the reply, whose body the caller
// closes. A refusal is an error. ctx governs the reading too.
func (c *connection) open(ctx context.Context, method, target, accept string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	req.Header = c.header()
	req.Header.Set("Accept", accept)
	if body != nil {
		req.Header.Set("Content-Type", acceptJSON)
	}
	if accept != acceptJSON && c.Local() {
		req.Header.Set("Accept-Encoding", "identity") // compression of a stream would only cost time
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, reachable(err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		defer resp.Body.Close()
		return nil, problem(resp)
	}
	return resp, nil
}
