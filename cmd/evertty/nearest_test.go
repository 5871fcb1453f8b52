package main

import "testing"

func TestNearest(t *testing.T) {
	verbs := []string{"new", "attach", "ls", "send", "serve", "snapshot", "kill", "restart", "restore"}
	for typed, want := range map[string]string{
		"sned": "send", "atach": "attach", "list": "ls", "l": "ls", "kil": "kill", "snap": "snapshot", "restar": "restart",
		"sreve": "serve", "x": "", "": "", "nwe": "new", "sl": "ls", "completely-else": "",
	} {
		if got := nearest(typed, verbs); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
