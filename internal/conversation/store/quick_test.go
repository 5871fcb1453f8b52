package store

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestQuickFilesAreSyncedOnce: files that were saved at once are synced together, syncEvery after the first of them,
// and nobody wakes up while there is none.
func TestQuickFilesAreSyncedOnce(t *testing.T) {
	files, _ := openFiles(t, 0)
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		s := newSaver(nil, Config{Files: files})
		var rounds atomic.Int32
		go func() {
			for s.awaitQuick(ctx) {
				rounds.Add(1)
				s.sync()
			}
		}()
		for want := range int32(3) {
			time.Sleep(time.Hour)
			synctest.Wait()
			if rounds.Load() != want || len(s.quick) > 0 {
				t.Errorf("%d rounds, want %d; %d files wait", rounds.Load(), want, len(s.quick))
			}
			s.noteQuick("a")
			s.noteQuick("b")
			time.Sleep(syncEvery / 2)
			if rounds.Load() != want {
				t.Error("a round begins before syncEvery is over")
			}
		}
		stop()
		synctest.Wait()
	})
}
