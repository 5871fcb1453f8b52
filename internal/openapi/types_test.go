package openapi

import (
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSchemas: what a type says is what its schema says.
func TestSchemas(t *testing.T) {
	dir := t.TempDir()
	source := `package wire

import "time"

// Kind is what kind.
type Kind string

const (
	KindA Kind = "a"
	KindB Kind = "b"
)

// Base is what both have.
type Base struct {
	// A name.
	Name string ` + "`json:\"name\" minLength:\"1\"`" + `
}

// All is everything.
//
//schema:minProperties 1
type All struct {
	Base
	// A kind.
	Kind Kind ` + "`json:\"kind,omitempty\"`" + `
	// Null before.
	At *time.Time ` + "`json:\"at\"`" + `
	// Variables.
	//schema:propertyNames {"pattern": "^[A-Z]+$"}
	Env map[string]*string ` + "`json:\"env,omitempty\"`" + `
	// Bytes.
	Data []byte ` + "`json:\"data_b64\"`" + `
	// Others.
	Rest []Base ` + "`json:\"rest\" maxItems:\"3\"`" + `
	Never string ` + "`json:\"-\"`" + `
}
`
	if err := os.WriteFile(filepath.Join(dir, "wire.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	schemas := readTypes(dir).schemas()
	for name, want := range map[string]string{
		"Kind": `{"type": "string", "description": "What kind.", "enum": ["a", "b"]}`,
		"All": `{"type": "object", "description": "Everything.", "additionalProperties": false, ` +
			`"required": ["name", "at", "data_b64", "rest"], ` +
			`"properties": {"name": {"type": "string", "minLength": 1, "description": "A name."}, ` +
			`"kind": {"$ref": "#/components/schemas/Kind", "description": "A kind."}, ` +
			`"at": {"type": ["string", "null"], "format": "date-time", "description": "Null before."}, ` +
			`"env": {"type": "object", "additionalProperties": {"type": ["string", "null"]}, ` +
			`"description": "Variables.", "propertyNames": {"pattern": "^[A-Z]+$"}}, ` +
			`"data_b64": {"type": "string", "contentEncoding": "base64", "description": "Bytes."}, ` +
			`"rest": {"type": "array", "items": {"$ref": "#/components/schemas/Base"}, "maxItems": 3, ` +
			`"description": "Others."}}, "minProperties": 1}`,
	} {
		if got := oneLine(schemas.get(name)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	unknown := func() (err error) {
		defer catch(&err)
		(&types{}).value(&ast.FuncType{Params: &ast.FieldList{}})
		return nil
	}
	if err := unknown(); err == nil || !strings.Contains(err.Error(), "no schema") {
		t.Errorf("an unknown kind of type: %v", err)
	}
}

// TestTypeScript: what a schema says, as a type.
func TestTypeScript(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type": "integer", "minimum": 0}`:                                    "number",
		`{"type": ["string", "null"]}`:                                         "string | null",
		`{"type": "string", "enum": ["a", "b"]}`:                               `"a" | "b"`,
		`{"anyOf": [{"$ref": "#/components/schemas/Exit"}, {"type": "null"}]}`: "Exit | null",
		`{"type": "array", "items": {"type": ["string", "null"]}}`:             "(string | null)[]",
		`{"type": "object", "additionalProperties": {"type": "string"}}`:       "{ [key: string]: string }",
		`{"type": "object"}`:                                                   "{ [key: string]: unknown }",
		`{"const": true, "type": "boolean"}`:                                   "true",
		`{}`:                                                                   "unknown",
	} {
		s, _ := parse(schema).(object)
		if got := tsType(s); got != want {
			t.Errorf("%s is %s, want %s", schema, got, want)
		}
	}
}
