package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
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
