package terminal_test

import (
	"testing"

	"github.com/evertty/evertty/tests/supervisortest"
)

func TestMain(m *testing.M) { supervisortest.Main(m) }

var (
	open   = supervisortest.Open
	start  = supervisortest.Start
	await  = supervisortest.Await
	see    = supervisortest.See
	typeIn = supervisortest.TypeIn
	waits  = supervisortest.Waits
)
