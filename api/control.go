package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/mux"
	"github.com/evertty/evertty/record"
)

// inputRequest is the body of POST …/input: text, or any bytes in base64.
type inputRequest struct {
	Data *string `json:"data"`
	B64  *[]byte `json:"data_b64"`
}

func (r inputRequest) bytes() ([]byte, error) {
	switch {
	case r.Data != nil && r.B64 == nil:
		return []byte(*r.Data), nil
	case r.B64 != nil && r.Data == nil:
		return *r.B64, nil
	}
	return nil, badRequest(`exactly one of "data" (text) and "data_b64" (bytes in base64) is needed`)
}

// inputReply says how many bytes the program took.
type inputReply struct {
	Success bool `json:"success"`
	Bytes   int  `json:"bytes"`
}

func (s *Server) postInput(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req inputRequest
	if err := bind(c, &req); err != nil {
		return err
	}
	p, err := req.bytes()
	if err != nil {
		return err
	}
	if err := s.permit(c, t.Thread(), record.ToolInput, mux.NewInputCall(t.ID, p)); err != nil {
		return err
	}
	if err := t.Input(c.Request().Context(), p); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, inputReply{true, len(p)})
}

func (s *Server) postKeys(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req struct {
		Keys []string `json:"keys"`
	}
	if err := bind(c, &req); err != nil {
		return err
	}
	if len(req.Keys) == 0 {
		return badRequest(`"keys" is empty: a list such as ["C-c", "Up", "text:abc"] is needed`)
	}
	if err := s.permit(c, t.Thread(), record.ToolKeys, mux.InputCall{Terminal: t.ID, Keys: req.Keys}); err != nil {
		return err
	}
	if err := t.Keys(c.Request().Context(), req.Keys); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, done)
}

func (s *Server) postPaste(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req struct {
		Data *string `json:"data"`
	}
	if err := bind(c, &req); err != nil {
		return err
	}
	if req.Data == nil {
		return badRequest(`"data" (the text to paste) is needed`)
	}
	if err := s.permit(c, t.Thread(), record.ToolPaste, mux.InputCall{Terminal: t.ID, Data: *req.Data}); err != nil {
		return err
	}
	if err := t.Paste(c.Request().Context(), *req.Data); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, done)
}

// resizeReply says what the size is now.
type resizeReply struct {
	Success bool `json:"success"`
	Cols    int  `json:"cols"`
	Rows    int  `json:"rows"`
}

func (s *Server) postResize(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req struct {
		Cols int `json:"cols"`
		Rows int `json:"rows"`
	}
	if err := bind(c, &req); err != nil {
		return err
	}
	if err := s.permit(c, t.Thread(), record.ToolResize, mux.ResizeCall{Terminal: t.ID, Cols: req.Cols, Rows: req.Rows}); err != nil {
		return err
	}
	if err := t.Resize(req.Cols, req.Rows); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, resizeReply{true, req.Cols, req.Rows})
}

func (s *Server) postSignal(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req struct {
		Signal string `json:"signal"`
	}
	if err := bind(c, &req); err != nil {
		return err
	}
	if err := s.permit(c, t.Thread(), record.ToolSignal, terminalDeed{Terminal: t.ID, Signal: req.Signal}); err != nil {
		return err
	}
	if err := t.Signal(req.Signal); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, done)
}

// postRestart starts the program of an ended terminal again.
func (s *Server) postRestart(c echo.Context) error {
	t, err := s.terminalOf(c)
	if err != nil {
		return err
	}
	var req struct{}
	if err := bindOptional(c, &req); err != nil {
		return err
	}
	if err := s.permit(c, t.Thread(), record.ToolRestart, terminalDeed{Terminal: t.ID, Command: shellWords(t.Info().Cmd)}); err != nil {
		return err
	}
	if t, err = s.Mux.Restart(t); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, t.Info())
}
