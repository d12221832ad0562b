package rotation_test

import (
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token/rotation"
)

func TestDecide(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	later, before := now.Add(time.Hour), now.Add(-time.Hour)
	text, next := contract.NewToken(), contract.NewToken()
	issued := rotation.State{Hash: contract.HashToken(text), IssuedAt: before}
	with := func(change func(*rotation.State)) rotation.State {
		s := issued
		change(&s)
		return s
	}
	prepared := with(func(s *rotation.State) { s.Next = contract.HashToken(next) })
	overlapping := with(func(s *rotation.State) { s.Previous, s.PreviousUntil = "old", later })
	asIssued := func(state rotation.State, change func(*rotation.Situation)) rotation.Situation {
		s := rotation.Situation{Active: true, Exists: true, Issued: true, State: state, Text: text, Overlap: time.Minute}
		change(&s)
		return s
	}
	nothing := func(*rotation.Situation) {}
	for name, row := range map[string]struct {
		situation       rotation.Situation
		action          rotation.Action
		reissued        bool
		lookAgain, next time.Time
	}{
		"never issued":                         {rotation.Situation{Active: true}, rotation.Issue, false, time.Time{}, time.Time{}},
		"never issued, with an expiry":         {rotation.Situation{Active: true, Expiry: &later}, rotation.Issue, false, later, time.Time{}},
		"issued before, and gone":              {rotation.Situation{Active: true, Issued: true}, rotation.Issue, true, time.Time{}, time.Time{}},
		"as issued":                            {asIssued(issued, nothing), rotation.Keep, false, time.Time{}, time.Time{}},
		"emptied or edited":                    {asIssued(issued, func(s *rotation.Situation) { s.Text = "" }), rotation.Issue, true, time.Time{}, time.Time{}},
		"inactive and never issued":            {rotation.Situation{}, rotation.Nothing, false, time.Time{}, time.Time{}},
		"paused and never issued":              {rotation.Situation{Active: true, Paused: true}, rotation.Nothing, false, time.Time{}, time.Time{}},
		"paused and emptied":                   {rotation.Situation{Active: true, Paused: true, Exists: true, Issued: true}, rotation.Nothing, false, time.Time{}, time.Time{}},
		"inactive and emptied":                 {rotation.Situation{Exists: true}, rotation.Nothing, false, time.Time{}, time.Time{}},
		"expired this moment, never issued":    {rotation.Situation{Active: true, Expiry: &now}, rotation.Nothing, false, time.Time{}, time.Time{}},
		"about to expire, and as it was made":  {asIssued(issued, func(s *rotation.Situation) { s.Expiry = &later }), rotation.Keep, false, later, time.Time{}},
		"rotated in an hour":                   {asIssued(issued, func(s *rotation.Situation) { s.Every = 2 * time.Hour }), rotation.Keep, false, later, later},
		"rotated a little earlier than others": {asIssued(issued, func(s *rotation.Situation) { s.Every, s.Spread = 2*time.Hour, 0.5 }), rotation.Keep, false, later.Add(-6 * time.Minute), later.Add(-6 * time.Minute)},
		"to be rotated this moment":            {asIssued(issued, func(s *rotation.Situation) { s.Every = time.Hour }), rotation.Prepare, false, time.Time{}, now},
		"asked to rotate":                      {asIssued(issued, func(s *rotation.Situation) { s.Request = "1" }), rotation.Prepare, false, time.Time{}, time.Time{}},
		"asked before, and answered": {
			asIssued(with(func(s *rotation.State) { s.RotatedFor = "1" }), func(s *rotation.Situation) { s.Request = "1" }), rotation.Keep, false, time.Time{}, time.Time{},
		},
		"prepared, and not every pod has it": {
			asIssued(prepared, func(s *rotation.Situation) { s.Request, s.NextText = "1", next }), rotation.Keep, false, time.Time{}, time.Time{},
		},
		"prepared, and every pod has it": {
			asIssued(prepared, func(s *rotation.Situation) { s.Request, s.NextText, s.Programmed = "1", next, true }), rotation.Rotate, false, now.Add(time.Minute), time.Time{},
		},
		"prepared by a manager that ended": {
			asIssued(prepared, func(s *rotation.Situation) { s.Request, s.Programmed = "1", true }), rotation.Prepare, false, time.Time{}, time.Time{},
		},
		"prepared, and not asked for any longer":   {asIssued(prepared, func(s *rotation.Situation) { s.NextText = next }), rotation.Keep, false, time.Time{}, time.Time{}},
		"asked again while the text before works":  {asIssued(overlapping, func(s *rotation.Situation) { s.Request = "2" }), rotation.Keep, false, later, time.Time{}},
		"the text before is over":                  {asIssued(with(func(s *rotation.State) { s.Previous, s.PreviousUntil = "old", now }), nothing), rotation.Keep, false, time.Time{}, time.Time{}},
		"asked to rotate what is immutable":        {asIssued(issued, func(s *rotation.Situation) { s.Request, s.Fixed = "1", true }), rotation.Keep, false, time.Time{}, time.Time{}},
		"of an unknown age, and to be rotated":     {asIssued(with(func(s *rotation.State) { s.IssuedAt = time.Time{} }), func(s *rotation.Situation) { s.Every = time.Hour }), rotation.Prepare, false, time.Time{}, time.Time{}.Add(time.Hour)},
		"inactive, with a rotation that was begun": {asIssued(prepared, func(s *rotation.Situation) { s.Active, s.Request = false, "1" }), rotation.Nothing, false, time.Time{}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			row.situation.Now = now
			got := rotation.Decide(row.situation)
			if got.Action != row.action || got.Reissued != row.reissued || !got.LookAgain.Equal(row.lookAgain) || !got.NextRotation.Equal(row.next) || got.Why == "" {
				t.Errorf("%+v", got)
			}
			if got.Action == rotation.Rotate && (got.State.Hash != prepared.Next || got.State.Previous != prepared.Hash || got.State.Next != "" || got.State.RotatedFor != "1") {
				t.Errorf("state: %+v", got.State)
			}
			if row.situation.Request == "" && row.situation.Active && got.State.Next != "" {
				t.Errorf("a next text that nobody asks for is kept: %+v", got.State)
			}
		})
	}
}

// A rotation never leaves a moment in which the text that the Secret has is refused: whatever step the manager ended at,
// the next one lets in what the Secret has, and what it had within the overlap.
func TestARotationLetsInWhatTheSecretHas(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	texts := map[string]string{} // by hash
	text := func() (string, string) {
		made := contract.NewToken()
		texts[contract.HashToken(made)] = made
		return made, contract.HashToken(made)
	}
	_, hash := text()
	state := rotation.State{Hash: hash, IssuedAt: now}
	known := "" // the next text in the manager's memory
	for step := range 60 {
		now = now.Add(7 * time.Second)
		if step%3 == 0 {
			known = "" // the manager ended
		}
		s := rotation.Situation{
			Now: now, Active: true, Exists: true, Issued: true, State: state, Text: texts[state.Hash], NextText: known,
			Programmed: step%4 != 0, Every: time.Minute, Overlap: 20 * time.Second,
		}
		d := rotation.Decide(s)
		before := state
		switch d.Action {
		case rotation.Prepare:
			known, d.State.Next = text()
		case rotation.Rotate:
			known = ""
		case rotation.Issue, rotation.Nothing:
			t.Fatalf("step %d: %+v", step, d)
		}
		state = d.State
		let := state.Hashes(now)
		if !contains(let, before.Hash) || !contains(let, state.Hash) {
			t.Fatalf("step %d: %v does not let in %q and %q", step, let, before.Hash, state.Hash)
		}
		if len(let) > 2 {
			t.Fatalf("step %d: %d texts are let in", step, len(let))
		}
	}
	if state.Hash == hash {
		t.Error("it was never rotated")
	}
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}
