package server

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/excerpt"
	"github.com/mcp-admin/mcp-admin-operator/server/database"
	"github.com/mcp-admin/mcp-admin-operator/server/snapshot"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// The questions of exposures are asked once, beside the calls of agents: one after the other, each for a bounded time, and again only
// if their exposure or the schema is another one. What fails becomes a note of the model's status. Nothing waits for the answers.

const (
	// questionTimeout is how long one question may take.
	questionTimeout = 10 * time.Second
	// questionPause is the least time between two rounds. A database that was away is asked again after firstQuestionRetry, and then
	// more seldom.
	questionPause                         = 5 * time.Second
	firstQuestionRetry, lastQuestionRetry = 30 * time.Second, 30 * time.Minute
	// maxQuestionNotes is the most bytes of notes about the questions of all models, maxQuestionNote that of one message.
	maxQuestionNotes, maxQuestionNote = 32 << 10, 300
)

// askedModel is what came of a model's questions.
type askedModel struct {
	declared contract.Model
	schema   *database.Schema
	notes    []string
}

// askedModels are the models whose questions were asked, by the UIDs and names of their exposures.
type askedModels map[string]askedModel

func (asked askedModels) of(m *contract.Model) (askedModel, bool) {
	known, ok := asked[m.UID+m.Exposure]
	return known, ok && reflect.DeepEqual(known.declared, *m)
}

// watchQuestions asks what is new among the questions until ctx ends.
func (c *core) watchQuestions(ctx context.Context) {
	retry := firstQuestionRetry
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wakes.questions:
			retry = firstQuestionRetry
		case <-again:
			retry = min(2*retry, lastQuestionRetry)
		}
		asked, answered := c.askNew(ctx)
		again = nil
		if !answered {
			again = time.After(jittered(retry))
		}
		if !asked {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(questionPause):
		}
	}
}

// askNew asks the questions of models that are new, or whose schema is. It reports whether there were any, and whether the database
// answered.
func (c *core) askNew(ctx context.Context) (asked, answered bool) {
	c.mu.Lock()
	s, schema := c.snapshot.Load(), c.schema
	c.mu.Unlock()
	if s == nil || len(s.Settings().Database.SessionSettings) > 0 { // policies of the database's own may refuse whom they do not know
		return false, true
	}
	for i, declared := range s.Config().Models {
		if len(declared.Questions) == 0 || !s.Models()[i].Served() || c.wasAsked(&declared, schema) {
			continue
		}
		asked = true
		notes, ok := c.ask(ctx, s, i)
		if !ok {
			return asked, false
		}
		c.noteQuestions(askedModel{declared, schema, notes})
	}
	return asked, true
}

func (c *core) wasAsked(m *contract.Model, schema *database.Schema) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.models.asked.of(m)
	return ok && known.schema == schema
}

// ask asks the questions of the i-th model of a snapshot; false if the database is away.
func (c *core) ask(ctx context.Context, s *snapshot.Snapshot, i int) (notes []string, ok bool) {
	timeout := questionTimeout
	if most := time.Duration(s.Settings().Database.StatementTimeout); most > 0 {
		timeout = min(timeout, most)
	}
	for k, q := range s.Config().Models[i].Questions {
		attempt, cancel := context.WithTimeout(ctx, timeout)
		result, asked := s.Ask(attempt, i, &q)
		late := attempt.Err() != nil
		cancel()
		why := result.Message
		switch {
		case ctx.Err() != nil:
			return nil, false
		case !asked || !result.IsError:
			continue
		case late:
			why = fmt.Sprintf("it takes longer than %s", timeout)
		case result.Code == call.CodeUnavailable:
			return nil, false
		}
		notes = append(notes, fmt.Sprintf("spec.questions[%d] fails: %s.", k, excerpt.Of(why, maxQuestionNote)))
	}
	return notes, true
}

// noteQuestions publishes what came of a model's questions.
func (c *core) noteQuestions(asked askedModel) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.snapshot.Load()
	if s == nil {
		return
	}
	all := askedModels{asked.declared.UID + asked.declared.Exposure: asked}
	for _, m := range s.Config().Models { // what is gone is forgotten
		key := m.UID + m.Exposure
		if before, ok := c.models.asked[key]; ok && key != asked.declared.UID+asked.declared.Exposure {
			all[key] = before
		}
	}
	c.models.asked = all
	c.models.judge(s)
	c.publish()
}

// addQuestionNotes adds the notes about questions to the models' statuses, as far as there is room.
func (m *modelStatuses) addQuestionNotes(models []contract.Model) {
	room := maxQuestionNotes
	for i := range models {
		known, ok := m.asked.of(&models[i])
		if !ok {
			continue
		}
		for _, note := range known.notes {
			if room -= len(note); room < 0 {
				return
			}
			status := m.own(i)
			status.Notes = append(status.Notes[:len(status.Notes):len(status.Notes)], note)
		}
	}
}
