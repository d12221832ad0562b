package audit_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

// broken is an output that takes nothing.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAnOutputThatFailsKeepsNoLineFromTheOthers(t *testing.T) {
	for _, ocsf := range []bool{false, true} {
		var out bytes.Buffer
		lost := 0
		log := audit.NewLog(broken{}, &out)
		log.Lost = func(error) { lost++ }
		log.Use(audit.Settings{OCSF: ocsf})
		if err := log.Write(t.Context(), &audit.Record{Tool: "create_book"}); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got %v, want the output's error", err)
		}
		if err := log.WriteRead(t.Context(), &audit.Read{Tool: "get_book"}); err == nil {
			t.Error("got no error")
		}
		if n := strings.Count(out.String(), "\n"); n != 2 || lost != 2 {
			t.Errorf("the other output has %d lines, want 2; %d were told to be lost, want 2", n, lost)
		}
	}
}

// An output that cannot be asked is known to work when it has taken a line.
func TestAProblemOfStandardOutputEndsWithALineThatItTakes(t *testing.T) {
	var out sometimes
	log := audit.NewLog(&out)
	write := func() { _ = log.Write(t.Context(), &audit.Record{Tool: "create_book"}) }
	for _, full := range []bool{false, true, false} {
		out.full = full
		write()
		log.Try()
		if got, want := log.Problem(), map[bool]string{true: "no space left on device"}[full]; got != want {
			t.Errorf("full %v: got %q, want %q", full, got, want)
		}
	}
}

// sometimes is an output that takes lines unless it is full.
type sometimes struct{ full bool }

func (s *sometimes) Write(line []byte) (int, error) {
	if s.full {
		return broken{}.Write(line)
	}
	return len(line), nil
}

// A call that is not answered because its line could not be written is in no other output as one that was.
func TestAReadThatIsNotAnsweredIsToldAsSuch(t *testing.T) {
	for _, ocsf := range []bool{false, true} {
		var out bytes.Buffer
		log := audit.NewLog(broken{}, &out)
		log.Use(audit.Settings{OCSF: ocsf, Required: true})
		err := log.WriteRead(t.Context(), &audit.Read{Tool: "get_customer", Outcome: "ok", Bytes: 96, Shown: audit.Shown{Rows: 1, IDs: []string{"id-42"}, Fields: []string{"email"}}})
		if err == nil {
			t.Error("got no error")
		}
		if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `"unavailable"`) || strings.Contains(got, "id-42") || strings.Contains(got, "email") {
			t.Errorf("got %s, want one line about a call that was not answered", got)
		}
	}
}

func TestNoLogWritesNothing(t *testing.T) {
	var none *audit.Log
	none.Use(audit.Settings{OCSF: true})
	none.Try()
	if none.Write(t.Context(), &audit.Record{}) != nil || none.WriteRead(t.Context(), &audit.Read{}) != nil || none.WriteRefused(t.Context(), &audit.Refused{}) != nil || none.Problem() != "" {
		t.Error("no log fails")
	}
}

func TestTheCallerIsInTheLineOfAChange(t *testing.T) {
	var out bytes.Buffer
	log := audit.NewLog(&out)
	ctx := audit.WithOrigin(t.Context(), &audit.Caller{Address: "10.1.2.3", Client: "claude-code 2.1", Request: "7", Trace: "0af7651916cd43dd8448eb211c80319c"})
	if err := log.Write(ctx, &audit.Record{Token: "shop/agent", Tool: "delete_book", Call: "c1", Outcome: "ok"}); err != nil {
		t.Fatal(err)
	}
	if want := `"outcome":"ok","call":"c1","address":"10.1.2.3","client":"claude-code 2.1","request":"7","trace":"0af7651916cd43dd8448eb211c80319c"}`; !strings.HasSuffix(strings.TrimSpace(out.String()), want) {
		t.Errorf("got %s, want its end to be %s", out.String(), want)
	}
}
