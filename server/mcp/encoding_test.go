package mcp_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestACompressedBodyIsRefusedAsSuch(t *testing.T) {
	e := newEndpoint(t, config())
	for encoding, want := range map[string]int{"gzip": 415, "br": 415, "identity": 200, "Identity": 200} {
		response := e.do(request{body: listTools, header: http.Header{"Content-Encoding": {encoding}}})
		if body := text(response); response.StatusCode != want || want == 415 && !strings.Contains(body, "Content-Encoding is not supported") {
			t.Errorf("%s: %d %.200s", encoding, response.StatusCode, body)
		}
	}
}
