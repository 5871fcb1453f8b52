// generate writes what follows from the routes: the document of the HTTP API, its types in TypeScript for the web page,
// and the methods of the Go client. generate WIREDIR DOCUMENT TYPES CLIENTDIR.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evertty/evertty/internal/openapi"
	"github.com/evertty/evertty/internal/server"
	"github.com/evertty/evertty/internal/server/httpapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 5 {
		return fmt.Errorf("usage: generate WIREDIR DOCUMENT TYPES CLIENTDIR")
	}
	doc, err := openapi.Document(server.Routes(), os.Args[1], httpapi.APIVersion)
	if err != nil {
		return err
	}
	types, err := openapi.TypeScript(os.Args[1])
	if err != nil {
		return err
	}
	methods, err := openapi.Client(server.Routes(), os.Args[4])
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(os.Args[2], doc, 0o644), os.WriteFile(os.Args[3], types, 0o644),
		os.WriteFile(filepath.Join(os.Args[4], "api.gen.go"), methods, 0o644))
}
