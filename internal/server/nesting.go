package server

import (
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/internal/terminal"
	"github.com/evertty/evertty/vt"
)

// maxSurroundings bounds how many terminals and how many devices a viewer may say
// that it runs in, far more than anybody nests.
const maxSurroundings = 64

// insideOf reads where the viewer's process runs: inside=, tty= and nested=.
func insideOf(c echo.Context) (in terminal.Inside, err error) {
	q := c.QueryParams()
	in.Terminals, in.Devices = q["inside"], q["tty"]
	for name, n := range map[string]int{"inside": len(in.Terminals), "tty": len(in.Devices)} {
		if n > maxSurroundings {
			return in, httpapi.BadRequest("%s is there %d times: at most %d are allowed", name, n, maxSurroundings)
		}
	}
	in.Allowed, err = httpapi.SwitchOf(c, "nested")
	return in, err
}

// wishedSize reads the size that a viewer wishes from the beginning: cols= and
// rows=, 0 when neither is there.
func wishedSize(c echo.Context) (cols, rows int, err error) {
	words := [2]string{c.QueryParam("cols"), c.QueryParam("rows")}
	if words == [2]string{} {
		return 0, 0, nil
	}
	var size [2]int
	for i, name := range []string{"cols", "rows"} {
		n, err := strconv.Atoi(words[i])
		if err != nil || n < vt.MinSize || n > vt.MaxSize {
			return 0, 0, httpapi.BadRequest("%s %q: %d to %d are allowed, for cols and rows together", name,
				httpapi.Clip(words[i]), vt.MinSize, vt.MaxSize)
		}
		size[i] = n
	}
	return size[0], size[1], nil
}

// historyOnce reads history=first: history is in the first snapshot only.
func historyOnce(c echo.Context) (bool, error) {
	switch h := c.QueryParam("history"); h {
	case "":
		return false, nil
	case "first":
		return true, nil
	default:
		return false, httpapi.BadRequest("history %q: first is allowed", httpapi.Clip(h))
	}
}
