package tests

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/evertty/evertty/tests/fakeprov"
	"github.com/evertty/evertty/wire"
)

// TestDockerLease: a thread's container is confined, goes on over a kill of the server, and is gone when nobody needs
// it any more: while a thread has its lease that is not forgotten, and afterwards nothing is left of it at the engine.
func TestDockerLease(t *testing.T) {
	t.Parallel()
	engine, err := fakeprov.StartEngine(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	s := start(t, withProvider(t, launch{}, "docker", body{"host": "unix://" + engine.Socket, "mount": t.TempDir()}))
	s.post("/api/threads", `{"id":"boxed","sandbox":"docker"}`).wants(201)
	w := &owner{s.in("boxed"), "/api/threads/boxed"}
	w.run("cd /tmp; export A=1").is(0, "")
	lease, instance := w.lease().LeaseID, w.instance()
	engine.Lock()
	var host struct{ CapDrop, SecurityOpt []string }
	s.must(json.Unmarshal(engine.Host, &host))
	engine.Unlock()
	if !slices.Equal(host.CapDrop, []string{"ALL"}) || !slices.Equal(host.SecurityOpt, []string{"no-new-privileges"}) {
		t.Errorf("the container is confined by %+v", host)
	}
	containers := func() int {
		engine.Lock()
		defer engine.Unlock()
		return engine.Containers()
	}
	id := w.open(wire.CreateTerminal{Cmd: []string{"bash", "-c", "echo up; read -r x; echo on; sleep 1000"}})
	s.await(id, "^up$")
	s.call("DELETE", "/api/leases/"+lease, "").refused(409, "IN_USE")
	run(t, s.cli("lease", "rm", lease)).refuses(t, 1, "use")
	s.kill()
	s.again()
	s.input(id, "\r")
	s.await(id, "^on$")
	w.run("echo $A $PWD").is(0, "1 /tmp\n")
	if n := containers(); n != 1 || w.instance() != instance {
		t.Errorf("%d containers, %s is %s", n, instance, w.instance())
	}

	s.call("DELETE", "/api/threads/boxed", "").wants(200)
	if strings.Contains(s.says("lease", "ls", "--json"), lease) {
		s.says("lease", "rm", lease)
	}
	eventually(t, "the container is gone", func() bool { return containers() == 0 })
	s.get("/api/leases/"+lease).refused(404, "NOT_FOUND")
	if out := s.says("lease", "ls", "--json"); strings.Contains(out, lease) {
		t.Errorf("the lease is on the list: %s", out)
	}
	s.post("/api/threads", `{"id":"boxed","sandbox":"docker"}`).wants(201)
	again := &owner{s.in("boxed"), "/api/threads/boxed"}
	again.run("echo ${A-none}").is(0, "none\n")
	if again.lease().LeaseID == lease || containers() != 1 {
		t.Errorf("the next has the lease %s, of %d containers", again.lease().LeaseID, containers())
	}
	s.call("DELETE", "/api/threads/boxed", "").wants(200)
	eventually(t, "that container is gone", func() bool { return containers() == 0 })
}
