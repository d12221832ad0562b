package tracing

import "testing"

// People copy the whole address of a signal: its path is not added twice.
func TestThePathOfASignalIsAddedOnce(t *testing.T) {
	for url, want := range map[string]string{
		"http://h:4318":                    "http://h:4318/v1/traces",
		"http://h:4318/":                   "http://h:4318/v1/traces",
		"http://h:4318/v1/traces":          "http://h:4318/v1/traces",
		"http://h:4318/v1/traces/":         "http://h:4318/v1/traces",
		"http://h:4318/tenant/v1/traces":   "http://h:4318/tenant/v1/traces",
		"http://h:4318/v1/traces-of-a-day": "http://h:4318/v1/traces-of-a-day/v1/traces",
	} {
		if got := (&Settings{URL: url}).PathURL("/v1/traces"); got != want {
			t.Errorf("%s: got %s, want %s", url, got, want)
		}
	}
}
