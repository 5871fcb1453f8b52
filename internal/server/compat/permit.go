package compat

import (
	"path/filepath"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/server/httpapi"
)

// fileDeed is about a file.
type fileDeed struct {
	Path       string `json:"path"`
	NewPath    string `json:"new_path,omitempty"`
	Content    string `json:"content,omitempty"`
	ContentB64 []byte `json:"content_b64,omitempty"` // where that is not UTF-8
	Recursive  bool   `json:"recursive,omitempty"`
}

// permitFile asks about a deed on files before there is a shell to say where relative paths are; again says that it has to be asked about with whole paths. What is denied
// as it is makes no shell.
func (s *Service) permitFile(c echo.Context, thread, tool string, d fileDeed) (again bool, err error) {
	if !s.Threads.Guards(thread) {
		return false, nil
	}
	call, err := httpapi.CallOf(tool, d)
	if err != nil {
		return false, err
	}
	whole := filepath.IsAbs(d.Path) && (d.NewPath == "" || filepath.IsAbs(d.NewPath))
	if whole || s.Threads.Denies(thread, call) {
		return false, s.Threads.Permit(c.Request().Context(), thread, call)
	}
	return true, nil
}
