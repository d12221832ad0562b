package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/audit"
)

// schema is what the published schema says of the class and its objects (testdata).
type schema struct {
	Classes map[string]struct {
		Attributes map[string]struct {
			Type     string            `json:"type"`
			Array    bool              `json:"array"`
			Required bool              `json:"required"`
			Enum     map[string]string `json:"enum"`
		} `json:"attributes"`
		AtLeastOne []string `json:"at_least_one"`
	} `json:"classes"`
}

func readSchema(t *testing.T) *schema {
	t.Helper()
	text, err := os.ReadFile("testdata/ocsf-1.8.0.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &schema{}
	if err := json.Unmarshal(text, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// check holds an object against its class, with all that is in it.
func (s *schema) check(t *testing.T, class, path string, object map[string]any) {
	t.Helper()
	c, known := s.Classes[class]
	if !known {
		t.Errorf("%s: the test knows nothing of %s", path, class)
		return
	}
	for name, a := range c.Attributes {
		if _, given := object[name]; a.Required && !given {
			t.Errorf("%s has no %s, which %s requires", path, name, class)
		}
	}
	if len(c.AtLeastOne) > 0 && !slices.ContainsFunc(c.AtLeastOne, func(name string) bool { return object[name] != nil && object[name] != "" }) {
		t.Errorf("%s has none of %v", path, c.AtLeastOne)
	}
	for name, value := range object {
		a, known := c.Attributes[name]
		if !known {
			t.Errorf("%s.%s is not in the schema", path, name)
			continue
		}
		values := []any{value}
		if a.Array {
			values = value.([]any)
		}
		for _, v := range values {
			s.checkValue(t, a.Type, path+"."+name, v)
			if number, ok := v.(float64); ok && len(a.Enum) > 0 && a.Enum[fmt.Sprint(number)] == "" && number != 99 && name != "type_uid" {
				t.Errorf("%s.%s: the schema has no %v", path, name, v)
			}
		}
	}
}

func (s *schema) checkValue(t *testing.T, kind, path string, value any) {
	t.Helper()
	switch kind {
	case "integer_t", "long_t", "timestamp_t":
		if number, ok := value.(float64); !ok || number != float64(int64(number)) {
			t.Errorf("%s is %v, want a whole number", path, value)
		}
	case "object":
		if _, ok := value.(map[string]any); !ok {
			t.Errorf("%s is %v, want an object", path, value)
		}
	default:
		if object, ok := value.(map[string]any); ok {
			s.check(t, kind, path, object)
		} else if _, text := value.(string); !text || !strings.HasSuffix(kind, "_t") {
			t.Errorf("%s is %v, want %s", path, value, kind)
		}
	}
}

// events returns the lines that a log in the format of OCSF writes.
func events(t *testing.T, from *audit.Caller, write func(*audit.Log, audit.Origin)) (found []map[string]any) {
	t.Helper()
	var out bytes.Buffer
	log := audit.NewLog(&out)
	log.Pod, log.Version = "shop-mcp-0", "1.2.3"
	log.Use(audit.Settings{OCSF: true, Endpoint: "shop/books"})
	write(log, from)
	for line := range strings.Lines(out.String()) {
		event := map[string]any{}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		found = append(found, event)
	}
	return found
}

func TestEventsAreAsThePublishedSchemaSays(t *testing.T) {
	published := readSchema(t)
	ann := &audit.Caller{Address: "10.1.2.3", Client: "claude-code 2.1", Request: "7", Trace: "0af7651916cd43dd8448eb211c80319c"}
	rows := 3
	for _, from := range []*audit.Caller{ann, {}} {
		for _, outcome := range []string{"ok", "intent", "not_found", "permission_denied"} {
			for _, r := range []*audit.Record{
				{Token: "shop/agent", Subject: "ann@example.com", Tool: "update_book", Model: "book", Operation: "update", Call: "c1", IDs: []string{"1"}, Fields: []string{"title"}, Changed: 1},
				{Token: "shop/agent", Tool: "list_book", Model: "book", Operation: "export:list", Call: "c2", Rows: &rows},
				{Token: "shop/agent", Tool: "run_refund_order", Model: "order", Operation: "action:refund", DryRun: true},
				{Token: "shop/agent", Tool: "transact", Operation: "transact"}, {Tool: "get_x"},
			} {
				r.Outcome = outcome
				for i, event := range events(t, from, func(l *audit.Log, o audit.Origin) { _ = l.Write(audit.WithOrigin(t.Context(), o), r) }) {
					published.check(t, "datastore_activity", fmt.Sprintf("%s %s %d", r.Tool, outcome, i), event)
				}
			}
			r := &audit.Read{Token: "shop/agent", Tool: "list_book", Model: "book", Operation: "list", Question: `{"filters":{"id":"?"}}`, Shown: audit.Shown{Fields: []string{"id"}, Rows: 1, IDs: []string{"7"}}, Bytes: 40, Took: time.Millisecond, Outcome: outcome}
			for _, event := range events(t, from, func(l *audit.Log, o audit.Origin) { _ = l.WriteRead(audit.WithOrigin(t.Context(), o), r) }) {
				published.check(t, "datastore_activity", "list_book "+outcome, event)
			}
		}
	}
}

func TestEveryOperationIsAnActivity(t *testing.T) {
	want := map[contract.Effect]string{contract.Adds: "Create", contract.Changes: "Update"}
	for _, op := range slices.Concat(contract.GlobalOperations(), contract.ModelOperations()) {
		operation := op.Name
		if op.Name == "bulk" {
			operation = "bulk:update" // as lines have it
		}
		e := events(t, nil, func(l *audit.Log, _ audit.Origin) {
			_ = l.Write(t.Context(), &audit.Record{Tool: op.Name, Operation: operation, Outcome: "ok"})
		})[0]
		got := e["activity_name"]
		if expected := want[op.Effect]; expected != "" && got != expected || op.Effect != contract.Tells && op.Effect != contract.Withdraws && got == "Other" {
			t.Errorf("%s is %v", op.Name, got)
		}
		if e["type_uid"] != 600500+e["activity_id"].(float64) {
			t.Errorf("%s: type_uid is %v, activity_id %v", op.Name, e["type_uid"], e["activity_id"])
		}
	}
}

func TestAnEventTellsWhoDidWhat(t *testing.T) {
	from := &audit.Caller{Address: "10.1.2.3", Client: "claude-code 2.1", Request: "7"}
	e := events(t, from, func(l *audit.Log, o audit.Origin) {
		_ = l.Write(audit.WithOrigin(t.Context(), o), &audit.Record{Token: "shop/agent", Subject: "ann@example.com", Tool: "delete_book", Model: "book", Operation: "delete", Call: "c1", IDs: []string{"7"}, Changed: 1, Outcome: "ok"})
	})[0]
	for path, want := range map[string]string{
		"actor.user.name": "ann@example.com", "actor.user.uid": "shop/agent", "actor.app_name": "claude-code 2.1", "src_endpoint.ip": "10.1.2.3",
		"dst_endpoint.name": "shop-mcp-0", "database.name": "shop/books", "table.name": "book", "status": "Success", "status_code": "ok", "activity_name": "Delete",
		"metadata.event_code": "delete_book", "metadata.correlation_uid": "c1", "metadata.version": "1.8.0", "message_context.name": "7", "unmapped.ids": "[7]", "unmapped.changed": "1",
	} {
		var value any = e
		for name := range strings.SplitSeq(path, ".") {
			object, _ := value.(map[string]any)
			value = object[name]
		}
		if got := fmt.Sprint(value); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}
