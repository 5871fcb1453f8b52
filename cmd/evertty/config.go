package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/evertty/evertty/internal/strictmodes"
)

// envPrefix begins the variable of every flag: --pty-idle is EVERTTY_PTY_IDLE.
const envPrefix = "EVERTTY_"

// maxConfig bounds the configuration file, in bytes: a larger one is not one.
const maxConfig = 1 << 20

// backgroundFlag is the flag of serve for a server that a verb starts.
const backgroundFlag = "background"

// notConfigurable are the flags that have neither variable nor key.
var notConfigurable = []string{"help", "config", backgroundFlag}

// applyConfig gives every flag of cmd that the command line did not set its value
// from the environment (EVERTTY_ and the flag's name) or else from the TOML file
// (the flag's name; - becomes _ in both). An empty variable counts as not set.
// Every error is a usageError of one line that names the key,
// where it came from, the value and the allowed values. When file is "" the
// variable EVERTTY_CONFIG names it.
func applyConfig(cmd *cobra.Command, file string) error {
	if file == "" {
		file = os.Getenv(envName("config"))
	}
	keys, err := readConfig(file)
	if err != nil {
		return usage(err)
	}
	flags := configurable(cmd)
	if err := checkKeys(keys, flags, file); err != nil {
		return usage(err)
	}
	for _, f := range flags {
		if f.Changed {
			continue
		}
		if err := applyTo(cmd.Flags(), f, keys, file); err != nil {
			return usage(err)
		}
	}
	return nil
}

func applyTo(flags *pflag.FlagSet, f *pflag.Flag, keys map[string]any, file string) error {
	if name := envName(f.Name); os.Getenv(name) != "" {
		v := os.Getenv(name)
		if flags.Set(f.Name, v) != nil {
			return notAllowed(keyName(f.Name)+" (variable "+name+")", v, f.Value)
		}
		return nil
	}
	v, ok := keys[keyName(f.Name)]
	if !ok {
		return nil
	}
	if err := setFromFile(flags, f, v); err != nil {
		return notAllowed(keyName(f.Name)+" (file "+file+")", fmt.Sprint(v), f.Value)
	}
	return nil
}

// setFromFile sets a flag to a TOML value. Lists are for flags that may be
// repeated.
func setFromFile(flags *pflag.FlagSet, f *pflag.Flag, v any) error {
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	words := make([]string, len(list))
	for i, v := range list {
		var ok bool
		if words[i], ok = scalar(v); !ok {
			return errNotAllowed
		}
	}
	if !isList {
		return flags.Set(f.Name, words[0])
	}
	slice, takesList := f.Value.(pflag.SliceValue)
	if !takesList {
		return errNotAllowed
	}
	f.Changed = true
	return slice.Replace(words)
}

// scalar is a TOML value as it would be written on the command line.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string, int64, bool:
		return fmt.Sprint(v), true
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), true
	}
	return "", false
}

// readConfig reads the file's keys; no file has none.
func readConfig(file string) (map[string]any, error) {
	keys := map[string]any{}
	if file == "" {
		return keys, nil
	}
	info, err := os.Stat(file)
	if err == nil {
		err = strictmodes.Check(file)
	}
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return nil, fmt.Errorf("--config: %s: want a regular file of at most %d bytes", file, maxConfig)
	}
	if _, err := toml.DecodeFile(file, &keys); err != nil {
		return nil, fmt.Errorf("--config: %w", wrongTOML(file, err))
	}
	return keys, nil
}

// kindsTOML say what a key of another kind takes.
var kindsTOML = map[string]string{"boolean": "true or false", "integer": "a whole number", "string": "a text in quotes",
	"slice": "[[…]], a list"}

// wrongTOML is why a file of settings cannot be read, in the words of its author rather than of the program.
func wrongTOML(file string, err error) error {
	text := strings.TrimPrefix(err.Error(), "toml: ")
	if at, types, ok := strings.Cut(text, "incompatible types: "); ok {
		_, kind, _ := strings.Cut(types, "destination has type ")
		text = at + "allowed is " + cmp.Or(kindsTOML[kind], kind)
	}
	return fmt.Errorf("%s: %s", file, text)
}

// checkKeys refuses keys that no flag has: a slip of the pen must not go by in
// silence.
func checkKeys(keys map[string]any, flags []*pflag.Flag, file string) error {
	var known []string
	for _, f := range flags {
		known = append(known, keyName(f.Name))
	}
	for key := range keys {
		if !slices.Contains(known, key) {
			return fmt.Errorf("%s (file %s): there is no such key; allowed are %s", key, file,
				strings.Join(known, ", "))
		}
	}
	return nil
}

// configurable are the flags that can be set from outside, sorted by name.
func configurable(cmd *cobra.Command) []*pflag.Flag {
	var flags []*pflag.Flag
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(notConfigurable, f.Name) {
			flags = append(flags, f)
		}
	})
	return flags
}

func keyName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }
func envName(flag string) string { return envPrefix + strings.ToUpper(keyName(flag)) }

// notAllowed is the sentence about a wrong value.
func notAllowed(key, given string, v pflag.Value) error {
	return fmt.Errorf("%s: got %q, allowed is %s", key, given, allowed(v))
}

// allowed says what a flag takes.
func allowed(v pflag.Value) string {
	if v, ok := v.(*value); ok {
		return v.allowed
	}
	return cmp.Or(kindTexts[v.Type()], "a text")
}

// kindTexts say what flags of pflag's own kinds take.
var kindTexts = map[string]string{"bool": "true or false", "int": "a whole number", "int64": "a whole number",
	"uint64": "a whole number", "stringSlice": "a list of texts", "stringArray": "a list of texts"}

// flagError makes what pflag says about the command line read like the errors of
// applyConfig.
func flagError(c *cobra.Command, err error) error {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		f := wrong.GetFlag()
		return usage(notAllowed("--"+f.Name, wrong.GetValue(), f.Value))
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if near := nearest(unknown.GetSpecifiedName(), names); near != "" {
			err = fmt.Errorf("%w; did you mean --%s?", err, near)
		}
	}
	if words := c.Flags().Args(); len(words) > 0 && strings.Contains(c.Use, "-- CMD") {
		err = fmt.Errorf("%w; options of a program go behind --: %s -- %s ...", err,
			c.CommandPath(), words[0])
	}
	return usage(err)
}
