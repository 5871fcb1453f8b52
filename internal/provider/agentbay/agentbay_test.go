package agentbay_test

import (
	"errors"
	"io"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/agentbay"
	"github.com/evertty/evertty/tests/fakeprov"
	"github.com/evertty/evertty/tests/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m, nil) }

func open(t *testing.T, s *fakeprov.Server) *agentbay.Provider {
	t.Helper()
	return providertest.Opened[*agentbay.Provider](t)(agentbay.New(agentbay.Config{APIKey: fakeprov.Key,
		Endpoint: s.AgentBayURL(), Cwd: t.TempDir()}))
}

func TestSuite(t *testing.T) {
	providertest.Suite(t, func(t *testing.T) provider.Provider { return open(t, providertest.Fake(t)) })
}

func TestSuiteAtTheService(t *testing.T) {
	providertest.Suite(t, providertest.Real("agentbay", "AGENTBAY_API_KEY"))
}

func TestFaults(t *testing.T) {
	providertest.Faults(t, providertest.Service{
		Open: func(t *testing.T, s *fakeprov.Server) provider.Provider { return open(t, s) },
		Keyed: func(key, url string) (provider.Provider, error) {
			return agentbay.New(agentbay.Config{APIKey: key, Endpoint: url})
		},
		URL:    (*fakeprov.Server).AgentBayURL,
		Create: "agentbay.create", Get: "agentbay.get", Pause: "agentbay.pause", Resume: "agentbay.resume",
		Shell:  "agentbay.shell",
		Polled: true,
		States: map[string]provider.State{
			"running":  provider.Running,
			"paused":   provider.Paused,
			"pausing":  provider.Unknown,
			"resuming": provider.Unknown,
			"deleting": provider.Dead,
			"deleted":  provider.Dead,
			"finish":   provider.Dead,
			"unknown":  provider.Unknown,
		},
	})
}

// TestRefusedTheSecondTime: a call that may have begun the command and is refused when it is made again says nothing of
// whether that began.
func TestRefusedTheSecondTime(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	t.Parallel()
	s := providertest.Fake(t)
	p := open(t, s)
	i := providertest.Create(t, p)
	s.Fault(fakeprov.Fault{Op: "agentbay.shell", Cut: fakeprov.CutReply})
	s.Fault(fakeprov.Fault{Op: "agentbay.shell", Status: 200,
		Body: `{"Success":false,"Code":"Throttling","HttpStatusCode":400}`})
	_, err := p.Exec(providertest.Within(t), i.ID, provider.ExecRequest{Command: "touch " + i.Dir + "/ran"}, io.Discard,
		io.Discard)
	if err == nil || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("%v", err)
	}
	i.Check(t, "ls "+i.Dir, "ran\n", 0)
}

// TestToolFails: replies of the tool that are no answers.
func TestToolFails(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for processes that do not end")
	}
	t.Parallel()
	s := providertest.Fake(t)
	a := open(t, s)
	j := providertest.Create(t, a)
	failed := `{"Success":true,"Code":"Success","HttpStatusCode":200,"Data":{"content":` +
		`[{"type":"text","text":"{\"errorCode\":\"Timeout\"}"}],"isError":true}}`
	s.Fault(fakeprov.Fault{Op: "agentbay.shell", Status: 200, Body: failed})
	j.Check(t, "echo two", "two\n", 0)
	s.Fault(fakeprov.Fault{Op: "agentbay.shell", Times: 20, Status: 200, Body: failed})
	if _, err := a.Exec(providertest.Within(t), j.ID, provider.ExecRequest{Command: "true"}, io.Discard,
		io.Discard); !errors.Is(err,
		provider.ErrProvider) || errors.Is(err, provider.ErrNotStarted) {
		t.Errorf("%v", err)
	}
	s.NoFaults()
	s.PlainText(true)
	parts := map[string]providertest.Part{"codes": providertest.ExitCodes, "output": providertest.Output,
		"input": providertest.Input, "list": providertest.List, "metrics": providertest.Metrics}
	for name, part := range parts {
		t.Run("plain text "+name, func(t *testing.T) { part(t, j) })
	}
}

// The tests of the real service skip without its key.

func TestAgentBayBasicExecution(t *testing.T) {
	providertest.Parts(t, providertest.Real("agentbay", "AGENTBAY_API_KEY")(t), providertest.ExitCodes,
		providertest.Output)
}

func TestAgentBayTerminalStatePersistence(t *testing.T) {
	providertest.Parts(t, providertest.Real("agentbay", "AGENTBAY_API_KEY")(t), providertest.StatePersistence)
}

func TestAgentBayFileOperations(t *testing.T) {
	providertest.Parts(t, providertest.Real("agentbay", "AGENTBAY_API_KEY")(t), providertest.Files, providertest.List)
}
