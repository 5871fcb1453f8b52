package catalog_test

import (
	"testing"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/catalog"
)

// The tests of the real services that the requirements name. Without its key each of them skips and names the variable.

func TestAgentBayBasicExecution(t *testing.T) { // test_agentbay_basic_execution
	named(t, "agentbay", "AGENTBAY_API_KEY", exitCodes, output)
}

func TestAgentBayTerminalStatePersistence(t *testing.T) { // test_agentbay_terminal_state_persistence
	named(t, "agentbay", "AGENTBAY_API_KEY", statePersistence)
}

func TestAgentBayFileOperations(t *testing.T) { // test_agentbay_file_operations
	named(t, "agentbay", "AGENTBAY_API_KEY", files, list)
}

func TestE2BBasicExecution(t *testing.T) { // test_e2b_basic_execution
	named(t, "e2b", "E2B_API_KEY", exitCodes, output)
}

func TestE2BTerminalStatePersistence(t *testing.T) { // test_e2b_terminal_state_persistence
	named(t, "e2b", "E2B_API_KEY", statePersistence)
}

func TestE2BFileOperations(t *testing.T) { // test_e2b_file_operations
	named(t, "e2b", "E2B_API_KEY", files, list)
}

func TestE2BPauseResume(t *testing.T) { // test_e2b_pause_resume
	pauseResume(t, realPlace("e2b", "E2B_API_KEY")(t))
}

func TestDaytonaBasicExecution(t *testing.T) { // test_daytona_basic_execution
	named(t, "daytona", "DAYTONA_API_KEY", exitCodes, output)
}

func TestDaytonaTerminalStatePersistence(t *testing.T) { // test_daytona_terminal_state_persistence
	named(t, "daytona", "DAYTONA_API_KEY", statePersistence)
}

// named runs parts of the suite on one real instance.
func named(t *testing.T, name, variable string, parts ...func(*testing.T, spot)) {
	t.Helper()
	p := realPlace(name, variable)(t)
	s := rent(t, p)
	for _, part := range parts {
		part(t, s)
	}
}

// TestEveryNameOpens: what FromEnv and files may name is there, and says which variable it lacks.
func TestEveryNameOpens(t *testing.T) {
	for _, name := range []string{"agentbay", "daytona", "e2b"} {
		_, err := fromEnv(t, name, func(string) (string, bool) { return "", false })
		if err == nil {
			t.Errorf("%s opened without a key", name)
		}
		p, err := fromEnv(t, name, func(string) (string, bool) { return "https://value.example", true })
		if err != nil || p.Name() != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// fromEnv opens a provider whose file names it and nothing else.
func fromEnv(t *testing.T, name string, lookup func(string) (string, bool)) (provider.Provider, error) {
	t.Helper()
	s, err := catalog.ParseSettings([]byte(`{"provider":"`+name+`"}`), lookup)
	if err != nil {
		t.Fatal(err)
	}
	return s.Open()
}
