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

// The questions of exposures are asked once, beside the calls of agents, and the database is asked once whether it takes their reports:
// one after the other, each for a bounded time, and again only if their exposure or the schema is another one, or if a report was not taken.
// What fails becomes a note of the model's status. Nothing waits for the answers.

const (
	// questionTimeout is how long one question may take.
	questionTimeout = 10 * time.Second
	// questionPause is the least time between two rounds. A database that was away, or does not take a report, is asked again after
	// firstQuestionRetry, and then more seldom: what a report lacks may lie outside of the schema that is watched.
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
	// untaken reports whether the database does not take one of its reports.
	untaken bool
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
		repeats := false
		select {
		case <-ctx.Done():
			return
		case <-c.wakes.questions:
			retry = firstQuestionRetry
		case <-again:
			retry, repeats = min(2*retry, lastQuestionRetry), true
		}
		asked, answered := c.askNew(ctx, repeats)
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

// askNew asks about models that are new, or whose schema is, and if it repeats about those with reports that were not taken. It reports
// whether there were any, and whether the database answered and took all reports.
func (c *core) askNew(ctx context.Context, repeats bool) (asked, answered bool) {
	c.mu.Lock()
	s, schema := c.snapshot.Load(), c.schema
	c.mu.Unlock()
	if s == nil || len(s.Settings().Database.SessionSettings) > 0 { // policies of the database's own may refuse whom they do not know
		return false, true
	}
	answered = true
	for i, declared := range s.Config().Models {
		if len(declared.Questions)+len(declared.Reports) == 0 || !s.Models()[i].Served() {
			continue
		}
		known := c.asked(&declared, schema)
		if known != nil && (!repeats || !known.untaken) {
			answered = answered && !known.untaken
			continue
		}
		asked = true
		untaken, ok := c.tryReports(ctx, s, i)
		if !ok {
			return asked, false
		}
		notes, ok := c.ask(ctx, s, i)
		if !ok {
			return asked, false
		}
		answered = answered && len(untaken) == 0
		c.noteQuestions(askedModel{declared, schema, append(untaken, notes...), len(untaken) > 0})
	}
	return asked, answered
}

// asked is what came of a model's questions on a schema; nil if they were not asked.
func (c *core) asked(m *contract.Model, schema *database.Schema) *askedModel {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.models.asked.of(m)
	if !ok || known.schema != schema {
		return nil
	}
	return &known
}

// tryReports asks the database whether it takes the reports of the i-th model of a snapshot; false if it is away.
func (c *core) tryReports(ctx context.Context, s *snapshot.Snapshot, i int) (notes []string, ok bool) {
	attempt, cancel := context.WithTimeout(ctx, questionTimeout)
	defer cancel()
	err := s.TryReports(attempt, i, func(report, why string) {
		notes = append(notes, fmt.Sprintf("The report %s cannot be run: %s. Correct its statement in spec.actions, or the database.", report, excerpt.Of(why, maxQuestionNote)))
	})
	return notes, err == nil
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
