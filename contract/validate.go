package contract

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// identifier is the name of a model, an action or a report.
var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// maxProblems is the most problems of one Config that are reported.
const maxProblems = 10

// problems gathers the first of what is wrong with a Config.
type problems []error

// fault is an error about a field, "" for the whole entry, that no server could work with.
type fault func(field, format string, args ...any)

// at puts a path before the fields.
func (f fault) at(path string) fault {
	return func(field, format string, args ...any) {
		switch {
		case field == "":
			field = path
		case !strings.HasPrefix(field, "["):
			field = path + "." + field
		default:
			field = path + field
		}
		f(field, format, args...)
	}
}

// collect gathers the faults of one entry.
func collect(check func(fault)) error {
	var errs problems
	check(func(field, format string, args ...any) { errs.tell(field, format, args) })
	return errors.Join(errs...)
}

func (p *problems) tell(field, format string, args []any) {
	if len(*p) == maxProblems {
		return // to write it costs more than to find it
	}
	if field != "" {
		field += ": "
	}
	*p = append(*p, fmt.Errorf(strings.ReplaceAll(field, "%", "%%")+format, args...))
}

// understood are the names in Requires that this reader understands: what was added to the form since its first release.
var understood = []string{RequiresApprovals}

// Missing are the names among the required ones that this reader does not understand.
func Missing(required []string) []string {
	var missing []string
	for _, name := range required {
		if !slices.Contains(understood, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// Validate says what in the Config no server could work with: the first ten problems. The compile step never writes such
// a Config: it asks each entry before (Endpoint.Validate and so on). A server refuses it and keeps the last good one.
func (c *Config) Validate() error {
	if c.Version != Version {
		return fmt.Errorf("version: the Config is of version %d, this reader of version %d", c.Version, Version)
	}
	if missing := Missing(c.Requires); len(missing) > 0 {
		return fmt.Errorf("requires: this reader does not understand %q", missing)
	}
	return collect(c.check)
}

func (c *Config) check(fail fault) {
	if !c.Layout.valid() {
		fail("layout", "%d parts after %d make no sense", c.Layout.Parts, c.Layout.Before)
	}
	if c.Revision < 1 {
		fail("revision", "must be at least 1, is %d", c.Revision)
	}
	if c.Endpoint.StatusKey == "" {
		fail("endpoint.statusKey", "is missing")
	}
	if key, err := base64.StdEncoding.DecodeString(c.Endpoint.SealKey); err != nil || len(key) != 32 {
		fail("endpoint.sealKey", "must be 32 bytes in base64")
	}
	c.Endpoint.check(fail.at("endpoint"))
	names, i := map[string]bool{}, 0
	model := func(field, format string, args ...any) { fail.at(fmt.Sprintf("models[%d]", i))(field, format, args...) }
	for i = range c.Models {
		m := &c.Models[i]
		if names[m.Name] {
			model("name", "%q stands twice", m.Name)
		}
		names[m.Name] = true
		m.check(model)
	}
	group := func(field, format string, args ...any) { fail.at(fmt.Sprintf("groups[%d]", i))(field, format, args...) }
	for i = range c.Groups {
		c.Groups[i].check(group)
	}
	checkTokens(c.Tokens, fail)
}

// Validate says what in the settings no server could work with, whatever its keys.
func (e *Endpoint) Validate() error { return collect(e.check) }

func (e *Endpoint) check(fail fault) {
	if l := e.Limits; l.MaxBodyBytes < 1 || l.MaxConcurrentRequests < 1 || l.MaxResultBytes < 1 || l.MaxExportRows < 0 || l.RequestsPerSecondPerToken < 0 {
		fail("limits", "must be positive")
	}
	if l := e.Catalogue; l.MaxTools < 0 || !slices.Contains([]string{"", StylePerModel, StyleGeneric, StyleAuto}, l.Style) {
		fail("catalogue", "style %q with %d tools makes no sense", l.Style, l.MaxTools)
	}
	if e.Audit != nil && e.Audit.Name == "" {
		fail("audit.name", "is missing")
	}
	if e.Idempotency != nil && e.Idempotency.Name == "" {
		fail("idempotency.name", "is missing")
	}
	if e.AuditLines.OTLP != nil {
		e.AuditLines.OTLP.check(fail.at("auditLines.otlp"))
	}
	if e.Tracing != nil {
		e.Tracing.check(fail.at("tracing"))
	}
	e.Database.check(fail.at("database"))
	e.Authentication.check(fail.at("authentication"))
	names := map[string]bool{}
	for i := range e.Approvals {
		p, at := &e.Approvals[i], fmt.Sprintf("approvals[%d]", i)
		p.check(fail.at(at))
		if names[p.Name] {
			fail(at+".name", "%q stands twice", p.Name)
		}
		names[p.Name] = true
	}
	if len(e.Approvals) > 0 && e.Idempotency == nil {
		fail("approvals", "need a table of idempotency keys, so that what is allowed happens once")
	}
}

func (d *Database) check(fail fault) {
	if d.MaxConnections < 1 {
		fail("maxConnections", "must be at least 1, is %d", d.MaxConnections)
	}
	if !slices.Contains([]string{"", EnginePostgreSQL, EngineMySQL, EngineSQLite, EngineDuckDB}, d.Engine) {
		fail("engine", "%q is not supported", d.Engine)
	}
	if d.StatementTimeout < 0 {
		fail("statementTimeout", "must be positive")
	}
	if r := d.Replicas; r != nil && (r.MaxConnections < 1 || r.MaxStaleness <= 0) {
		fail("replicas", "%d connections and a staleness of %s make no sense", r.MaxConnections, time.Duration(r.MaxStaleness))
	}
	for i, s := range d.SessionSettings {
		if s.Name == "" || !slices.Contains([]string{SessionToken, SessionGroups, SessionAttribute}, s.Source) || (s.Attribute == "") == (s.Source == SessionAttribute) {
			fail(fmt.Sprintf("sessionSettings[%d]", i), "%q with the source %q and the attribute %q makes no sense", s.Name, s.Source, s.Attribute)
		}
	}
}

// Validate says what in the group no server could work with.
func (g *Group) Validate() error { return collect(g.check) }

func (g *Group) check(fail fault) {
	if g.Name == "" {
		fail("name", "is missing")
	}
	checkRules(g.Rules, fail)
}

// verbs are the verbs that a rule may name.
var verbs = []string{VerbView, VerbAdd, VerbChange, VerbDelete, VerbExport, Wildcard}

func checkRules(rules []Rule, fail fault) {
	for i := range rules {
		if len(rules[i].Models) == 0 {
			fail(fmt.Sprintf("rules[%d].models", i), "is missing")
		}
		for _, verb := range rules[i].Verbs {
			if !slices.Contains(verbs, verb) {
				fail(fmt.Sprintf("rules[%d].verbs", i), "%q is no verb", verb)
			}
		}
	}
}

// validate says what in a token part no server could work with.
func (t *TokenPart) validate() error {
	if t.Version != Version {
		return fmt.Errorf("version: the tokens are of version %d, this reader of version %d", t.Version, Version)
	}
	return collect(func(fail fault) {
		if t.Revision < 1 {
			fail("revision", "must be at least 1, is %d", t.Revision)
		}
		checkTokens(t.Tokens, fail)
		for i := range t.Decisions {
			t.Decisions[i].check(fail.at(fmt.Sprintf("decisions[%d]", i)))
		}
	})
}

// checkTokens checks each token, and that no two are for the same callers.
func checkTokens(tokens []Token, fail fault) {
	i, seen := 0, map[string]bool{}
	token := func(field, format string, args ...any) { fail.at(fmt.Sprintf("tokens[%d]", i))(field, format, args...) }
	for i = range tokens {
		t := &tokens[i]
		t.check(token)
		for _, h := range t.Hashes {
			if seen[h] {
				token("hashes", "the hash stands twice")
			}
			seen[h] = true
		}
		if t.Identity != nil && t.Identity.problem() == "" {
			key := t.Identity.Key()
			if seen[key] {
				token("identity", "another token is for the same callers")
			}
			seen[key] = true
		}
	}
}

// Validate says what in the token's entry no server could work with.
func (t *Token) Validate() error { return collect(t.check) }

func (t *Token) check(fail fault) {
	for _, h := range t.Hashes {
		if raw, err := hex.DecodeString(h); err != nil || len(raw) != 32 {
			fail("hashes", "not the hex form of a SHA-256 sum")
		}
	}
	if t.Identity != nil {
		if problem := t.Identity.problem(); problem != "" {
			fail("identity", "%s", problem)
		} else if len(t.Hashes) > 0 {
			fail("identity", "must not be given beside hashes")
		}
	}
	checkRules(t.Rules, fail)
}
