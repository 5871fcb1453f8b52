package client

import (
	"encoding/json"

	"github.com/evertty/evertty/wire"
)

// decodeOutput reads the object of stdout and stderr: text in data, or bytes in
// data_b64 where they are not UTF-8. Errors are encoding/json's.
func decodeOutput(p []byte) ([]byte, error) {
	var o wire.EventOutput
	if err := json.Unmarshal(p, &o); err != nil {
		return nil, err
	}
	return exact(o.Data, o.DataB64), nil
}
