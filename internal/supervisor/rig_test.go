package supervisor_test

import (
	"testing"

	"github.com/evertty/evertty/internal/supervisor/supervisortest"
)

func TestMain(m *testing.M) { supervisortest.Main(m) }

const patience = supervisortest.Patience

var (
	open         = supervisortest.Open
	openWith     = supervisortest.OpenWith
	leave        = supervisortest.Leave
	start        = supervisortest.Start
	wait         = supervisortest.Wait
	until        = supervisortest.Until
	within       = supervisortest.Within
	deleteShells = supervisortest.DeleteShells
)
