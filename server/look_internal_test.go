package server

import "testing"

func TestARequestToLookIsHeededOnce(t *testing.T) {
	look := make(chan struct{}, 1)
	p := &adminPort{look: func() { wake(look) }}
	for i, step := range []struct {
		request string
		looks   bool
	}{{"", false}, {"a", true}, {"a", false}, {"b", true}, {"", false}, {"b", true}} {
		p.heed(step.request)
		looks := false
		select {
		case <-look:
			looks = true
		default:
		}
		if looks != step.looks {
			t.Errorf("step %d, %q: looks: %v, want %v", i, step.request, looks, step.looks)
		}
	}
}
