package openapi

import "fmt"

// failure is a mistake in a route or in package wire. Functions below an exported one panic with it: nothing between
// them can go on without what is missing.
type failure struct{ error }

func fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// must is v, which only a mistake in the source keeps from being made.
func must[T any](v T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return v
}

// within is deferred to say where a failure is.
func within(format string, args ...any) {
	switch p := recover().(type) {
	case nil:
	case failure:
		panic(failure{fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), p.error)})
	default:
		panic(p)
	}
}

// catch is deferred to return a failure as *err.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case failure:
		*err = p.error
	default:
		panic(p)
	}
}
