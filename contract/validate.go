package contract

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

var modelName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// maxProblems is how many problems of one Config are told.
const maxProblems = 10

// problems gathers the first of what is wrong with a Config.
type problems []error

func (p *problems) fail(format string, args ...any) {
	if len(*p) < maxProblems {
		*p = append(*p, fmt.Errorf(format, args...))
	}
}

// understood are the names in Requires that this reader understands: what was added to the form since its first release.
var understood = []string{}

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
// a Config; a server refuses it and keeps the last good one.
func (c *Config) Validate() error {
	var errs problems
	fail := errs.fail
	if c.Version != Version {
		return fmt.Errorf("version: the Config is of version %d, this reader of version %d", c.Version, Version)
	}
	if missing := Missing(c.Requires); len(missing) > 0 {
		return fmt.Errorf("requires: this reader does not understand %q", missing)
	}
	if !c.Layout.valid() {
		fail("layout: %d parts after %d make no sense", c.Layout.Parts, c.Layout.Before)
	}
	if c.Revision < 1 {
		fail("revision: must be at least 1, is %d", c.Revision)
	}
	if c.Endpoint.StatusKey == "" {
		fail("endpoint.statusKey: is missing")
	}
	if key, err := base64.StdEncoding.DecodeString(c.Endpoint.SealKey); err != nil || len(key) != 32 {
		fail("endpoint.sealKey: must be 32 bytes in base64")
	}
	if c.Endpoint.Database.MaxConnections < 1 {
		fail("endpoint.database.maxConnections: must be at least 1, is %d", c.Endpoint.Database.MaxConnections)
	}
	if !slices.Contains([]string{"", EnginePostgreSQL, EngineMySQL, EngineSQLite}, c.Endpoint.Database.Engine) {
		fail("endpoint.database.engine: %q is not supported", c.Endpoint.Database.Engine)
	}
	if l := c.Endpoint.Limits; l.MaxBodyBytes < 1 || l.MaxConcurrentRequests < 1 || l.MaxResultBytes < 1 || l.RequestsPerSecondPerToken < 0 {
		fail("endpoint.limits: must be positive")
	}
	if l := c.Endpoint.Catalogue; l.MaxTools < 0 || !slices.Contains([]string{"", StylePerModel, StyleGeneric, StyleAuto}, l.Style) {
		fail("endpoint.catalogue: style %q with %d tools makes no sense", l.Style, l.MaxTools)
	}
	if c.Endpoint.Audit != nil && c.Endpoint.Audit.Name == "" {
		fail("endpoint.audit.name: is missing")
	}
	if c.Endpoint.Idempotency != nil && c.Endpoint.Idempotency.Name == "" {
		fail("endpoint.idempotency.name: is missing")
	}
	for i, s := range c.Endpoint.Database.SessionSettings {
		if s.Name == "" || !slices.Contains([]string{SessionToken, SessionGroups, SessionAttribute}, s.Source) {
			fail("endpoint.database.sessionSettings[%d]: %q with the source %q makes no sense", i, s.Name, s.Source)
		}
	}
	validateAuthentication(&errs, &c.Endpoint.Authentication)
	names := map[string]bool{}
	for i, m := range c.Models {
		switch {
		case !modelName.MatchString(m.Name):
			fail("models[%d].name: %q is no model name", i, m.Name)
		case names[m.Name]:
			fail("models[%d].name: %q stands twice", i, m.Name)
		case m.Table == "":
			fail("models[%d].table: is missing", i)
		case m.DefaultPageSize < 1 || m.MaxPageSize < m.DefaultPageSize:
			fail("models[%d]: page sizes %d and %d make no sense", i, m.DefaultPageSize, m.MaxPageSize)
		case m.MaxBulkItems < 1:
			fail("models[%d].maxBulkItems: must be at least 1, is %d", i, m.MaxBulkItems)
		}
		names[m.Name] = true
		if !slices.Contains([]string{"", TotalAuto, TotalExact, TotalCapped}, m.TotalCount) {
			fail("models[%d].totalCount: %q is none of %s, %s and %s", i, m.TotalCount, TotalAuto, TotalExact, TotalCapped)
		}
		actions := map[string]bool{}
		for j, a := range m.Actions {
			switch {
			case !modelName.MatchString(a.Name):
				fail("models[%d].actions[%d].name: %q is no action's name", i, j, a.Name)
			case actions[a.Name]:
				fail("models[%d].actions[%d].name: %q stands twice", i, j, a.Name)
			case a.kinds() != 1:
				fail("models[%d].actions[%d]: must be one of update, sql and webhook, is %d of them", i, j, a.kinds())
			}
			actions[a.Name] = true
		}
		for j, r := range m.Reports {
			switch {
			case !modelName.MatchString(r.Name):
				fail("models[%d].reports[%d].name: %q is no report's name", i, j, r.Name)
			case actions[r.Name]:
				fail("models[%d].reports[%d].name: %q stands twice", i, j, r.Name)
			}
			actions[r.Name] = true
		}
		for j, p := range m.RowPolicies {
			if p.AllRows == (len(p.Filters) > 0) {
				fail("models[%d].rowPolicies[%d]: must have either allRows or filters", i, j)
			}
			if slices.ContainsFunc(p.Filters, func(f Filter) bool { return (f.Field == "") == (len(f.Any) == 0) }) {
				fail("models[%d].rowPolicies[%d]: each filter must have either a field or any", i, j)
			}
		}
	}
	for i, g := range c.Groups {
		if g.Name == "" {
			fail("groups[%d].name: is missing", i)
		}
		validateRules(&errs, fmt.Sprintf("groups[%d]", i), g.Rules)
	}
	validateTokens(&errs, c.Tokens)
	return errors.Join(errs...)
}

// validate says what in a token part no server could work with.
func (t *TokenPart) validate() error {
	if t.Version != Version {
		return fmt.Errorf("version: the tokens are of version %d, this reader of version %d", t.Version, Version)
	}
	var errs problems
	if t.Revision < 1 {
		errs.fail("revision: must be at least 1, is %d", t.Revision)
	}
	validateTokens(&errs, t.Tokens)
	return errors.Join(errs...)
}

func validateTokens(errs *problems, tokens []Token) {
	hashes, identities := map[string]bool{}, map[string]bool{}
	for i, t := range tokens {
		for _, h := range t.Hashes {
			if raw, err := hex.DecodeString(h); err != nil || len(raw) != 32 {
				errs.fail("tokens[%d].hashes: not the hex form of a SHA-256 sum", i)
			} else if hashes[h] {
				errs.fail("tokens[%d].hashes: the hash stands twice", i)
			}
			hashes[h] = true
		}
		if t.Identity != nil {
			validateIdentity(errs, i, &t, identities)
		}
		validateRules(errs, fmt.Sprintf("tokens[%d]", i), t.Rules)
	}
}

// validateIdentity says what is wrong with the identity of tokens[i]; known are the keys of those before.
func validateIdentity(errs *problems, i int, t *Token, known map[string]bool) {
	if problem := t.Identity.problem(); problem != "" {
		errs.fail("tokens[%d].identity: %s", i, problem)
		return
	}
	key := t.Identity.Key()
	if len(t.Hashes) > 0 {
		errs.fail("tokens[%d].identity: must not be given beside hashes", i)
	}
	if known[key] {
		errs.fail("tokens[%d].identity: another token is for the same callers", i)
	}
	known[key] = true
}

func validateRules(errs *problems, of string, rules []Rule) {
	for i, r := range rules {
		if len(r.Models) == 0 {
			errs.fail("%s.rules[%d].models: is missing", of, i)
		}
	}
}

// kinds is how many kinds of action a is: one, if it is valid.
func (a *Action) kinds() int {
	n := 0
	for _, is := range []bool{a.Update != nil, a.SQL != nil, a.Webhook != nil} {
		if is {
			n++
		}
	}
	return n
}
