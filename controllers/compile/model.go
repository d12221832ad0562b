package compile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// compileModels accepts the oldest exposure of each model name and of each table. A table named once with and once
// without its schema may be the same one: only the server can tell, and reports contract.ReasonTableConflicted. No more
// than most are accepted; 0 is any number. wasServed reports whether the stored Config has an exposure. The verdicts go
// into verdicts. It also returns the tables of exposures that are not accepted.
func compileModels(endpoint *v1alpha1.MCPEndpoint, exposures []*v1alpha1.MCPModelExposure, webhooks webhooks, most int, wasServed func(*v1alpha1.MCPModelExposure) bool, verdicts map[types.NamespacedName]Verdict) ([]contract.Model, []contract.TableName) {
	exposures = slices.SortedFunc(slices.Values(exposures), func(a, b *v1alpha1.MCPModelExposure) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})

	models := make([]contract.Model, 0, len(exposures)) // it is kept, and a model is large
	byModel := map[string]string{}
	byTable := map[v1alpha1.TableReference]string{}
	for _, e := range exposures {
		key := types.NamespacedName{Namespace: e.Namespace, Name: e.Name}
		if errs := v1alpha1.ValidateMCPModelExposure(e); len(errs) > 0 {
			verdicts[key] = invalid(errs.ToAggregate())
			continue
		}
		entry := modelEntry(e)
		var lack Lack
		entry.Actions, lack = webhooks.actionEntries(e)
		entry.Reports = reportEntries(e.Spec.Actions)
		if err := entry.Validate(); err != nil { // of an object that the API server did not check
			verdicts[key] = invalid(err)
			continue
		}
		if winner, taken := byModel[e.EffectiveModel()]; taken {
			verdicts[key] = conflicted(fmt.Sprintf("model %q belongs to MCPModelExposure %q, which is older; give this one another name", e.EffectiveModel(), winner))
			continue
		}
		if winner, taken := byTable[e.Spec.Table]; taken {
			verdicts[key] = conflicted(fmt.Sprintf("table %q belongs to MCPModelExposure %q, which is older; delete one of the two", e.Spec.Table.String(), winner))
			continue
		}
		if most > 0 && len(models) >= most {
			verdicts[key] = Verdict{
				Reason:  v1alpha1.ReasonConfigTooLarge,
				Message: fmt.Sprintf("the %d older models of the endpoint take all the room that a Config has; serve this one from another MCPEndpoint", most),
			}
			continue
		}
		if waits := held(endpoint, "MCPModelExposure", e, wasServed(e)); waits != nil {
			verdicts[key] = *waits
			continue
		}
		byModel[e.EffectiveModel()] = e.Name
		byTable[e.Spec.Table] = e.Name
		verdict := accepted()
		verdict.Lack = lack
		if verdict.Lack == (Lack{}) {
			verdict.Lack = missingGroup(endpoint, e)
		}
		verdicts[key] = verdict
		models = append(models, entry)
	}
	slices.SortFunc(models, func(a, b contract.Model) int { return cmp.Compare(a.Name, b.Name) })
	return models, withheldTables(exposures, byTable)
}

// withheldTables are the tables whose exposures are all refused.
func withheldTables(exposures []*v1alpha1.MCPModelExposure, accepted map[v1alpha1.TableReference]string) []contract.TableName {
	var tables []contract.TableName
	for _, e := range exposures {
		table := e.Spec.Table
		if _, ok := accepted[table]; !ok && table.Name != "" {
			tables = append(tables, contract.TableName{Schema: table.Schema, Name: table.Name})
		}
	}
	slices.SortFunc(tables, func(a, b contract.TableName) int {
		return cmp.Or(cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(tables)
}

// missingGroup is the message about a row policy for a group that the endpoint does not have. Such a policy matches nobody,
// so that the model may be served meanwhile.
func missingGroup(endpoint *v1alpha1.MCPEndpoint, e *v1alpha1.MCPModelExposure) Lack {
	for _, p := range e.Spec.RowPolicies {
		for _, group := range p.Groups {
			if !slices.Contains(groupNames(endpoint), group) {
				return Lack{
					Reason:  v1alpha1.ReasonGroupNotFound,
					Message: fmt.Sprintf("row policy %q is for group %q, which MCPEndpoint %s does not have", p.Name, group, endpoint.Name),
				}
			}
		}
	}
	return Lack{}
}

// modelEntry is the entry of an exposure, but for its actions.
func modelEntry(e *v1alpha1.MCPModelExposure) contract.Model {
	spec := &e.Spec
	entry := contract.Model{
		Exposure:          e.Name,
		UID:               string(e.UID),
		Created:           e.CreationTimestamp.UTC(),
		Name:              e.EffectiveModel(),
		Module:            spec.Module,
		Schema:            spec.Table.Schema,
		Table:             spec.Table.Name,
		Expose:            spec.EffectiveExpose(),
		Pinned:            spec.EffectivePinned(),
		VerboseName:       e.EffectiveVerboseName(),
		VerboseNamePlural: e.EffectiveVerboseNamePlural(),
		Description:       spec.Description,
		Synonyms:          slices.Clone(spec.Synonyms),
		Key:               slices.Clone(spec.Key),
		Include:           slices.Clone(spec.Fields.Include),
		Exclude:           slices.Clone(spec.Fields.Exclude),
		ReadOnly:          slices.Clone(spec.Fields.ReadOnly),
		DisplayField:      spec.DisplayField,
		SearchFields:      slices.Clone(spec.SearchFields),
		Ordering:          slices.Clone(spec.Ordering),
		ListDisplay:       slices.Clone(spec.ListDisplay),
		DatabaseMessages:  spec.DatabaseMessages == v1alpha1.DatabaseMessagesShown,
		VersionField:      spec.VersionField,
		SearchMode:        searchMode(spec.SearchMode),
		TotalCount:        string(spec.EffectiveTotalCount()),
		DefaultPageSize:   int(spec.Limits.EffectiveDefaultPageSize()),
		MaxPageSize:       int(spec.Limits.EffectiveMaxPageSize()),
		MaxBulkItems:      int(spec.Limits.EffectiveMaxBulkItems()),
		MinGroupSize:      int(spec.Aggregate.MinGroupSize),
		ReadsReplica:      spec.Reads == v1alpha1.ReadsFromReplica,
	}
	for _, m := range spec.Fields.Masked {
		entry.Masked = append(entry.Masked, contract.MaskedField{Name: m.Name, KeepLast: int(m.KeepLast)})
	}
	for _, o := range spec.Fields.Overrides {
		entry.Overrides = append(entry.Overrides, contract.FieldOverride{
			Name: o.Name, Description: o.Description, Synonyms: slices.Clone(o.Synonyms), Type: string(o.Type), Reads: string(o.Reads), Examples: o.Examples == v1alpha1.ExamplesShown,
			Choices: choiceEntries(o.Choices), Relation: o.Relation, Rename: o.Rename,
		})
	}
	for _, r := range spec.Relations {
		entry.Relations = append(entry.Relations, contract.Relation{
			Name: r.Name, Columns: slices.Clone(r.Columns), Model: r.Model, References: slices.Clone(r.References), ReverseName: r.ReverseName,
		})
	}
	for _, m := range spec.Measures {
		entry.Measures = append(entry.Measures, contract.Declared{Name: m.Name, Description: m.Description, Synonyms: slices.Clone(m.Synonyms), Means: meaning(m.Measure)})
	}
	for _, s := range spec.Segments {
		entry.Segments = append(entry.Segments, contract.Declared{Name: s.Name, Description: s.Description, Synonyms: slices.Clone(s.Synonyms), Means: meaning(s.Filters)})
	}
	for _, q := range spec.Questions {
		entry.Questions = append(entry.Questions, contract.Question{Ask: q.Ask, Tool: string(q.Call.Tool), Arguments: meaning(q.Call.Arguments)})
	}
	for _, i := range spec.Inlines {
		entry.Inlines = append(entry.Inlines, contract.Inline{Model: i.Model, ForeignKey: i.ForeignKey, Max: int(i.EffectiveMax())})
	}
	for _, o := range spec.Operations {
		entry.Operations = append(entry.Operations, string(o))
	}
	for _, p := range spec.RowPolicies {
		entry.RowPolicies = append(entry.RowPolicies, contract.RowPolicy{
			Name:     p.Name,
			Groups:   slices.Clone(p.Groups),
			Everyone: p.AppliesTo == v1alpha1.AppliesToEveryone,
			AllRows:  p.AllRows != nil && *p.AllRows,
			Filters:  rowFilterEntries(p.Filters),
		})
	}
	return entry
}

// meaning is a JSON object without the spaces that an exposure may have in it, so that equal objects make equal entries.
func meaning(of runtime.RawExtension) json.RawMessage {
	if of.Raw == nil {
		return nil
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, of.Raw); err != nil {
		return of.Raw // contract's Validate says so
	}
	return compact.Bytes()
}

func choiceEntries(choices []v1alpha1.Choice) []contract.Choice {
	var entries []contract.Choice
	for _, c := range choices {
		entries = append(entries, contract.Choice{Value: c.Value, Label: c.Label})
	}
	return entries
}

func rowFilterEntries(filters []v1alpha1.RowFilter) []contract.Filter {
	var entries []contract.Filter
	for _, f := range filters {
		if len(f.Any) > 0 {
			entries = append(entries, contract.Filter{Any: filterEntries(f.Any)})
		} else {
			entries = append(entries, filterEntry(f.Plain()))
		}
	}
	return entries
}

func filterEntries(filters []v1alpha1.FieldFilter) []contract.Filter {
	var entries []contract.Filter
	for _, f := range filters {
		entries = append(entries, filterEntry(f))
	}
	return entries
}

func filterEntry(f v1alpha1.FieldFilter) contract.Filter {
	return contract.Filter{
		Field: f.Field, Lookup: string(f.EffectiveLookup()), Value: textOf(f.Value),
		Values: slices.Clone(f.Values), TokenAttribute: f.TokenAttribute,
	}
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// searchMode is the entry of a search mode; "" is Auto.
func searchMode(mode v1alpha1.SearchMode) string {
	if mode == v1alpha1.SearchContains {
		return contract.SearchContains
	}
	return ""
}
