package approval

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/catalog"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/call"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/read"
	"github.com/mcp-admin/mcp-admin-operator/server/tools/write"
)

// policy is a declared policy over a catalog.
type policy struct {
	*contract.ApprovalPolicy
	// problem is why it cannot be judged as it is written; "" if it can. It then matches everything of its operations.
	problem string
}

func newPolicy(declared *contract.ApprovalPolicy, models *catalog.Catalog, inspector access.Token) *policy {
	p := &policy{ApprovalPolicy: declared}
	if p.problem = cmp.Or(declared.Problem, p.fault(models, inspector)); p.problem != "" {
		p.widen()
	}
	return p
}

// fault says why the policy cannot be judged over these models; "" if it can.
func (p *policy) fault(models *catalog.Catalog, inspector access.Token) string {
	readable := 0
	for _, m := range models.Models() {
		if !m.Served() || len(p.Models) > 0 && !slices.Contains(p.Models, m.Name) {
			continue
		}
		problem := p.unreadable(inspector.Reach(m))
		if problem == "" {
			readable++
		} else if len(p.Models) > 0 {
			return problem
		}
	}
	if readable == 0 && p.asksRows() && len(models.Models()) > 0 {
		return "no model has the fields of when"
	}
	return ""
}

// widen makes a policy that cannot be judged match each action if it names one: the name may be what is wrong.
func (p *policy) widen() {
	isAction := func(name string) bool { return strings.HasPrefix(name, contract.ApproveActionPrefix) }
	if slices.ContainsFunc(p.Operations, isAction) {
		wide := *p.ApprovalPolicy
		wide.Operations = append(slices.DeleteFunc(slices.Clone(p.Operations), isAction), contract.ApproveAction)
		p.ApprovalPolicy = &wide
	}
}

// asksRows reports whether the policy asks of the rows that change, and not only how many they are.
func (p *policy) asksRows() bool {
	return len(p.When.Before) > 0 || len(p.When.After) > 0 || len(p.When.Changes) > 0
}

// unreadable says why what the policy asks of rows cannot be asked of a model's; "" if it can.
func (p *policy) unreadable(scope access.Scope) string {
	m := scope.Model()
	for _, name := range p.When.Changes {
		if m.Field(name) == nil {
			return "when.changes: " + m.Name + " has no field " + name
		}
	}
	for _, ask := range []struct {
		name string
		raw  []byte
	}{{"when.before", p.When.Before}, {"when.after", p.When.After}} {
		if len(ask.raw) == 0 {
			continue
		}
		if _, err := read.Conditions(scope, zeroTime, ask.name, ask.raw); err != nil {
			return m.Name + ": " + err.Error()
		}
	}
	return ""
}

// concerning are the policies that may concern a call.
func (g *Gate) concerning(c *call.Call) []*policy {
	var some []*policy
	for _, p := range g.policies {
		if p.isFor(c.Token) && p.mayConcern(c) {
			some = append(some, p)
		}
	}
	return some
}

// isFor reports whether the policy is about calls of a token.
func (p *policy) isFor(t access.Token) bool {
	if len(p.Tokens) == 0 && len(p.Groups) == 0 {
		return true
	}
	return slices.Contains(p.Tokens, t.Name()) || slices.ContainsFunc(t.Groups(), func(group string) bool { return slices.Contains(p.Groups, group) })
}

// mayConcern reports whether the policy may match a call, as far as its operation tells before it runs.
func (p *policy) mayConcern(c *call.Call) bool {
	if !c.Op.Writes() {
		return p.reads(c)
	}
	return len(p.Operations) == 0 || slices.ContainsFunc(p.Operations, func(name string) bool {
		return name != contract.ApproveReport && name != contract.ApproveExport
	})
}

// reads reports whether the policy names the report or export that a call is.
func (p *policy) reads(c *call.Call) bool {
	m := c.Scope.Model()
	if m == nil {
		return false // it has no model, and shows no rows
	}
	_, exports := c.Given.Find(call.ExportArgument)
	if (c.Op.Name != contract.ApproveReport || !slices.Contains(p.Operations, contract.ApproveReport)) &&
		(!exports || !slices.Contains(p.Operations, contract.ApproveExport)) {
		return false
	}
	return p.problem != "" || len(p.Models) == 0 || slices.ContainsFunc(p.Models, func(name string) bool { return mayShow(c, m, name) })
}

// mayShow reports whether the answer of a call that reads may have something of a model: its own, and, if it follows relations, each that
// relations lead to. Which of them, is known only when it runs.
func mayShow(c *call.Call, m *catalog.Model, name string) bool {
	seen, next := map[*catalog.Model]bool{m: true}, []*catalog.Model{m}
	for len(next) > 0 {
		m, next = next[0], next[1:]
		if m.Name == name {
			return true
		}
		if !follows(c) {
			return false
		}
		for _, r := range m.Relations {
			if !seen[r.Target] {
				seen[r.Target], next = true, append(next, r.Target)
			}
		}
	}
	return false
}

// follows reports whether the file of an export may have values of related rows: by its tool, by a path in its arguments, where an escape
// may stand for its underscores, or by a path in what the exposure declares.
func follows(c *call.Call) bool {
	_, exports := c.Given.Find(call.ExportArgument)
	declared := c.Scope.Model().Declared
	return exports && (c.Op.Name == relatedRows || bytes.Contains(c.Raw, []byte("__")) || bytes.IndexByte(c.Raw, '\\') >= 0 ||
		len(declared.Measures)+len(declared.Segments) > 0)
}

// relatedRows is the operation that shows a row's related rows.
const relatedRows = "related"

// matching are the changes that the policy's match names, by model and operation. whole is the call's own operation.
func (p *policy) matching(changes []call.Change, whole ...string) []*call.Change {
	var some []*call.Change
	for i := range changes {
		ch := &changes[i]
		named := p.problem != "" || len(p.Models) == 0 || slices.Contains(p.Models, ch.Row.Model.Name)
		if named && p.names(ch.Kind(), append(whole, ch.Operation)...) {
			some = append(some, ch)
		}
	}
	return some
}

// matchingUnnamed is how many rows of tables that are no model the policy's match takes in.
func (p *policy) matchingUnnamed(rows call.Unnamed, whole ...string) (matching int) {
	if p.problem == "" && len(p.Models) > 0 {
		return 0
	}
	if p.names(contract.ApproveUpdate, whole...) {
		matching += rows.Updated
	}
	if p.names(contract.ApproveDelete, whole...) {
		matching += rows.Deleted
	}
	return matching
}

// names reports whether the policy's operations have a kind of change, or one of the tools by which it is made.
func (p *policy) names(kind string, tools ...string) bool {
	if len(p.Operations) == 0 || slices.Contains(p.Operations, kind) {
		return true
	}
	return slices.ContainsFunc(tools, func(tool string) bool {
		switch {
		case tool == "" || tool == contract.ApproveCreate || tool == contract.ApproveUpdate || tool == contract.ApproveDelete:
			return false // as kinds of changes these are what became of the rows
		case strings.HasPrefix(tool, call.ActionPrefix) && slices.Contains(p.Operations, contract.ApproveAction),
			strings.HasPrefix(tool, write.BulkPrefix) && slices.Contains(p.Operations, contract.ApproveBulk):
			return true
		}
		return slices.Contains(p.Operations, tool)
	})
}
