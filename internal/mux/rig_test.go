package mux_test

import (
	"testing"

	supervisortest "github.com/evertty/evertty/internal/mux/rig"
)

func TestMain(m *testing.M) { supervisortest.Main(m) }

const patience = supervisortest.Patience

var (
	connect      = supervisortest.Connect
	open         = supervisortest.Open
	openWith     = supervisortest.OpenWith
	leave        = supervisortest.Leave
	goroutines   = supervisortest.Goroutines
	start        = supervisortest.Start
	wait         = supervisortest.Wait
	await        = supervisortest.Await
	within       = supervisortest.Within
	deleteShells = supervisortest.DeleteShells
)
