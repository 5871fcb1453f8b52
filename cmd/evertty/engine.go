package main

import (
	"maps"
	"slices"

	"github.com/evertty/evertty/vt"
	"github.com/evertty/evertty/vt/vt10x"
)

// engines are the emulators by the name that --engine has for them.
var engines = map[string]vt.EngineFunc{
	"native": vt.NewEngine,
	"vt10x":  vt10x.New,
}

// defaultEngine is what --engine is when nobody says.
const defaultEngine = "native"

// engineNames are the names of the emulators, sorted.
func engineNames() []string { return slices.Sorted(maps.Keys(engines)) }
