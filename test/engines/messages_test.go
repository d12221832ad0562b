package engines

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// messageRow is a call with a mistake, and all that its caller gets: the error, and of a validation error the fields
// with what is wrong with each.
type messageRow struct {
	token, tool, arguments string
	want                   string
	// only are the engines that say it; empty is all.
	only string
}

const (
	sqlite, postgres, mysql = contract.EngineSQLite, contract.EnginePostgreSQL, contract.EngineMySQL
)

// The error of every mistake says in plain words what was wrong, and what would do.
func TestMessages(t *testing.T) {
	for _, engine := range harness.Engines {
		t.Run(engine.Name, func(t *testing.T) {
			skipOnlyRead(t, engine)
			startWithParcels(t, engine).tells(t, slices.Concat(messagesOfReading, messagesOfMoments, messagesOfAsking, messagesOfComputing, messagesOfWriting, messagesOfDeleting, messagesOfActions, messagesOfUndoing, messagesOfSteps))
		})
	}
}

// tells makes the calls; no call changes anything.
func (s *suite) tells(t *testing.T, rows []messageRow) {
	t.Helper()
	for _, row := range rows {
		if row.only != "" && !strings.Contains(row.only, s.Name) {
			continue
		}
		if got := s.told(t, row); got != row.want {
			t.Errorf("%s %.300s as %s:\n got %s\nwant %s", row.tool, row.arguments, row.token, got, row.want)
		}
	}
}

// requestID identifies a call to a webhook, and differs each time.
var requestID = regexp.MustCompile(`\(request [A-Z2-7]+\)`)

// told is the text that the caller gets.
func (s *suite) told(t *testing.T, row messageRow) string {
	t.Helper()
	payload, isError := s.call(t, row.token, row.tool, row.arguments)
	if !isError {
		t.Errorf("%s %.300s as %s is no mistake: %.300v", row.tool, row.arguments, row.token, payload)
		return ""
	}
	told := requestID.ReplaceAllString(payload["error"].(string), "(request …)")
	problems, _ := payload["validation_errors"].(object)
	if problems == nil {
		return told
	}
	var all []string
	for _, each := range problems["errors"].([]any) {
		for _, message := range each.(object)["messages"].([]any) {
			all = append(all, fmt.Sprintf("%v: %v", each.(object)["field"], message))
		}
	}
	return strings.Join(all, "; ")
}

// numbered are numbers from 1 on, each in a format, joined by commas.
func numbered(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i+1)
	}
	return strings.Join(all, ",")
}

// parcels are tables with rows too many or too large for a call, with a trigger, and with a foreign key to a table whose
// exposure was not accepted.
const parcels = `
create table shed (id int primary key);
insert into shed values (1);
create table parcel (id int primary key, name varchar(50), size int, weight decimal(5,1), shed_id int, body longtext,
  foreign key (shed_id) references shed (id));
create table tally (id int primary key, parcel_id int, foreign key (parcel_id) references parcel (id) on delete cascade);
create table crate (id int primary key, parcel_id int, body text, foreign key (parcel_id) references parcel (id) on delete cascade);
create table scroll (id int primary key, a longtext, b longtext, c longtext, d longtext, e longtext);
insert into parcel (id, name) values (1, 'small'), (3, 'light');`

// triggers refuse a parcel in words of their own.
var triggers = map[string][]string{
	sqlite: {
		"create trigger no_large_parcels before update on parcel when new.size > 1000 begin select raise(abort, 'too large for the van'); end",
		"create trigger no_large_parcel before insert on parcel when new.size > 1000 begin select raise(abort, 'too large for the van'); end",
	},
	postgres: {
		"create function no_large_parcels() returns trigger language plpgsql as $$ begin if new.size > 1000 then raise 'too large for the van'; end if; return new; end $$",
		"create trigger no_large_parcels before insert or update on parcel for each row execute function no_large_parcels()",
	},
	mysql: {
		"create trigger no_large_parcels before update on parcel for each row if new.size > 1000 then signal sqlstate '45000' set message_text = 'too large for the van'; end if",
		"create trigger no_large_parcel before insert on parcel for each row if new.size > 1000 then signal sqlstate '45000' set message_text = 'too large for the van'; end if",
	},
}

// startWithParcels serves the library and the parcels.
func startWithParcels(t *testing.T, engine harness.Engine) *suite {
	t.Helper()
	script := library(engine) + strings.ReplaceAll(parcels, "longtext", map[string]string{sqlite: "text", postgres: "text", mysql: "longtext"}[engine.Name])
	database, plain := engine.Open(t, script)
	large := "'" + strings.Repeat("x", 300_000) + "'"
	rows := []string{
		"insert into tally values " + numbered(10_001, "(%d, 1)"),
		"insert into crate values " + numbered(5000, "(%d, 3, '"+strings.Repeat("x", 2_000)+"')"),
		"insert into scroll values (1" + strings.Repeat(", "+large, 5) + ")",
	}
	for _, statement := range append(rows, triggers[engine.Name]...) {
		if _, err := plain.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%.200s: %v", statement, err)
		}
	}
	served := append(models(), parcelModel(webhook(t)),
		contract.Model{Name: "tally", Table: "tally", Expose: true, MinGroupSize: 5, Operations: []string{"get", "aggregate"}}, contract.Model{Name: "scroll", Table: "scroll", Expose: true, Operations: []string{"list", "get"}},
		contract.Model{Name: "crate", Table: "crate", Expose: true, MaxBulkItems: 3000, Actions: []contract.Action{sweep}},
		contract.Model{Name: "nowhere", Table: "nowhere", Expose: true})
	withhold := func(c *contract.Config) { c.Endpoint.WithheldTables = []contract.TableName{{Name: "shed"}} }
	return &suite{engine, harness.Serve(t, database, served, append(tokens(), runner()), withAudit, withhold), plain}
}

// sweep is an action without parameters.
var sweep = contract.Action{Name: "sweep", Update: &contract.UpdateAction{
	Set: []contract.ActionAssignment{{Field: "body", Source: contract.SourceValue, Value: "swept"}}}}

// runner may run one action of the books.
func runner() contract.Token {
	return contract.Token{Namespace: "test", Name: "runner", Hashes: []string{contract.HashToken(secret("runner"))}, Groups: []string{"staff"},
		Rules: []contract.Rule{{Models: []string{"book"}, Verbs: []string{"view", "change"}, Actions: []string{"retire"}}}}
}

// parcelModel takes two parcels in a call, and has an action for each way in which a webhook fails.
func parcelModel(webhook string) contract.Model {
	m := contract.Model{Name: "parcel", Table: "parcel", Expose: true, MaxBulkItems: 2, Actions: []contract.Action{
		sweep,
		{Name: "weigh", Parameters: []contract.Parameter{{Name: "size", Type: contract.TypeInteger}},
			Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "size", Source: contract.SourceParameter, Parameter: "size"}}}},
		{Name: "label", Parameters: []contract.Parameter{{Name: "colour", Type: contract.TypeString, Required: true, Choices: []contract.Choice{{Value: "red"}, {Value: "blue"}}}},
			Update: &contract.UpdateAction{Set: []contract.ActionAssignment{{Field: "name", Source: contract.SourceParameter, Parameter: "colour"}}}},
		{Name: "unset", Webhook: &contract.Webhook{URL: webhook, Timeout: contract.Duration(time.Second), Problem: "its Secret is missing"}},
		{Name: "absent", Webhook: &contract.Webhook{URL: "http://127.0.0.1:1/", Timeout: contract.Duration(time.Second)}},
	}}
	for _, way := range []string{"failing", "wordy", "silent", "rude"} {
		timeout := contract.Duration(30 * time.Second)
		if way == "silent" { // for which a call waits in vain
			timeout = contract.Duration(200 * time.Millisecond)
		}
		m.Actions = append(m.Actions, contract.Action{Name: way, Webhook: &contract.Webhook{URL: webhook + "/" + way, Timeout: timeout}})
	}
	return m
}

// webhook answers each path in a way of its own.
func webhook(t *testing.T) string {
	t.Helper()
	over := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/failing":
			w.WriteHeader(http.StatusInternalServerError)
		case "/wordy":
			_, _ = w.Write(make([]byte, 65<<10))
		case "/silent":
			<-over
		case "/rude":
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return server.URL
}
