package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// onLibraries runs a test on a library of each engine.
func onLibraries(t *testing.T, test func(t *testing.T, l *library), changes ...func(*contract.Config)) {
	for _, engine := range []string{contract.EngineSQLite, contract.EnginePostgreSQL, contract.EngineMySQL} {
		t.Run(engine, func(t *testing.T) { test(t, newLibraryOn(t, engine, changes...)) })
	}
}

// value is the text at a place of an answer: members and places of arrays, joined by dots.
func value(r call.Result, path string) string {
	at := json.RawMessage(r.Text)
	for _, name := range strings.Split(path, ".") {
		var array []json.RawMessage
		var object map[string]json.RawMessage
		if i, err := strconv.Atoi(name); err == nil && json.Unmarshal(at, &array) == nil && i < len(array) {
			at = array[i]
			continue
		}
		if json.Unmarshal(at, &object) != nil {
			return ""
		}
		at = object[name]
	}
	return call.PlainText(at)
}

func TestStepsSeeEachOtherAndAreKeptTogether(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		r := l.call(ownerText, "transact", `{"steps":[
			{"tool":"create_author","arguments":{"data":{"name":"Lem"}}},
			{"tool":"create","arguments":{"model":"book","data":{"title":"Solaris","author_id":{"_step":0,"path":"id"}}},"expect":{"count":1}},
			{"tool":"list_book","arguments":{"filters":{"author__name":"Lem"},"fields":["title"]},"expect":{"count":1,"results.0.title":"Solaris"}},
			{"tool":"get_book","arguments":{"id":1},"expect":{"title":"Dune"}},
			{"tool":"bulk_chapter","arguments":{"operation":"create","items":[{"data":{"book_id":{"_step":1,"path":"object.id"},"number":1,"title":{"_step":2,"path":"results.0.title"}}}]}},
			{"tool":"aggregate_chapter","arguments":{"filters":{"book_id":{"_step":1,"path":"id"}},"measures":{"n":{"count":"*"}}},"expect":{"results.0.n":1}}]}`)
		if r.IsError {
			t.Fatalf("%s (%v)", r.Text, r.Cause)
		}
		if n := strings.Count(string(r.Text), `"call":`); n != 1 || value(r, "call") == "" {
			t.Errorf("the call's id is told %d times: %s", n, r.Text)
		}
		if got := l.must(ownerText, "list_chapter", `{"filters":{"title":"Solaris"}}`); got["count"] != 1.0 {
			t.Errorf("the chapters are %v", got)
		}
		history := l.call(ownerText, "history_author", `{"id":`+value(r, "results.0.id")+`}`)
		if value(history, "count") != "1" {
			t.Errorf("the history is %s", history.Text)
		}
	})
}

func TestAStepThatFailsUndoesAll(t *testing.T) {
	create := `{"tool":"create_author","arguments":{"data":{"name":"Lem"}}}`
	onLibraries(t, func(t *testing.T, l *library) {
		for _, c := range []struct {
			name, steps string
			code        call.Code
			says        string
		}{
			{"a row that is not there", create + `,{"tool":"update_author","arguments":{"id":999,"data":{"name":"x"}}}`, call.CodeNotFound, "step 1 (update_author): author not found; nothing was changed"},
			{"a constraint", create + `,{"tool":"update_book","arguments":{"id":1,"data":{"isbn":"222"}}}`, call.CodeValidation, "step 1"},
			{"an expectation of a value", create + `,{"tool":"get_book","arguments":{"id":1},"expect":{"title":"Emma"}}`, call.CodeConflict, `title was expected to be \"Emma\", but it is \"Dune\"`},
			{"an expectation of a number of rows", create + `,{"tool":"list_author","expect":{"count":2}}`, call.CodeConflict, "count was expected to be 2, but it is 3"},
			{"an expectation of what is not there", create + `,{"tool":"get_author","arguments":{"id":1},"expect":{"colour":1}}`, call.CodeConflict, "has no such value"},
			{"a reference to what is not there", create + `,{"tool":"get_author","arguments":{"id":{"_step":0,"path":"object.colour"}}}`, call.CodeInvalidArgument, "step 0 answered has no object.colour"},
			{"a reference to a later step", create + `,{"tool":"get_author","arguments":{"id":{"_step":1,"path":"id"}}}`, call.CodeInvalidArgument, "only the steps before"},
			{"a reference with more members", create + `,{"tool":"get_author","arguments":{"id":{"_step":0,"path":"id","x":1}}}`, call.CodeInvalidArgument, "a reference is"},
			{"an unknown tool", create + `,{"tool":"fly_author"}`, call.CodeNotFound, "fly_author"},
			{"a tool that is no step", create + `,{"tool":"describe_author"}`, call.CodeInvalidArgument, "cannot be a step"},
			{"itself", create + `,{"tool":"transact","arguments":{"steps":[]}}`, call.CodeInvalidArgument, "cannot be a step"},
			{"history", create + `,{"tool":"history_author","arguments":{"id":1}}`, call.CodeInvalidArgument, "cannot be a step"},
			{"a dry run of a step", create + `,{"tool":"create_author","arguments":{"dry_run":true,"data":{"name":"x"}}}`, call.CodeInvalidArgument, "dry_run is no argument of a step"},
			{"a bulk that keeps a part", create + `,{"tool":"bulk_author","arguments":{"operation":"delete","items":[1],"atomic":false}}`, call.CodeInvalidArgument, "atomic"},
			{"a bulk of which one item fails", create + `,{"tool":"bulk_author","arguments":{"operation":"create","items":[{"data":{"name":"y"}},{"data":{}}]}}`, call.CodeValidation, "item 1"},
			{"an unknown member", create + `,{"tool":"list_author","argument":{}}`, call.CodeInvalidArgument, "unknown argument"},
			{"no step", ``, call.CodeInvalidArgument, "at least one step"},
		} {
			r := l.call(ownerText, "transact", `{"steps":[`+c.steps+`]}`)
			if r.Code != c.code || !strings.Contains(string(r.Text), c.says) {
				t.Errorf("%s: %s, want %s with %s (%v)", c.name, r.Text, c.code, c.says, r.Cause)
			}
			if c.steps != "" && value(r, "step") != "1" {
				t.Errorf("%s: the step is %q", c.name, value(r, "step"))
			}
			if got := l.must(ownerText, "list_author", `{}`); got["count"] != 2.0 {
				t.Fatalf("%s: there are %v authors", c.name, got["count"])
			}
		}
	})
}

func TestTransactJudgesRightsFirst(t *testing.T) {
	l := newLibrary(t)
	r := l.call(readerText, "transact", `{"steps":[{"tool":"list_author"},{"tool":"update_author","arguments":{"id":1,"data":{"name":"x"}}}]}`)
	if r.Code != call.CodePermissionDenied || value(r, "step") != "1" {
		t.Errorf("a reader's update: %s", r.Text)
	}
	if r = l.call(adderText, "transact", `{"steps":[{"tool":"create_author","arguments":{"data":{"name":"Lem"}}},
		{"tool":"create_book","arguments":{"data":{"title":{"_step":0,"path":"object.name"},"author_id":1}}}]}`); r.Code != call.CodeInvalidArgument {
		t.Errorf("a reference to what the token does not see: %s", r.Text)
	}
}

func TestADryRunOfStepsKeepsNothing(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		r := l.call(ownerText, "transact", `{"dry_run":true,"steps":[{"tool":"create_author","arguments":{"data":{"name":"Lem"}}},
			{"tool":"update_author","arguments":{"id":{"_step":0,"path":"id"},"data":{"name":"Stanisław"}}}]}`)
		if r.IsError || value(r, "dry_run") != "true" || value(r, "call") != "" || value(r, "results.1.object.name") != "Stanisław" {
			t.Errorf("%s (%v)", r.Text, r.Cause)
		}
		if got := l.must(ownerText, "list_author", `{}`); got["count"] != 2.0 {
			t.Errorf("there are %v authors", got["count"])
		}
	})
}

func TestActionsAmongStepsAreConfirmedTogether(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		steps := `"steps":[{"tool":"create_author","arguments":{"data":{"name":"Lem"}}},
			{"tool":"action_book","arguments":{"action":"raise","ids":[1],"confirmation_data":{"amount":"2"}}},
			{"tool":"action_shelf","arguments":{"action":"delete_selected","ids":[3]}},
			{"tool":"get_book","arguments":{"id":1},"expect":{"price":2}}]`
		r := l.call(ownerText, "transact", `{`+steps+`}`)
		page := value(r, "confirmation_page.content")
		if r.IsError || value(r, "requires_confirmation") != "true" || !strings.Contains(page, "Raise 1 by 2?") || !strings.Contains(page, "Delete 1 shelf?") {
			t.Fatalf("%s (%v)", r.Text, r.Cause)
		}
		if without := l.call(ownerText, "transact", `{"confirm":true,`+steps+`}`); without.Code != call.CodeConflict || value(without, "confirmation_token") == "" {
			t.Errorf("without the token: %s", without.Text)
		}
		other := strings.Replace(steps, "Lem", "Lew", 1)
		if wrong := l.call(ownerText, "transact", fmt.Sprintf(`{"confirm":true,"confirmation_token":%q,%s}`, value(r, "confirmation_token"), other)); wrong.Code != call.CodeConflict {
			t.Errorf("with other steps: %s", wrong.Text)
		}
		if got := l.must(ownerText, "list_author", `{}`); got["count"] != 2.0 {
			t.Errorf("there are %v authors", got["count"])
		}
		done := l.call(ownerText, "transact", fmt.Sprintf(`{"confirm":true,"confirmation_token":%q,%s}`, value(r, "confirmation_token"), steps))
		if done.IsError || value(done, "results.1.affected_count") != "1" {
			t.Errorf("%s (%v)", done.Text, done.Cause)
		}
		if got := l.must(ownerText, "list_shelf", `{}`); got["count"] != 2.0 {
			t.Errorf("there are %v shelves", got["count"])
		}
	}, withActions)
}

func TestAnswersOfStepsAreBounded(t *testing.T) {
	l := newLibrary(t)
	l.set.settings.MaxResultBytes = 2000
	var steps []string
	for range 60 {
		steps = append(steps, `{"tool":"get_author","arguments":{"id":1}}`)
	}
	if r := l.call(ownerText, "transact", `{"steps":[`+strings.Join(steps, ",")+`,{"tool":"update_author","arguments":{"id":1,"data":{"name":"x"}}}]}`); r.Code != call.CodeTooLarge {
		t.Errorf("%s", r.Text)
	}
	if r := l.call(ownerText, "transact", `{"steps":[`+strings.Repeat(steps[0]+",", 100)+steps[0]+`]}`); r.Code != call.CodeInvalidArgument || !strings.Contains(r.Message, "101 are too many") {
		t.Errorf("%s", r.Text)
	}
}

// A transaction that cannot begin, for example as all connections are busy, has run no step.
func TestStepsThatCannotBegin(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		r := l.set.Call(cancelled, l.token(ownerText), "transact", []byte(`{"steps":[{"tool":"create_author","arguments":{"data":{"name":"Lem"}}}]}`))
		if r.Code != call.CodeUnavailable || value(r, "step") != "" {
			t.Errorf("%s (%v)", r.Text, r.Cause)
		}
	})
}

func TestAnAnswerOfTheLargestSizeIsAStepToo(t *testing.T) {
	l := newLibrary(t)
	l.set.settings.MaxResultBytes = 60
	const update = `{"id":1,"data":{"name":"Frank Herbert"}}`
	alone := l.call(ownerText, "update_author", update)
	r := l.call(ownerText, "transact", `{"steps":[{"tool":"update_author","arguments":`+update+`}]}`)
	if name := value(alone, "object.name"); len(alone.Text) <= 60 || name == "" || value(r, "results.0.object.name") != name {
		t.Errorf("a step answers %s, and its call by itself %s", r.Text, alone.Text)
	}
}

func TestArgumentsOfAStepAreNoReference(t *testing.T) {
	onLibraries(t, func(t *testing.T, l *library) {
		r := l.call(ownerText, "transact", `{"steps":[{"tool":"create_author","arguments":{"data":{"name":"Lem"}}},
			{"tool":"update_author","arguments":{"_step":0,"path":"object"}}]}`)
		if r.Code != call.CodeInvalidArgument || !strings.Contains(r.Message, "arguments cannot be a reference") {
			t.Errorf("%s", r.Text)
		}
	})
}

func TestHintsNameKeysIfThereIsATableForThem(t *testing.T) {
	for _, tool := range []string{"create_author", "transact"} {
		arguments := `{"colour":1}`
		if without := newLibrary(t).call(ownerText, tool, arguments); strings.Contains(without.Message, call.KeyName) {
			t.Errorf("%s without a table: %s", tool, without.Message)
		}
		if with := newLibrary(t, withAnswers).call(ownerText, tool, arguments); !strings.Contains(with.Message, call.KeyName) {
			t.Errorf("%s with a table: %s", tool, with.Message)
		}
	}
}

func TestStepsCostWhatTheirCallsCost(t *testing.T) {
	for arguments, want := range map[string]int{
		`{"steps":[{"tool":"list_book"},{"tool":"bulk_book","arguments":{"items":[1,2,3]}}]}`:    4,
		`{"steps":[{"tool":"transact","arguments":{"steps":[1,2]}},{"tool":"list_book"}]}`:       1,
		`{"steps":[{"tool":"action","arguments":{"model":"book","ids":[1,2]}},{"tool":"list"}]}`: 3,
		`{"steps":7}`: 1,
		`{}`:          1,
	} {
		if got := call.Cost("transact", []byte(arguments)); got != want {
			t.Errorf("%s costs %d, want %d", arguments, got, want)
		}
	}
}

func TestTransactIsListedForWhoMayWrite(t *testing.T) {
	l := newLibrary(t)
	for token, want := range map[string]bool{ownerText: true, adderText: true, deleterText: true, bookishText: true, readerText: false} {
		for _, style := range []string{contract.StyleGeneric, contract.StylePerModel} {
			list := string(l.set.Tools(l.token(token), View{Style: style}, false).Plain)
			if got := strings.Contains(list, `{"name":"transact",`); got != want {
				t.Errorf("%s, %s: %t", token, style, got)
			}
		}
	}
}
