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

// Validate says what in the Config no server could work with: the first ten problems. The compile step never writes such
// a Config; a server refuses it and keeps the last good one.
func (c *Config) Validate() error {
	var errs []error
	fail := func(format string, args ...any) {
		if len(errs) < maxProblems {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if c.MinReader > Version {
		return fmt.Errorf("minReader: the Config needs a reader of version %d, this one is of version %d", c.MinReader, Version)
	}
	if c.Version < 1 {
		fail("version: must be at least 1, is %d", c.Version)
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
		for j, p := range m.RowPolicies {
			if p.AllRows == (len(p.Filters) > 0) {
				fail("models[%d].rowPolicies[%d]: must have either allRows or filters", i, j)
			}
			if slices.ContainsFunc(p.Filters, func(f Filter) bool { return (f.Field == "") == (len(f.Any) == 0) }) {
				fail("models[%d].rowPolicies[%d]: each filter must have either a field or any", i, j)
			}
		}
	}
	hashes := map[string]bool{}
	for i, t := range c.Tokens {
		for _, h := range t.Hashes {
			if raw, err := hex.DecodeString(h); err != nil || len(raw) != 32 {
				fail("tokens[%d].hashes: not the hex form of a SHA-256 sum", i)
			} else if hashes[h] {
				fail("tokens[%d].hashes: the hash stands twice", i)
			}
			hashes[h] = true
		}
		for j, r := range t.Rules {
			if len(r.Models) == 0 {
				fail("tokens[%d].rules[%d].models: is missing", i, j)
			}
		}
	}
	return errors.Join(errs...)
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
