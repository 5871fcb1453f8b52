//go:build linux

package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/url"
	"time"
)

const (
	// renewTime is how long before its end a certificate should have been replaced.
	renewTime = 14 * 24 * time.Hour
	// handshakeTime is how long a server may take to show its certificate.
	handshakeTime = time.Second
)

// checkTLS reads the certificate and the key as the server does, and asks a server that runs for the one that it shows.
func checkTLS(t examined) check {
	c := check{Name: "TLS certificate", Text: "none is set"}
	shown, err := t.shownCertificate()
	if err != nil {
		c.Text, c.finding = t.server.URL, problem("the server shows none: "+err.Error(), "look at its log")
		return c
	}
	leaf := shown
	if f := t.settings.tls; f.cert != "" || f.key != "" {
		c.Text = f.cert
		config, err := f.config()
		if err != nil {
			c.finding = problem(err.Error(), "give tls-cert a PEM file with the certificate, and tls-key the key that it "+
				"was made for, readable to this user alone")
			return c
		}
		leaf = config.Certificates[0].Leaf
	}
	if leaf == nil {
		return c
	}
	c.Text = "valid until " + leaf.NotAfter.UTC().Format(time.DateTime) + "Z"
	switch c.finding = checkValidity(leaf, time.Now()); {
	case c.Problem != "":
	case shown != nil && !bytes.Equal(shown.Raw, leaf.Raw):
		c.finding = problem("the server still shows another one",
			"evertty serve --takeover --data-dir "+t.dir+" reads it")
	default:
		c.finding = checkNames(leaf, t)
	}
	return c
}

func checkValidity(leaf *x509.Certificate, now time.Time) finding {
	renew := "replace it by a new one, and start the server again (serve --takeover)"
	switch left := leaf.NotAfter.Sub(now); {
	case now.Before(leaf.NotBefore):
		return problem("it is not valid before "+leaf.NotBefore.UTC().Format(time.DateTime)+"Z",
			"set the clock, or "+renew)
	case left <= 0:
		return problem("it has expired", renew)
	case left < renewTime:
		return problem(fmt.Sprintf("it expires in %s", age(left)), renew)
	}
	return finding{}
}

// checkNames looks for the names that clients ask for: those that are set, or else the host of the address.
func checkNames(leaf *x509.Certificate, t examined) finding {
	names := t.settings.names
	if host, _, err := net.SplitHostPort(t.settings.listen); len(names) == 0 && err == nil {
		names = []string{host}
	}
	for _, name := range names {
		if ip := net.ParseIP(name); name == "" || ip != nil && ip.IsUnspecified() {
			continue
		}
		if err := leaf.VerifyHostname(name); err != nil {
			return problem(fmt.Sprintf("%s is not in it: %v", name, err),
				"get a certificate for "+name+", or reach the server by a name that is in it (--allowed-host)")
		}
	}
	return finding{}
}

// shownCertificate is what a server that runs with TLS shows; nil when there is none. Nothing is sent to it.
func (t examined) shownCertificate() (*x509.Certificate, error) {
	if t.server == nil {
		return nil, nil
	}
	u, err := url.Parse(t.server.URL)
	if err != nil || u.Scheme != "https" {
		return nil, nil
	}
	conn, err := tls.DialWithDialer(&net.Dialer{Timeout: handshakeTime}, "tcp", u.Host,
		&tls.Config{InsecureSkipVerify: true}) //nolint:gosec // it is looked at, and nothing is said
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0], nil // TLS has no server without one
}
