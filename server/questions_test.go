package server_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// asking counts the reads of a database, each of which takes as long as it may if the database is stuck.
type asking struct {
	database.DB
	reads *atomic.Int32
	stuck *atomic.Bool
}

func (a asking) Select(ctx context.Context, plan *database.Select, out []byte) ([]byte, database.Page, error) {
	a.reads.Add(1)
	if a.stuck.Load() {
		<-ctx.Done()
		return out, database.Page{}, &database.Error{Code: database.Cancelled, Message: "cancelled", Cause: ctx.Err()}
	}
	return a.DB.Select(ctx, plan, out)
}

// questioned is a Config whose model has a question.
func questioned(revision int64, arguments string) *contract.Config {
	c := config(revision)
	c.Endpoint.Database.StatementTimeout = contract.Duration(300 * time.Millisecond)
	c.Models[0].Questions = []contract.Question{{Ask: "Which books are there?", Tool: "list", Arguments: []byte(arguments)}}
	return c
}

// questionNote is the note about the question of a status.
func questionNote(s contract.Status) string {
	if len(s.Models) == 0 {
		return ""
	}
	for _, note := range s.Models[0].Notes {
		if strings.Contains(note, "spec.questions") {
			return note
		}
	}
	return ""
}

func TestQuestionsAreAskedOnceBesideTheCalls(t *testing.T) {
	t.Parallel()
	var reads atomic.Int32
	var stuck atomic.Bool
	stuck.Store(true)
	r := start(t, func(s *server.Server, _ *running) {
		open := s.OpenDatabase
		s.OpenDatabase = func(engine string, settings database.Settings) database.DB {
			return asking{open(engine, settings), &reads, &stuck}
		}
	})
	r.apply(source.Update{Config: questioned(1, `{"limit":1}`)})
	r.untilReady() // though the question never ends by itself
	const late = "spec.questions[0] fails: it takes longer than 300ms."
	r.until("told of a question that takes too long", func(s contract.Status) bool { return questionNote(s) == late })

	stuck.Store(false)
	before := reads.Load()
	other := questioned(2, `{"limit":1}`)
	other.Endpoint.URL = "http://other.example.com/mcp/" // the models are looked at again, and are as before
	r.apply(source.Update{Config: other})
	if s := r.until("at the second revision", func(s contract.Status) bool { return s.Revision == 2 }); questionNote(s) != late {
		t.Errorf("what is known of a question is gone: %q", questionNote(s))
	}
	r.apply(source.Update{Config: questioned(3, `{"limit":2}`)})
	r.until("without the note", func(s contract.Status) bool { return s.Revision == 3 && questionNote(s) == "" })
	for deadline := time.Now().Add(10 * time.Minute); reads.Load() == before && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if n := reads.Load() - before; n != 1 {
		t.Errorf("%d questions were asked of a Config that is the same and one whose question is another, want one", n)
	}
}

func TestQuestionsThatNobodyCanAskAreTold(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	r.apply(source.Update{Config: questioned(1, `{"filters":{"titel":"x"}}`)})
	const refused = `spec.questions[0] is not shown, as its call of list is refused: filters: titel: book has no field "titel" to filter by`
	r.until("told of a question that cannot be asked", func(s contract.Status) bool { return strings.HasPrefix(questionNote(s), refused) })
}
