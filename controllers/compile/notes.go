package compile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

// maxNotes is the most notes about one object, and maxHints how many of them look for the nearest name: a Config is
// compiled often, and may have thousands of tokens.
const maxNotes, maxHints = 20, 3

// registry holds what the rules of an endpoint may name.
type registry struct {
	models map[string]*contract.Model
	names  []string
	// actions are the names of the actions and reports of all models, without doubles.
	actions []string
	// guarded are the models with row policies.
	guarded []*contract.Model
}

func newRegistry(c *contract.Config) registry {
	r := registry{models: make(map[string]*contract.Model, len(c.Models)), actions: []string{contract.DeleteSelected}}
	for i := range c.Models {
		m := &c.Models[i]
		r.models[m.Name], r.names = m, append(r.names, m.Name)
		if len(m.RowPolicies) > 0 {
			r.guarded = append(r.guarded, m)
		}
		for _, a := range m.Actions {
			r.addAction(a.Name)
		}
		for _, report := range m.Reports {
			r.addAction(report.Name)
		}
	}
	return r
}

func (r *registry) addAction(name string) {
	if !slices.Contains(r.actions, name) {
		r.actions = append(r.actions, name)
	}
}

// rightsClass describes all tokens with the same groups, the same rules of their own, and attributes of the same names.
type rightsClass struct {
	// notes are about what a token says itself, shared about what its groups make of it: the endpoint's status has these, as
	// thousands of tokens' would.
	notes, shared []string
	// tools is how many tools tools/list has at most for such a token; 0 if it cannot be more than common clients take.
	tools int
	// rights are nil until somebody asks.
	rights *Rights
}

// rightsClasses remembers the classes of one main part.
type rightsClasses struct {
	byKey map[string]*rightsClass
	// lists counts the tools of tokens' lists.
	lists *listCounter
}

// forget drops what was said under another main part.
func (r *rightsClasses) forget() { *r = rightsClasses{} }

// of is the class of a token that is in force.
func (r *rightsClasses) of(known registry, main *contract.Config, t *v1alpha1.MCPToken, entry *contract.Token) *rightsClass {
	if r.byKey == nil {
		r.byKey, r.lists = map[string]*rightsClass{}, newListCounter(main)
	}
	entry = atMost(entry)
	key := strings.Join(entry.Groups, ",") + " " + strings.Join(slices.Sorted(maps.Keys(entry.Attributes)), ",") + " "
	if len(entry.Rules) > 0 {
		rules, _ := json.Marshal(entry.Rules) // strings only: it cannot fail
		key += string(rules)
	}
	class := r.byKey[key]
	if class == nil {
		full := *entry
		full.Rules = main.RulesOf(entry)
		class = &rightsClass{tools: r.lists.long(&full)}
		class.notes, class.shared = known.tokenNotes(t, &full)
		r.byKey[key] = class
	}
	return class
}

// noteEndpoint writes into the endpoint's verdict which rights reach nothing. Nothing of it is wrong enough to withhold
// something: the endpoint stays Ready.
func (c *Compiler) noteEndpoint(e *v1alpha1.MCPEndpoint) {
	notes := c.registry.endpointNotes(e)
	long, shared := false, false
	for _, class := range c.rights.byKey {
		long, shared = long || class.tools > mostTools, shared || len(class.shared) > 0
	}
	if shared {
		notes = append(notes, c.sharedNotes()...)
		notes = notes[:min(len(notes), maxNotes)]
	}
	if long && len(notes) < maxNotes {
		notes = append(notes, c.longLists()...)
	}
	c.endpoint.Notes = c.policyNotes(notes, e)
}

// policyNotes adds the tokens in approval policies that the endpoint does not have: such a policy holds nobody's calls back.
func (c *Compiler) policyNotes(notes []string, e *v1alpha1.MCPEndpoint) []string {
	for i := range e.Spec.Approvals {
		p := &e.Spec.Approvals[i]
		for _, name := range p.Match.Tokens {
			namespace, own, elsewhere := strings.Cut(name, "/")
			if !elsewhere {
				namespace, own = e.Namespace, name
			}
			if c.tokens[types.NamespacedName{Namespace: namespace, Name: own}] != nil {
				continue
			}
			var known []string // there may be thousands, and only the first notes have a hint
			for key := range c.tokens {
				if len(notes) < maxHints && key.Namespace == namespace {
					known = append(known, strings.TrimSuffix(name, own)+key.Name)
				}
			}
			slices.Sort(known)
			notes = addMissing(notes, fmt.Sprintf("The approval policy %q names the token", p.Name), name, known)
		}
	}
	return notes
}

// sharedNotes are about the tokens of some groups, each once.
func (c *Compiler) sharedNotes() []string {
	var notes []string
	for _, class := range uniqueClasses(c.tokens) {
		notes = append(notes, class.shared...)
	}
	slices.Sort(notes)
	return slices.Compact(notes)
}

// uniqueClasses are the classes of the tokens that there are.
func uniqueClasses(tokens map[types.NamespacedName]*tokenState) []*rightsClass {
	seen := map[*rightsClass]struct{}{}
	for _, state := range tokens {
		if state.rights != nil {
			seen[state.rights] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(seen))
}

// NotAdvertised is the message about a model whose expose seems to be forgotten.
const NotAdvertised = "expose is not set, so tools/list does not show the model. Set expose: true if agents should find it."

// ForgotToExpose reports whether a model without expose looks as if it should have it: others have it, and no exposed model
// shows the model's rows as inlines.
func ForgotToExpose(config *contract.Config, m *contract.Model) bool {
	exposed := slices.ContainsFunc(config.Models, func(other contract.Model) bool { return other.Expose })
	return !m.Expose && exposed && !slices.ContainsFunc(config.Models, func(other contract.Model) bool {
		return other.Expose && slices.ContainsFunc(other.Inlines, func(i contract.Inline) bool { return i.Model == m.Name })
	})
}

func (r registry) endpointNotes(e *v1alpha1.MCPEndpoint) []string {
	var notes []string
	advertised := func(name string) bool { return r.models[name].Expose }
	if len(r.names) > 0 && !slices.ContainsFunc(r.names, advertised) {
		notes = append(notes, "No model is advertised: agents see no model's tools in tools/list. Set expose: true on the exposures that agents should find.")
	}
	notes = append(notes, clearHeaders(&e.Spec.Observability)...)
	for i := range e.Spec.Groups {
		notes = r.ruleNotes(notes, fmt.Sprintf("Group %q", e.Spec.Groups[i].Name), e.Spec.Groups[i].Permissions)
	}
	return notes[:min(len(notes), maxNotes)]
}

// clearHeaders are about headers for collectors that go over the network as they are.
func clearHeaders(o *v1alpha1.ObservabilitySpec) []string {
	var notes []string
	add := func(field string, to *v1alpha1.CollectorSpec) {
		if to != nil && to.HeadersSecretRef != nil && strings.HasPrefix(strings.ToLower(to.Endpoint), "http:") {
			notes = append(notes, fmt.Sprintf("%s: the headers of Secret %q are sent without TLS, as the endpoint is an http URL; https encrypts them.", field, to.HeadersSecretRef.Name))
		}
	}
	if o.Tracing != nil {
		add("spec.observability.tracing", &o.Tracing.CollectorSpec)
	}
	add("spec.observability.audit.otlp", o.Audit.OTLP)
	return notes
}

// tokenNotes are about what a token says itself, and about what its groups make of it and of other tokens.
func (r registry) tokenNotes(t *v1alpha1.MCPToken, entry *contract.Token) (notes, shared []string) {
	notes = r.ruleNotes(nil, "spec.permissions", t.Spec.Permissions)
	if !slices.ContainsFunc(entry.Rules, func(rule contract.Rule) bool { return len(rule.Verbs)+len(rule.Actions) > 0 }) {
		if len(entry.Groups) == 0 {
			notes = append(notes, "The token has no rights. Name groups that have permissions, or give it permissions of its own.")
		} else {
			shared = append(shared, fmt.Sprintf("Tokens that have no more than %s have no rights. Give a group permissions, or the tokens another one.", groupList(entry.Groups)))
		}
	}
	for _, m := range r.guarded {
		lacked, blind := blindness(entry, m)
		switch {
		case !blind || !views(entry, m):
		case lacked != "":
			notes = append(notes, fmt.Sprintf("The token sees no row of %q: %s.", m.Name, lacked))
		case len(entry.Groups) == 0:
			notes = append(notes, fmt.Sprintf("The token sees no row of %q: none of the model's row policies is for its groups.", m.Name))
		default:
			shared = append(shared, fmt.Sprintf("Tokens that have no more than %s see no row of %q: none of the model's row policies is for their groups.", groupList(entry.Groups), m.Name))
		}
	}
	return notes[:min(len(notes), maxNotes)], shared[:min(len(shared), maxNotes)]
}

// groupList names groups, the first of many.
func groupList(groups []string) string {
	const most = 3
	text := "the group " + strconv.Quote(groups[0])
	if len(groups) > 1 {
		named := make([]string, 0, most)
		for _, name := range groups[:min(len(groups), most)] {
			named = append(named, strconv.Quote(name))
		}
		text = "the groups " + strings.Join(named, ", ")
	}
	if more := len(groups) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// ruleNotes adds the names in rules that nothing has, up to maxNotes.
func (r registry) ruleNotes(notes []string, whose string, rules []v1alpha1.PermissionRule) []string {
	for _, rule := range rules {
		for _, name := range rule.Models {
			if name != contract.Wildcard && r.models[name] == nil {
				notes = addMissing(notes, whose+" names the model", name, r.names)
			}
		}
		for _, name := range rule.Actions {
			if name != contract.Wildcard && !slices.Contains(r.actions, name) {
				notes = addMissing(notes, whose+" names the action", name, r.actions)
			}
		}
		if len(notes) == maxNotes {
			break
		}
	}
	return notes
}

// addMissing adds the note about a name that does not exist.
func addMissing(notes []string, what, name string, existing []string) []string {
	if len(notes) == maxNotes {
		return notes
	}
	note := fmt.Sprintf("%s %q, which does not exist.", what, name)
	if len(notes) < maxHints {
		if i := spelling.Nearest(name, existing); i >= 0 {
			note += fmt.Sprintf(" The nearest is %q.", existing[i])
		}
	}
	return append(notes, note)
}

// views reports whether a rule of the token lets it view a model.
func views(t *contract.Token, m *contract.Model) bool { return verbsOn(t, m).view }

// verbs say what a token may do to a model.
type verbs struct{ view, add, change, delete, export bool }

// has reports whether the verb of that name is there.
func (v verbs) has(name string) bool {
	switch name {
	case contract.VerbView:
		return v.view
	case contract.VerbAdd:
		return v.add
	case contract.VerbChange:
		return v.change
	case contract.VerbDelete:
		return v.delete
	case contract.VerbExport:
		return v.export
	}
	return false
}

// hasAll reports whether all of the required verbs are there.
func (v verbs) hasAll(required []string) bool {
	return !slices.ContainsFunc(required, func(verb string) bool { return !v.has(verb) })
}

// verbsOn are the verbs that the token's rules give it on a model.
func verbsOn(t *contract.Token, m *contract.Model) verbs {
	var v verbs
	for _, r := range t.Rules {
		if !aboutModel(r, m) {
			continue
		}
		has := func(verb string) bool {
			return slices.Contains(r.Verbs, verb) || slices.Contains(r.Verbs, contract.Wildcard)
		}
		v.change = v.change || has(contract.VerbChange)
		v.view = v.view || v.change || has(contract.VerbView)
		v.add = v.add || has(contract.VerbAdd)
		v.delete = v.delete || has(contract.VerbDelete)
		v.export = v.export || slices.Contains(r.Verbs, contract.VerbExport) // the wildcard is no export
	}
	return v
}

// aboutModel reports whether a rule is about a model. A module that only the database tells is taken to match.
func aboutModel(r contract.Rule, m *contract.Model) bool {
	return (slices.Contains(r.Models, contract.Wildcard) || slices.Contains(r.Models, m.Name)) &&
		(len(r.Modules) == 0 || m.Module == "" || slices.Contains(r.Modules, m.Module))
}

// blindTo says why a token sees no row of a model with row policies; "" if it may see some.
func blindTo(t *contract.Token, m *contract.Model) string {
	lacked, blind := blindness(t, m)
	if blind && lacked == "" {
		return "none of the model's row policies is for its groups"
	}
	return lacked
}

// blindness reports whether a token sees no row of a model with row policies, and which policy asks for what the token lacks; ""
// if none is for its groups.
func blindness(t *contract.Token, m *contract.Model) (lacks string, blind bool) {
	for _, p := range m.RowPolicies {
		if !matches(t, p) {
			continue
		}
		lacked := lackedAttribute(t, &p)
		if p.AllRows || lacked == "" {
			return "", false
		}
		lacks = fmt.Sprintf("the row policy %q asks for the attribute %q, which the token does not have", p.Name, lacked)
	}
	return lacks, true
}

// lackedAttribute is an attribute without which a row policy shows no row, and which the token does not have; "" if it has all.
func lackedAttribute(t *contract.Token, p *contract.RowPolicy) string {
	for _, f := range p.Filters {
		if _, has := t.Attributes[f.TokenAttribute]; f.TokenAttribute != "" && !has {
			return f.TokenAttribute
		}
	}
	return ""
}

// matches reports whether a row policy is for the token.
func matches(t *contract.Token, p contract.RowPolicy) bool {
	return p.Everyone || slices.ContainsFunc(p.Groups, func(group string) bool { return slices.Contains(t.Groups, group) })
}
