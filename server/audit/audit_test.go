package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// written is the line that a record becomes.
func written(t *testing.T, r *Record) (line string, members map[string]any) {
	t.Helper()
	var out bytes.Buffer
	if err := NewLog(&out).Write(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &members); err != nil {
		t.Fatalf("%v in %s", err, out.String())
	}
	return out.String(), members
}

func TestWhatACallerSendsNeitherFillsNorBreaksTheLog(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	r := &Record{Token: "ns/agent", Tool: "create_" + long, Model: long, Operation: "action:" + long, Outcome: "not_found"}
	for i := range 1000 {
		r.IDs, r.Fields = append(r.IDs, fmt.Sprint(i)+long), append(r.Fields, fmt.Sprint("f", i)+long)
	}
	line, members := written(t, r)
	if len(line) > 48<<10 {
		t.Errorf("the line has %d bytes", len(line))
	}
	if ids := members["ids"].([]any); len(ids) != MaxIDs || !strings.HasPrefix(ids[7].(string), "7ä") || !strings.HasSuffix(ids[7].(string), "ä…") {
		t.Errorf("%d ids, such as %q", len(ids), ids[7])
	}
	line, members = written(t, &Record{Tool: "create_book", Model: "x\n{\"msg\":\"audit\"}\u2028\x1b[2J", IDs: []string{"1\r\n2"}})
	if strings.Count(line, "\n") != 1 || strings.ContainsAny(line, "\r\x1b") || members["ids"].([]any)[0] != "1\r\n2" {
		t.Errorf("the line is broken: %q", line)
	}
}

func TestTheSubjectIsToldIfThereIsOne(t *testing.T) {
	if _, members := written(t, &Record{Token: "ns/agent", Subject: "ann@example.com\n"}); members["subject"] != "ann@example.com\n" {
		t.Errorf("%v", members)
	}
	if line, _ := written(t, &Record{Token: "ns/agent"}); strings.Contains(line, "subject") {
		t.Errorf("got %s, want nothing of subject", line)
	}
}

func TestARecordOfNothingIsWrittenWithEmptyLists(t *testing.T) {
	_, members := written(t, &Record{Token: "ns/agent", Tool: "delete_book"})
	if fmt.Sprint(members["ids"], members["fields"]) != "[] []" {
		t.Errorf("%v", members)
	}
}

// The lines have the form that log/slog gives to others of the server.
func TestALineHasTheFormOfTheLog(t *testing.T) {
	odd := "a \"b\" \\ <&> ä\t\r\n\x1b\u2027\u2028\u2029\u202a"
	line, members := written(t, &Record{Token: "shop/agent", Tool: odd, Model: "book", Operation: "create", IDs: []string{"1", odd}, Fields: []string{},
		Changed: 2, Rows: new(int), Question: `{"limit":1}`, DryRun: true, Outcome: OperationAuthenticate, AllowedBy: []string{"ann"}})
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("audit", "token", "shop/agent", "tool", odd, "model", "book", "operation", "create", "ids", []string{"1", odd}, "fields", []string{},
		"changed", 2, "rows", 0, "asked", `{"limit":1}`, "dry_run", true, "outcome", OperationAuthenticate, "allowed_by", []string{"ann"})
	_, got, _ := strings.Cut(line, `","level"`)
	_, want, _ := strings.Cut(out.String(), `","level"`)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if at, err := time.Parse(time.RFC3339Nano, members["time"].(string)); err != nil || time.Since(at) < 0 {
		t.Errorf("the time is %v: %v", members["time"], err)
	}
}
