package holder

import (
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/evertty/evertty/internal/proc"
	"github.com/evertty/evertty/pty/keeper/protocol"
)

// leave hangs up on the server, takes no other one, ends all programs and then the keeper. The lock is held.
func (k *keeper) leave(why string) {
	k.leaving = true
	k.log.Warn("ending all programs", "why", why, "held", len(k.kept))
	if k.server != nil {
		k.server.Close()
	}
	go k.endPrograms()
}

// leaveRounds is how often programs are looked for: one may have been on its way in when the first round began.
const leaveRounds = 3

// endPrograms ends the held programs as a server's delete does: SIGHUP to each tree, SIGKILL after proc.KillGrace. Then
// it ends the processes with the tags of shells, and accept returns.
func (k *keeper) endPrograms() {
	for range leaveRounds {
		trees, tags := k.programs()
		if len(trees) == 0 {
			break
		}
		if err := proc.KillTrees(context.Background(), trees); err != nil {
			k.log.Error("programs are left", "error", err)
		}
		if len(tags) > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), proc.KillGrace)
			if _, err := proc.KillTagged(ctx, 0, slices.Collect(maps.Keys(tags))...); err != nil {
				k.log.Error("programs of a shell are left", "error", err)
			}
			cancel()
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.kept)
	k.ending = true
	k.socket.wake(time.Now())
}

// programs are the trees of what runs, and the tags of it. The keeper's own is not among them: what was started
// without one has inherited it, and so have a keeper that was made in the place of this one and its programs.
func (k *keeper) programs() (trees []proc.Tree, tags map[uint64]bool) {
	tags = map[uint64]bool{}
	own := proc.Tag(os.Getpid())
	for _, pid := range k.running() {
		t, ok := proc.TreeOf(pid)
		if !ok {
			continue
		}
		trees = append(trees, t)
		if b := proc.Tag(pid); b != 0 && b != own {
			tags[b] = true
		}
	}
	return trees, tags
}

// running returns the process ids of held programs that have not ended.
func (k *keeper) running() (pids []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, h := range k.kept {
		if h.Kind != protocol.KindFiles && h.Exit == nil {
			pids = append(pids, h.PID)
		}
	}
	return pids
}
