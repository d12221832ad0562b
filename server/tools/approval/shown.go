package approval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
)

// shown is what people who decide are shown of some changes, as far as every policy that asks lets it be shown.
func shown(met []*policy, all *call.Changes) (told []contract.ApprovalChange, notice string) {
	level := contract.ShowValues
	for _, p := range met {
		switch {
		case p.Show == contract.ShowCounts:
			level = contract.ShowCounts
		case p.Show != contract.ShowValues && level == contract.ShowValues:
			level = contract.ShowFields
		}
	}
	return shownAs(level, met, all)
}

// shownAs is what people are shown at one of the Show… levels.
func shownAs(level string, met []*policy, all *call.Changes) (told []contract.ApprovalChange, notice string) {
	changes := all.List()
	if level == contract.ShowCounts || len(changes) > contract.MaxApprovalChanges {
		told = counted(changes)
		if level != contract.ShowCounts {
			notice = fmt.Sprintf("there are more than %d changes: they are counted", contract.MaxApprovalChanges)
		}
	} else {
		for _, of := range consequences(changes) {
			m := modelOf(changes, of.Model)
			if level == contract.ShowValues { // without values, a field that stays would look like one that changes
				addAsked(&of, met, m)
			}
			told = append(told, shownChange(&of, level == contract.ShowValues, hiddenFields(m)))
		}
	}
	for _, unnamed := range []contract.ApprovalChange{
		{Change: contract.ApproveUpdate, Rows: all.Unnamed().Updated}, {Change: contract.ApproveDelete, Rows: all.Unnamed().Deleted},
	} {
		if unnamed.Rows > 0 {
			told = append(told, unnamed)
			notice = "rows of tables that are no model change along"
		}
	}
	return told, notice
}

// counted are the changes by model and kind.
func counted(changes []call.Change) (told []contract.ApprovalChange) {
	for i := range changes {
		model, kind := changes[i].Row.Model.Name, changes[i].Kind()
		at := slices.IndexFunc(told, func(c contract.ApprovalChange) bool { return c.Model == model && c.Change == kind })
		if at < 0 {
			at = len(told)
			told = append(told, contract.ApprovalChange{Model: model, Change: kind})
		}
		told[at].Rows++
	}
	return told
}

// modelOf is the model of that name among the changes.
func modelOf(changes []call.Change, name string) *catalog.Model {
	i := slices.IndexFunc(changes, func(ch call.Change) bool { return ch.Row.Model.Name == name })
	return changes[i].Row.Model
}

// hiddenFields are the fields of a model whose values nobody is shown.
func hiddenFields(m *catalog.Model) map[string]bool {
	hidden := map[string]bool{}
	for _, f := range m.Fields {
		if f.Masked || f.Secret {
			hidden[f.Name] = true
		}
	}
	return hidden
}

// addAsked adds the fields that the policies' conditions ask of and that stay as they are: who decides sees why they are asked.
func addAsked(of *consequence, met []*policy, m *catalog.Model) {
	for _, p := range met {
		for _, name := range p.asked(m) {
			value := of.Was.Value(name)
			if value == nil || slices.ContainsFunc(of.Fields, func(f fieldConsequence) bool { return f.Name == name }) {
				continue
			}
			of.Fields = append(of.Fields, fieldConsequence{name, value, value})
		}
	}
	slices.SortFunc(of.Fields, func(a, b fieldConsequence) int { return cmp.Compare(a.Name, b.Name) })
}

func shownChange(of *consequence, values bool, hidden map[string]bool) contract.ApprovalChange {
	told := contract.ApprovalChange{Model: of.Model, Change: of.Kind, Rows: 1, ID: cut(of.Row)}
	for _, f := range of.Fields {
		told.Fields = append(told.Fields, f.Name)
		if !values || hidden[f.Name] {
			continue
		}
		if told.Before == nil {
			told.Before, told.After = map[string]json.RawMessage{}, map[string]json.RawMessage{}
		}
		if len(f.Before) > 0 {
			told.Before[f.Name] = cutValue(f.Before)
		}
		if len(f.After) > 0 {
			told.After[f.Name] = cutValue(f.After)
		}
	}
	return told
}

// cutValue is a value, or the beginning of its text if it is too long.
func cutValue(raw json.RawMessage) json.RawMessage {
	if len(raw) <= contract.MaxApprovalValue {
		return raw
	}
	return call.AppendJSON(nil, cut(call.PlainText(raw)))
}

// cut is a text, or its beginning if it is too long.
func cut(text string) string {
	runes := []rune(text)
	if len(runes) <= contract.MaxApprovalValue {
		return text
	}
	return string(runes[:contract.MaxApprovalValue]) + "…"
}
