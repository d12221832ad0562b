package engines

import (
	"regexp"
	"slices"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/harness"
)

// Tables whose rows lie on other servers (MariaDB's Spider) are read, and not written. A case that writes through a tool is skipped as
// soon as the server says that a table offers no such tool; here are those that differ otherwise.

// noSavepoints is why nothing is written.
const noSavepoints = "the tables are read-only, as their transactions have no savepoints"

// onRemote are those cases and groups, by their names.
var onRemote = map[string]string{}

var (
	scriptTable = regexp.MustCompile(`(?is)create table (\S+) \([^;]*`)
	scriptKey   = regexp.MustCompile(`(?i)foreign key \(([^)]*)\) references (\w+)`)
)

// related are models that declare the foreign keys of a script as relations, on an engine whose tables have none. Inlines need foreign
// keys.
func related(engine harness.Engine, script string, models []contract.Model) []contract.Model {
	if !engine.Remote {
		return models
	}
	named := map[string]string{}
	for i, m := range models {
		named[m.Table], models[i].Inlines = m.Name, nil
	}
	for _, table := range scriptTable.FindAllStringSubmatch(script, -1) {
		for _, key := range scriptKey.FindAllStringSubmatch(table[0], -1) {
			for i := range models {
				columns := strings.Split(key[1], ", ")
				declared := func(r contract.Relation) bool { return slices.Equal(r.Columns, columns) }
				if to := named[key[2]]; models[i].Table == table[1] && to != "" && !slices.ContainsFunc(models[i].Relations, declared) {
					models[i].Relations = append(models[i].Relations, contract.Relation{Name: strings.TrimSuffix(columns[0], "_id"), Columns: columns, Model: to})
				}
			}
		}
	}
	return models
}
