package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/evertty/evertty/client"
)

// exampleServer answers as a server with one terminal does, so that the examples can run.
func exampleServer() *httptest.Server {
	mux := http.NewServeMux()
	say := func(path, reply string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, reply)
		})
	}
	say("POST /session/dev/exec", `{"success":true,"exit_code":0,"stdout":"/tmp\n","stderr":"","command_id":"c1"}`)
	say("POST /pty/build/input", `{"success":true,"bytes":5,"seq":40}`)
	say("POST /pty/build/wait", `{"matched":true,"text":"all tests pass","seq":80}`)
	mux.HandleFunc("GET /pty/build/ws", func(w http.ResponseWriter, r *http.Request) {
		conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		snapshot := "\x01\x00\x50\x00\x18\x00\x00\x00\x00\x00\x00\x00\x02$ " // 80x24 at position 2
		_ = conn.WriteMessage(websocket.BinaryMessage, []byte(snapshot))
		_, typed, err := conn.ReadMessage()
		if err != nil {
			return
		}
		data := append([]byte("\x02\x00\x00\x00\x00\x00\x00\x00\x05"), typed[1:]...)
		_ = conn.WriteMessage(websocket.BinaryMessage, data)
		exit, _ := json.Marshal(map[string]any{"event": "exit", "pty": "build", "code": 0, "signal": "",
			"reason": "exit", "seq": 5})
		_ = conn.WriteMessage(websocket.BinaryMessage, append([]byte{3}, exit...))
		_, _, _ = conn.ReadMessage() // until the client has read everything
	})
	return httptest.NewServer(mux)
}

// A command in the default shell of a session: directory and variables stay for the next.
func ExampleClient_Exec() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL, "")
	if err != nil {
		panic(err)
	}
	defer c.Close()
	reply, err := c.Exec(context.Background(), "dev", "", client.ExecRequest{Command: "cd /tmp && pwd"})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d %s", reply.ExitCode, reply.Stdout)
	// Output: 0 /tmp
}

// To miss nothing between the input and the wait, the wait begins behind the position that the
// input had.
func ExampleClient_Wait() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL, "")
	if err != nil {
		panic(err)
	}
	defer c.Close()
	ctx := context.Background()
	sent, err := c.Input(ctx, "build", []byte("make\n"))
	if err != nil {
		panic(err)
	}
	w, err := c.Wait(ctx, "build",
		client.WaitRequest{For: "text", Pattern: "pass", Since: &sent.Seq, Timeout: time.Minute})
	if errors.Is(err, client.ErrTimeout) {
		panic("the build takes too long")
	} else if err != nil {
		panic(err)
	}
	fmt.Println(w.Text)
	// Output: all tests pass
}

// A viewer draws what comes: it starts over with a snapshot and adds data.
func ExampleClient_Attach() {
	server := exampleServer()
	defer server.Close()
	c, err := client.New(server.URL, "")
	if err != nil {
		panic(err)
	}
	defer c.Close()
	a, err := c.Attach(context.Background(), "build", client.AttachOptions{})
	if err != nil {
		panic(err)
	}
	defer a.Close()
	for {
		e, err := a.Next()
		if errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			panic(err)
		}
		switch e.Kind {
		case client.KindSnapshot:
			fmt.Printf("%dx%d %q\n", e.Cols, e.Rows, e.Data)
			if err := a.Input([]byte("ls\n")); err != nil {
				panic(err)
			}
		case client.KindData:
			fmt.Printf("%q\n", e.Data)
		case client.KindExit:
			fmt.Println("ended with", *e.Exit.Code)
		}
	}
	// Output:
	// 80x24 "$ "
	// "ls\n"
	// ended with 0
}
