package tests

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/evertty/evertty/internal/conversation"
)

// TestRecordBodiesTakeLittleMemory: whatever a body of a record consists of, it takes at most twelve times the bytes
// that one may have. It took 85 times as many.
func TestRecordBodiesTakeLittleMemory(t *testing.T) {
	many := func(head, one, tail string, size int) string {
		n := (size - len(head) - len(tail)) / (len(one) + 1)
		return head + strings.Repeat(one+",", n-1) + one + tail
	}
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%d":0,`, i)
		}
		return "{" + b.String() + `"":0}`
	}
	const size = conversation.MaxImport
	usual := `{"role":"user","content":"` + strings.Repeat("word ", 200) + `"}`
	for _, tt := range []struct {
		name, body string
		status     int
	}{
		{"usual messages", many(`{"messages":[`, usual, `]}`, size), http.StatusOK},
		{"one string", many(`{"messages":[{"content":"`, "x", `"}]}`, size), http.StatusRequestEntityTooLarge},
		{"keys", keys(1_400_000), http.StatusRequestEntityTooLarge},
		{"most keys", `{"x":` + keys(65_000) + `}`, http.StatusOK},
		{"too many bytes", many(`{"messages":[`, usual, `]}`, size+len(usual)), http.StatusRequestEntityTooLarge},
		{"empty messages", many(`{"messages":[`, `{}`, `]}`, size), http.StatusRequestEntityTooLarge},
		{"most messages", many(`{"messages":[`, `{}`, `]}`, 3*240_000), http.StatusOK},
		{"numbers", many(`{"messages":[`, `1`, `]}`, size), http.StatusRequestEntityTooLarge},
		{"most numbers", many(`{"messages":[`, `1`, `]}`, 2*4_100_000), http.StatusOK},
		{"lists", many(`{"x":[`, `[]`, `]}`, size), http.StatusRequestEntityTooLarge},
		{"timeline", many(`{"workflow_timeline":[`, `{}`, `]}`, 3*200_000), http.StatusTooManyRequests},
		{"arguments", many(`{"messages":[{"role":"assistant","tool_calls":[{"arguments":{"a":[`, `{"":0}`, `]}}]}]}`,
			7<<20),
			http.StatusRequestEntityTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, launch{})
			before := status(t, s.pid(), "VmHWM")
			r := s.do(request{"PUT", "/api/threads/th/record", tt.body,
				map[string]string{"Content-Type": "application/json"}})
			grown := status(t, s.pid(), "VmHWM") - before
			if r.status != tt.status || !raceEnabled && grown<<10 > 12*size {
				t.Errorf("%d bytes: %d, %d kB more: %.200s", len(tt.body), r.status, grown, r.body)
			}
		})
	}
}
