package httpapi

// InputRequest is the body of POST …/input: text, or any bytes in base64.
type InputRequest struct {
	Data *string `json:"data"`
	B64  *[]byte `json:"data_b64"`
}

// Bytes is the input, from the one field that is given. Errors: 400.
func (r InputRequest) Bytes() ([]byte, error) {
	switch {
	case r.Data != nil && r.B64 == nil:
		return []byte(*r.Data), nil
	case r.B64 != nil && r.Data == nil:
		return *r.B64, nil
	}
	return nil, BadRequest(`exactly one of "data" (text) and "data_b64" (bytes in base64) is needed`)
}
