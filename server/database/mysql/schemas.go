package mysql

import (
	"context"
	"slices"
	"strings"
)

// readMissingSchemas finds the schemas of the settings that do not exist, or that the user may not see. Some servers
// compare names without regard to case.
func (i *introspection) readMissingSchemas(ctx context.Context, wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	var seen []string
	if err := i.conn.texts(ctx, "SELECT schema_name FROM information_schema.schemata", nil, func(v []string) { seen = append(seen, v[0]) }); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(wanted), func(name string) bool {
		return slices.ContainsFunc(seen, func(s string) bool { return strings.EqualFold(s, name) })
	}), nil
}
