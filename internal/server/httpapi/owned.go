package httpapi

import (
	"context"
	"reflect"
	"strings"
	"sync"

	"github.com/labstack/echo/v4"

	"github.com/evertty/evertty/internal/owner"
	"github.com/evertty/evertty/internal/terminal"
)

// The names of sessions, threads and leases in requests and replies have the tag owned, with what they name. A user
// says and sees them without the user's name: binding adds it, encoding takes it away. With ",space" an absent name
// means all that the user has.
const ownedTag = "owned"

// Reach is whose sessions a request may name. The zero value is those of no user, which cannot be named otherwise.
type Reach struct {
	User string // it sees what this user has, and nothing else; "" is an administrator, who sees all
	All  bool   // an administrator who may name USER@NAME
}

const reachKey = "evertty.reach"

// SetReach says whose sessions a request may name.
func SetReach(c echo.Context, r Reach) { c.Set(reachKey, r) }

func reachOf(c echo.Context) Reach {
	if c == nil { // of no request
		return Reach{}
	}
	r, _ := c.Get(reachKey).(Reach)
	return r
}

// UserOf is the user whose things the request sees; "" is an administrator, who sees all.
func UserOf(ctx context.Context) string { return reachOf(EchoOf(ctx)).User }

// SpaceOf names all sessions that the request sees, see owner.In.
func SpaceOf(ctx context.Context) string { return owner.Name(UserOf(ctx), "") }

// NameFor is the name of a session as the client of a request knows it.
func NameFor(c echo.Context, session string) string {
	if of, plain := owner.Split(session); of == reachOf(c).User {
		return plain
	}
	return session
}

// Shown is v as the client of a request sees it. v itself stays as it is.
func Shown[T any](c echo.Context, v T) T {
	user := reachOf(c).User
	if user == "" || !hasOwned(reflect.TypeOf(v)) {
		return v
	}
	var w reflect.Value // of the dynamic type
	if w = reflect.New(reflect.TypeOf(v)).Elem(); w.CanSet() {
		w.Set(reflect.ValueOf(v))
	}
	_ = eachOwned(w, func(reflect.StructTag) bool { return true }, func(_, name string) (string, error) {
		return NameFor(c, name), nil
	})
	return w.Interface().(T)
}

// own gives the names of a request that are in its body, or those that are not, the name of their owner. Errors:
// terminal.ErrInvalid for one that names an owner itself and may not, or names all that an owner has.
func own(c echo.Context, in any, body bool) error {
	r := reachOf(c)
	here := func(tag reflect.StructTag) bool { return (tag.Get("json") != "-") == body }
	return eachOwned(reflect.ValueOf(in).Elem(), here, func(tag, name string) (string, error) {
		what, option, _ := strings.Cut(tag, ",")
		if owner.Owned(name) && (!r.All || owner.IsSpace(name)) {
			return name, terminal.CheckName(what, name)
		}
		if name == "" && option == "" {
			return name, nil
		}
		return owner.Name(r.User, name), nil
	})
}

// eachOwned changes the names in v, which can be set, whose tag is one of those that here takes. What v shares with
// others, behind pointers and slices, is copied before.
func eachOwned(v reflect.Value, here func(reflect.StructTag) bool,
	change func(tag, name string) (string, error)) error {
	if !hasOwned(v.Type()) {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(v.Elem())
		v.Set(p)
		return eachOwned(p.Elem(), here, change)
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		if !v.IsNil() {
			v.Set(list)
		}
		for i := range list.Len() {
			if err := eachOwned(list.Index(i), here, change); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, owned := tag.Lookup(ownedTag)
		var err error
		switch {
		case !owned:
			err = eachOwned(v.Field(i), here, change)
		case here(tag):
			err = changeNames(v.Field(i), func(s string) (string, error) { return change(name, s) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// changeNames changes a field: a name or a list of names.
func changeNames(v reflect.Value, change func(string) (string, error)) error {
	if v.Kind() == reflect.String {
		s, err := change(v.String())
		v.SetString(s)
		return err
	}
	list := make([]string, v.Len())
	for i := range list {
		var err error
		if list[i], err = change(v.Index(i).String()); err != nil {
			return err
		}
	}
	v.Set(reflect.ValueOf(list))
	return nil
}

// ownedTypes has what hasOwned knows: bool by reflect.Type.
var ownedTypes sync.Map

// hasOwned reports whether values of a type have names with the tag.
func hasOwned(t reflect.Type) bool {
	if t == nil {
		return false
	}
	if has, ok := ownedTypes.Load(t); ok {
		return has.(bool)
	}
	has := findOwned(t, map[reflect.Type]bool{})
	ownedTypes.Store(t, has)
	return has
}

// findOwned looks for the tag in a type and what it is made of, but not in types that it came through.
func findOwned(t reflect.Type, through map[reflect.Type]bool) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return findOwned(t.Elem(), through)
	case reflect.Struct:
	default:
		return false
	}
	if through[t] {
		return false
	}
	through[t] = true
	for i := range t.NumField() {
		if _, owned := t.Field(i).Tag.Lookup(ownedTag); owned || findOwned(t.Field(i).Type, through) {
			return true
		}
	}
	return false
}
