package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/evertty/evertty/internal/conversation"
	"github.com/evertty/evertty/internal/conversation/store"
)

// filled makes a thread whose record has n messages, as a harness would have left them.
func (r *rig) filled(thread string, n int) {
	r.t.Helper()
	d := conversation.Document{State: conversation.NewState()}
	for i := range n {
		d.Messages = append(d.Messages, conversation.Message{Role: conversation.RoleUser,
			Content: fmt.Sprintf("message %d of a conversation that has been going on for a while", i+1)})
	}
	_, err := r.Import(thread, d)
	must(r.t, err)
}

// BenchmarkAppend appends to a conversation of 100 and one of 100,000 messages by turns, while the
// files are saved: ratio is what the median of an append to the large one costs, in medians of the
// small one. The small one begins anew every few appends. Bound: 2.
func BenchmarkAppend(b *testing.B) {
	r := open(b, 0)
	r.thread("large")
	r.filled("large", 100_000)
	took := map[string][]time.Duration{}
	for i := 0; b.Loop(); i++ {
		if i%16 == 0 {
			b.StopTimer()
			r.filled("t", 100)
			b.StartTimer()
		}
		for _, thread := range []string{"t", "large"} {
			began := time.Now()
			_, err := r.Append(thread, []conversation.Message{{Role: conversation.RoleAssistant, Content: "one more"}})
			must(b, err)
			took[thread] = append(took[thread], time.Since(began))
		}
	}
	small, large := median(took["t"]), median(took["large"])
	b.ReportMetric(float64(small.Nanoseconds()), "p50-100-ns")
	b.ReportMetric(float64(large.Nanoseconds()), "p50-100k-ns")
	b.ReportMetric(float64(large)/float64(small), "ratio")
}

// BenchmarkAppendWithoutFiles is the part of it that is the database's.
func BenchmarkAppendWithoutFiles(b *testing.B) {
	r := open(b, 0)
	r.Conversations = keeping(r.db.Conversations())
	r.thread("large")
	r.filled("t", 100)
	r.filled("large", 100_000)
	took := map[string][]time.Duration{}
	for b.Loop() {
		for _, thread := range []string{"t", "large"} {
			began := time.Now()
			_, err := r.Append(thread, []conversation.Message{{Role: conversation.RoleAssistant, Content: "one more"}})
			must(b, err)
			took[thread] = append(took[thread], time.Since(began))
		}
	}
	small, large := median(took["t"]), median(took["large"])
	b.ReportMetric(float64(small.Nanoseconds()), "p50-100-ns")
	b.ReportMetric(float64(large.Nanoseconds()), "p50-100k-ns")
	b.ReportMetric(float64(large)/float64(small), "ratio")
}

// BenchmarkRead reads pages of a conversation of 100,000 messages.
func BenchmarkRead(b *testing.B) {
	r := open(b, 0)
	r.filled("t", 100_000)
	for name, q := range map[string]store.MessageQuery{
		"first":  {Limit: 100},
		"middle": {After: 50_000, Limit: 100},
		"newest": {Newest: true, Limit: 100},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				list, err := r.Messages("t", "", q)
				must(b, err)
				if len(list) != q.Limit {
					b.Fatalf("%d messages", len(list))
				}
			}
		})
	}
	b.Run("document", func(b *testing.B) {
		for b.Loop() {
			d, err := r.Document("t", "", 100)
			must(b, err)
			if len(d.Messages) != 100 {
				b.Fatalf("%d messages", len(d.Messages))
			}
		}
	})
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}
