package httpapi

// InputBytes is the input of a body with the fields data and data_b64: the one that is given.
// Errors: 400.
func InputBytes(text *string, b64 *[]byte) ([]byte, error) {
	switch {
	case text != nil && b64 == nil:
		return []byte(*text), nil
	case b64 != nil && text == nil:
		return *b64, nil
	}
	return nil, BadRequest(`exactly one of "data" (text) and "data_b64" (bytes in base64) is needed`)
}
