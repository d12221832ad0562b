package call

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The client's own error is the status alone: an endpoint that says why it takes no request is heard.
func TestAnEndpointThatTakesNoRequestIsHeard(t *testing.T) {
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the database has not answered yet"}}`: "the database has not answered yet",
		`<html>no gateway</html>`: http.StatusText(http.StatusServiceUnavailable),
	} {
		endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, body)
		}))
		_, err := At(endpoint.URL, "a token", nil).Open(t.Context(), "test")
		if err == nil || !strings.HasPrefix(err.Error(), endpoint.URL+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s ends with %v", body, err)
		}
		endpoint.Close()
	}
}
