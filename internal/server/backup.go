package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/backup"
	"github.com/evertty/evertty/internal/server/auth"
	"github.com/evertty/evertty/internal/server/httpapi"
	"github.com/evertty/evertty/wire"
)

// backupReply is the archive.
var backupReply = httpapi.Reply{Name: "Backup", Status: 200,
	Text: "A tar archive, compressed with zstd. Its last entry is `SHA256SUMS`. A connection that breaks off in the " +
		"middle is an error: then it is not the whole.",
	Headers: []httpapi.Header{
		{Name: "Content-Disposition", Text: "A file name with the time.", Schema: `{"type": "string"}`},
	},
	Media: []httpapi.Media{{Type: echo.MIMEOctetStream, Schema: `{"type": "string"}`, Example: ""}},
}

// getBackup sends a backup of the data directory. It has secrets of threads and all output, so it needs full access.
func (s *Server) getBackup(c echo.Context, _ wire.Nothing) error {
	ctx := c.Request().Context()
	if err := auth.CheckSecrets(ctx, true); err != nil {
		return err
	}
	ctx, stop := s.WhileOpen(ctx, context.Canceled)
	defer stop()
	h := c.Response().Header()
	h.Set(echo.HeaderContentType, echo.MIMEOctetStream)
	h.Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q",
		"evertty-"+time.Now().UTC().Format("20060102T150405Z")+".tar.zst"))
	h.Set(echo.HeaderCacheControl, "no-store")
	err := backup.Write(ctx, httpapi.NewDeadlineWriter(c.Response()), s.config.Dir, s.config.Version)
	if err == nil || !c.Response().Committed {
		return err
	}
	if c.Request().Context().Err() == nil {
		slog.Error("backup broken off", "error", err)
	}
	panic(http.ErrAbortHandler) // nobody takes what was sent for the whole
}
