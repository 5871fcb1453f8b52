package supervisor_test

import (
	"testing"

	"github.com/evertty/evertty/tests/supervisortest"
)

func TestMain(m *testing.M) { supervisortest.Main(m) }

const patience = supervisortest.Patience

var (
	open         = supervisortest.Open
	openWith     = supervisortest.OpenWith
	parallel     = supervisortest.Parallel
	leave        = supervisortest.Leave
	waitFor      = supervisortest.Wait
	until        = supervisortest.Until
	waits        = supervisortest.Waits
	within       = supervisortest.Within
	deleteShells = supervisortest.DeleteShells
)
