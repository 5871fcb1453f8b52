package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/evertty/evertty/client"
	"github.com/evertty/evertty/wire"
)

func TestExitCodes(t *testing.T) {
	refused := func(status int, code string) error {
		return fmt.Errorf("context: %w", &client.Error{Status: status, Code: code, Message: "m"})
	}
	for _, tc := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{codeError(7), 7},
		{usage(errors.New("x")), 2},
		{refused(400, "VALIDATION"), 2},
		{fmt.Errorf("%w at x", client.ErrNoServer), 3},
		{refused(404, "NOT_FOUND"), 4},
		{errors.Join(nil, refused(404, "NOT_FOUND")), 4},
		{refused(408, "TIMEOUT"), 124},
		{refused(409, "EXITED"), 1},
		{refused(401, "UNAUTHORIZED"), 1},
	} {
		if got := exitCode(tc.err); got != tc.want {
			t.Errorf("%v: %d, want %d", tc.err, got, tc.want)
		}
	}
}

func TestChildCodes(t *testing.T) {
	code := func(n int) *int { return &n }
	for _, tc := range []struct {
		exit *wire.Exit
		want int
		word string
	}{
		{&wire.Exit{Code: code(0), Reason: "exit"}, 0, "0"},
		{&wire.Exit{Code: code(3), Reason: "exit"}, 3, "3"},
		{&wire.Exit{Signal: "TERM", Reason: "signal"}, 143, "SIGTERM"},
		{&wire.Exit{Code: code(137), Signal: "SIGKILL", Reason: "killed"}, 137, "SIGKILL"},
		{&wire.Exit{Reason: "lost"}, 1, "lost"},
	} {
		if got := childCode(tc.exit); got != tc.want || ending(tc.exit) != tc.word {
			t.Errorf("%+v: %d %q, want %d %q", tc.exit, got, ending(tc.exit), tc.want, tc.word)
		}
	}
	if childCode(nil) != 1 {
		t.Error("an unknown end counts as success")
	}
}

func TestMessageIsOneSafeLine(t *testing.T) {
	err := errors.Join(errors.New("client: a \x1b[31mred"), errors.New("b"))
	if got := message(err); got != "a ?[31mred; b" {
		t.Errorf("%q", got)
	}
	if message(nil) != "" || message(codeError(3)) != "" {
		t.Error("something is said about nothing")
	}
}
