package server

import (
	"reflect"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A Config may name a table, or a column, that was made since the schema was read: a migration and its exposure often come
// together. So what does not fit is called wrong only once the schema was read after the Config came. Until then the status
// says that it is waited for, and the schema is read again.

// misfits are the models that did not fit the schema though it was read after they were declared so, by the UIDs of their
// exposures.
type misfits map[string]contract.Model

// has reports whether a model with its present declaration is among them.
func (known misfits) has(m *contract.Model) bool {
	declared, ok := known[m.UID+m.Exposure]
	return ok && reflect.DeepEqual(declared, *m)
}

// dependsOnSchema reports whether a model is withheld for what another schema could have.
func dependsOnSchema(m *contract.ModelStatus) bool {
	return !m.Served() && m.Known() && m.Reason != contract.ReasonNotUnderstood
}

// judgeModels makes the models' statuses of what the snapshot found. The caller holds the lock.
func (c *core) judgeModels() {
	c.models, c.unread = nil, false
	s := c.snapshot.Load()
	if s == nil {
		return
	}
	c.models = s.Models()
	declared := s.Config().Models
	for i := range declared {
		if !dependsOnSchema(&c.models[i]) || c.misfits.has(&declared[i]) {
			continue
		}
		if !c.unread {
			c.models, c.unread = slices.Clone(c.models), true // the snapshot's stay as they are
		}
		m := &c.models[i]
		m.Reason, m.Message = contract.ReasonWaitingForReport, m.Message+"; the schema was read before this was asked for, and is read again"
	}
}

// schemaReadFor notes that the schema was read while a Config was known already: what does not fit is a misfit, if it is still
// declared as it was there. The caller holds the lock.
func (c *core) schemaReadFor(config *contract.Config) {
	s := c.snapshot.Load()
	if s == nil || config == nil {
		return
	}
	before := make(misfits, len(config.Models))
	for _, m := range config.Models {
		before[m.UID+m.Exposure] = m
	}
	c.misfits = misfits{}
	found := s.Models()
	for i, m := range s.Config().Models {
		if dependsOnSchema(&found[i]) && before.has(&m) {
			c.misfits[m.UID+m.Exposure] = m
		}
	}
	c.judgeModels()
}

// lacks reports whether something that the Config names is not in the schema: it may come soon.
func (c *core) lacks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.misfits) > 0 || c.schema != nil && len(c.schema.MissingSchemas) > 0
}
