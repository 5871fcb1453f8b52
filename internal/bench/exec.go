package bench

import "github.com/evertty/evertty/client"

// warmCommands come before those that count.
const warmCommands = 5

// execTrue measures a command of a shell over HTTP, in turns with a bash that does the same.
func execTrue(r *run) []float64 {
	server := r.peer.(*evertty)
	var alone []float64
	one := func() float64 {
		alone = append(alone, r.do(command(r.ctx, "bash", "-c", "true").Run))
		return r.do(func() error {
			_, err := server.Exec(r.ctx, session, "", client.ExecRequest{Command: "true"})
			return err
		})
	}
	r.each(warmCommands, one)
	alone = nil
	p50 := r.each(r.size.commands, one)
	r.bash = median(alone)
	return []float64{p50}
}
