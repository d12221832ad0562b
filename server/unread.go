package server

import (
	"reflect"
	"slices"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/snapshot"
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

// modelStatuses are the statuses of a snapshot's models.
type modelStatuses struct {
	all []contract.ModelStatus
	// unread reports whether one of them waits until the schema was read again.
	unread  bool
	misfits misfits
	// asked are the models whose questions were asked.
	asked askedModels
	// owned is set once all is no longer the snapshot's own.
	owned bool
}

// own returns the status of the i-th model to be changed; the snapshot's stay as they are.
func (m *modelStatuses) own(i int) *contract.ModelStatus {
	if !m.owned {
		m.all, m.owned = slices.Clone(m.all), true
	}
	return &m.all[i]
}

// dependsOnSchema reports whether a model is withheld for what another schema could have.
func dependsOnSchema(m *contract.ModelStatus) bool {
	return !m.Served() && m.Known() && m.Reason != contract.ReasonNotUnderstood
}

// judge makes the statuses of what a snapshot found; nil is none.
func (m *modelStatuses) judge(s *snapshot.Snapshot) {
	m.all, m.unread, m.owned = nil, false, false
	if s == nil {
		return
	}
	m.all = s.Models()
	declared := s.Config().Models
	m.addQuestionNotes(declared)
	for i := range declared {
		if !dependsOnSchema(&m.all[i]) || m.misfits.has(&declared[i]) {
			continue
		}
		m.unread = true
		status := m.own(i)
		status.Reason, status.Message = contract.ReasonWaitingForReport, status.Message+"; the schema was read before this was asked for, and is read again"
	}
}

// schemaReadFor notes that the schema was read while a Config was known already: what does not fit is a misfit, if it is still
// declared as it was there.
func (m *modelStatuses) schemaReadFor(config *contract.Config, s *snapshot.Snapshot) {
	if s == nil || config == nil {
		return
	}
	before := make(misfits, len(config.Models))
	for _, declared := range config.Models {
		before[declared.UID+declared.Exposure] = declared
	}
	m.misfits = misfits{}
	found := s.Models()
	for i, declared := range s.Config().Models {
		if dependsOnSchema(&found[i]) && before.has(&declared) {
			m.misfits[declared.UID+declared.Exposure] = declared
		}
	}
	m.judge(s)
}

// lacks reports whether something that the Config names is not in the schema: it may come soon.
func (c *core) lacks() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.models.misfits) > 0 || c.schema != nil && len(c.schema.MissingSchemas) > 0
}
