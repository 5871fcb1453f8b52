package catalog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/evertty/evertty/internal/provider"
	"github.com/evertty/evertty/internal/provider/wait"
)

// initTimeout bounds the init commands of an instance together: they install things.
const initTimeout = 10 * time.Minute

// initialized is a provider that runs commands in new instances.
type initialized struct {
	provider.Provider
	commands []string
}

// Create makes an instance and runs the commands in it. An instance in which one of them fails is
// destroyed.
func (p initialized) Create(ctx context.Context, r provider.CreateRequest) (provider.Instance, error) {
	i, err := p.Provider.Create(ctx, r)
	if err != nil {
		return i, err
	}
	limit, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	for _, text := range p.commands {
		result, err := p.Exec(limit, i.ID, provider.ExecRequest{Command: text}, io.Discard, io.Discard)
		if err == nil && result.ExitCode != 0 {
			err = fmt.Errorf("exit code %d", result.ExitCode)
		}
		if err != nil {
			late, cancel := wait.CleanupContext(ctx)
			defer cancel()
			return provider.Instance{},
				errors.Join(fmt.Errorf("init command %.80q: %w", text, err), p.Destroy(late, i.ID))
		}
	}
	return i, nil
}

// Close closes the provider's connections.
func (p initialized) Close() error {
	if c, ok := p.Provider.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
