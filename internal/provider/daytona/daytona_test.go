package daytona_test

import (
	"errors"
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/daytona"
	"github.com/evertty/evertty/tests/fakeprov"
	"github.com/evertty/evertty/tests/providertest"
)

func TestMain(m *testing.M) { providertest.Main(m, nil) }

func open(t *testing.T, s *fakeprov.Server) *daytona.Provider {
	t.Helper()
	return providertest.Opened[*daytona.Provider](t)(daytona.New(daytona.Config{APIKey: fakeprov.Key,
		APIURL: s.DaytonaURL(), Cwd: t.TempDir()}))
}

func TestSuite(t *testing.T) {
	providertest.Suite(t, func(t *testing.T) provider.Provider { return open(t, providertest.Fake(t)) })
}

func TestSuiteAtTheService(t *testing.T) {
	providertest.Suite(t, providertest.Real("daytona", "DAYTONA_API_KEY"))
}

func TestFaults(t *testing.T) {
	providertest.Faults(t, providertest.Service{
		Open: func(t *testing.T, s *fakeprov.Server) provider.Provider { return open(t, s) },
		Keyed: func(key, url string) (provider.Provider, error) {
			return daytona.New(daytona.Config{APIKey: key, APIURL: url})
		},
		URL:    (*fakeprov.Server).DaytonaURL,
		Create: "daytona.create", Get: "daytona.get", Pause: "daytona.stop", Resume: "daytona.start",
		Shell:  "daytona.execute",
		Polled: true,
		States: map[string]provider.State{
			"started":       provider.Running,
			"stopped":       provider.Paused,
			"paused":        provider.Paused,
			"archived":      provider.Paused,
			"destroyed":     provider.Dead,
			"destroying":    provider.Dead,
			"error":         provider.Unknown,
			"starting":      provider.Unknown,
			"stopping":      provider.Unknown,
			"creating":      provider.Unknown,
			"something new": provider.Unknown,
		},
		Broken: "error",
	})
}

// TestTerminalIsCut: a terminal whose connection is cut is lost, and has not ended.
func TestTerminalIsCut(t *testing.T) {
	if testing.Short() {
		t.Skip("runs it at every provider")
	}
	t.Parallel()
	s := providertest.Fake(t)
	d := providertest.Create(t, open(t, s))
	sc := d.OpenScreen(t, provider.PTYRequest{Cols: 80, Rows: 24})
	sc.Send(t, "echo $((6*7))\r")
	sc.Wait(t, `42\r\n`)
	s.CutTerminals()
	if err := sc.End(t); !errors.Is(err, provider.ErrUnreachable) {
		t.Errorf("%v", err)
	}
	if _, known := sc.Exit(); known {
		t.Error("it has an exit code")
	}
}

// TestCallTimesOut: the service's own limit of time for a call is no end of the command.
func TestCallTimesOut(t *testing.T) {
	t.Parallel()
	s := providertest.Fake(t)
	i := providertest.Create(t, open(t, s))
	s.Fault(fakeprov.Fault{Op: "daytona.execute", Status: 408,
		Body: `{"statusCode":408,"message":"command execution timeout"}`})
	i.Check(t, "echo one", "one\n", 0)
}

// The tests of the real service skip without its key.

func TestDaytonaBasicExecution(t *testing.T) {
	providertest.Parts(t, providertest.Real("daytona", "DAYTONA_API_KEY")(t), providertest.ExitCodes,
		providertest.Output)
}

func TestDaytonaTerminalStatePersistence(t *testing.T) {
	providertest.Parts(t, providertest.Real("daytona", "DAYTONA_API_KEY")(t), providertest.StatePersistence)
}
