package terminal_test

import (
	"testing"

	"github.com/evertty/evertty/tests/supervisortest"
)

func TestMain(m *testing.M) { supervisortest.Main(m) }

const patience = supervisortest.Patience

var (
	open     = supervisortest.Open
	openWith = supervisortest.OpenWith
	parallel = supervisortest.Parallel
	leave    = supervisortest.Leave
	start    = supervisortest.Start
	waitFor  = supervisortest.Wait
	await    = supervisortest.Await
	until    = supervisortest.Until
	within   = supervisortest.Within
	see      = supervisortest.See
	typeIn   = supervisortest.TypeIn
	waits    = supervisortest.Waits
)
