package server_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

func TestStatusWakesWhenTheConfigIsApplied(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	seen := r.status("", "")
	type heard struct {
		status contract.Status
		at     time.Time
	}
	answers := make(chan heard)
	go func() { answers <- heard{r.status(seen.Serial, "1m"), time.Now()} }()
	select {
	case h := <-answers:
		t.Fatalf("nothing changed, but there was an answer: %+v", h.status)
	case <-time.After(200 * time.Millisecond):
	}
	changed := time.Now()
	r.apply(source.Update{Config: revoked(2)})
	h := <-answers
	if h.status.Revision != 2 || h.status.Serial == seen.Serial {
		t.Errorf("the status is %+v", h.status)
	}
	if took := h.at.Sub(changed); took > 50*time.Second {
		t.Errorf("the status woke after %v", took)
	}
	if status, _ := r.post(listTools); status != 401 {
		t.Errorf("the token is revoked when the status says so, but: %d", status)
	}
}

func TestStatusAnswersAfterTheWait(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	seen := r.status("", "")
	began := time.Now()
	if s := r.status(seen.Serial, "150ms"); s.Serial != seen.Serial || time.Since(began) < 150*time.Millisecond {
		t.Errorf("after %v: %+v", time.Since(began), s)
	}
}

func TestStatusLeavesOutModelsThatAreKnown(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	first := r.status("", "")
	ask := func() (s contract.Status) {
		t.Helper()
		_, answer := r.get("/status?models=" + first.ModelsSerial)
		if err := json.Unmarshal([]byte(answer), &s); err != nil {
			t.Fatalf("%v in %s", err, answer)
		}
		return s
	}
	r.apply(source.Update{Config: revoked(2)})
	if s := ask(); s.Revision != 2 || s.ModelsSerial != first.ModelsSerial || s.Models != nil {
		t.Errorf("the models are the same, but it is %+v", s)
	}
	if s := r.status("", ""); !reflect.DeepEqual(s.Models, first.Models) || len(s.Models) == 0 {
		t.Errorf("nobody said that the models are known, but it is %+v", s)
	}
	fewer := config(3)
	fewer.Models = fewer.Models[1:]
	r.apply(source.Update{Config: fewer})
	if s := ask(); s.Revision != 3 || s.ModelsSerial == first.ModelsSerial || len(s.Models) != len(first.Models)-1 {
		t.Errorf("the models are others, but it is %+v", s)
	}
}

func TestStatusNeedsTheKey(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	if status, _ := r.get("/status"); status != 401 {
		t.Errorf("before there is a key: %d", status)
	}
	r.apply(source.Update{Config: config(1)})
	r.untilReady()
	for name, key := range map[string]string{"another key": "x", "no key": "", "an agent's token": token} {
		if status, answer := r.do("GET", r.admin+"/status", key, ""); status != 401 || strings.Contains(answer, "revision") {
			t.Errorf("%s: %d %s", name, status, answer)
		}
	}
	if status, _ := r.get("/status?wait=soon"); status != 400 {
		t.Errorf("a wait that is no duration: %d", status)
	}
}
