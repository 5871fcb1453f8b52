package server

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/evertty/evertty/internal/descriptors"
	"github.com/evertty/evertty/internal/server/httpapi"
)

const (

	// maxFarewells is how many connections are told at the same time that there is no room; further
	// ones are closed without a word.
	maxFarewells = 4
	// farewellTime is how long a client may take to read that.
	farewellTime = time.Second
)

// crowded is a listener whose connections get 503 while there are few descriptors and no stranger's: a connection
// that takes the last one would cost a running terminal its journal.
type crowded struct {
	net.Listener
	strangers *strangers
	farewells chan struct{} // holds a value for each that is being told
}

func newCrowded(l net.Listener, s *strangers) crowded {
	return crowded{l, s, make(chan struct{}, maxFarewells)}
}

// Accept returns the next connection that there is room for.
func (l crowded) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil || descriptors.RoomForConnection() || l.strangers.makeRoom() {
			return c, err
		}
		select {
		case l.farewells <- struct{}{}:
			go func() {
				farewell(c)
				<-l.farewells
			}()
		default:
			_ = c.Close()
		}
	}
}

// farewell answers whatever the client asks with 503. It reads what the client sends before it
// closes: what is unread would take the answer along (RFC 9112, 9.6).
func farewell(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(farewellTime))
	body := `{"error":"the server has too few file descriptors left for another connection","code":"NO_DESCRIPTORS",` +
		`"details":{}}` + "\n"
	_, err := fmt.Fprintf(c,
		"HTTP/1.1 %d Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\nRetry-After: "+
			"%d\r\nConnection: close\r\nCache-Control: no-store\r\n\r\n%s",
		http.StatusServiceUnavailable, len(body), int(httpapi.RetryDescriptors.Seconds()), body)
	if half, ok := c.(interface{ CloseWrite() error }); ok && err == nil && half.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, c, httpapi.MaxBody)
	}
}
