package postgres

import (
	"context"
	"strings"
)

// A fingerprint of the catalogue is the same only if introspection would find the same, and costs a fraction of that: it looks
// neither at definitions nor at privileges themselves. Who changes an object writes its row of a catalogue anew, and xmin is the
// transaction that did. So the rows of each catalogue that introspection depends on are counted, and hashes of their names and
// transactions are added up. What PostgreSQL changes in place, without a transaction, is in the hash by its value; fingerprintValues has
// what is no row of a catalogue.
//
// A hash more than is needed costs a look at the whole schema now and then; one that is missing would hide a change. Who reads
// something more in introspect_sql.go adds the catalogue that it comes from here, and a change of it to the test.

// A watched is a catalogue in the fingerprint.
type watched struct {
	catalogue string
	// name identifies a row. and, unless it is "", has more of the name, or values that are changed in place.
	name, and string
	// where leaves out what belongs to a session alone.
	where string
}

// Temporary objects are left out: only their own session sees them, and some applications make them all the time.
const (
	lasting  = " NOT IN (SELECT oid FROM pg_catalog.pg_class WHERE relpersistence = 't')"
	ofSchema = " NOT IN (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname ~ '^pg_(toast_)?temp_')"
)

var fingerprinted = []watched{
	// Tables and views, their kinds, owners, grants, partitions. ANALYZE may change relhassubclass.
	{"pg_class", "oid", "relhassubclass::int4::int8", "relpersistence <> 't'"},
	{"pg_inherits", "inhrelid", "inhparent::int8", "inhrelid" + lasting},
	{"pg_partitioned_table", "partrelid", "", ""},
	// Columns, and their comments and grants.
	{"pg_attribute", "attrelid", "attnum::int8", "attnum > 0 AND attrelid" + lasting},
	{"pg_description", "objoid", "objsubid::int8", "classoid = 'pg_catalog.pg_class'::regclass AND objoid" + lasting},
	// Types: domains, enums, arrays, and whether they have an equality.
	{"pg_type", "oid", "", "typnamespace" + ofSchema}, {"pg_enum", "oid", "", ""}, {"pg_collation", "oid", "", ""},
	{"pg_opclass", "oid", "", ""}, {"pg_am", "oid", "", ""}, {"pg_cast", "oid", "", ""},
	// Defaults and checks, and the functions and operators by whose names they are written.
	{"pg_attrdef", "oid", "", "adrelid" + lasting}, {"pg_proc", "oid", "", "pronamespace" + ofSchema}, {"pg_operator", "oid", "", ""},
	// Keys and other constraints. An index of expressions depends on the same columns (pg_depend) as long as it lives. Before
	// PostgreSQL 14 an index becomes valid in place.
	{"pg_constraint", "oid", "", "connamespace" + ofSchema}, {"pg_index", "indexrelid", "indisvalid::int4::int8", "indrelid" + lasting},
	// What can be written.
	{"pg_rewrite", "oid", "", "ev_class" + lasting}, {"pg_trigger", "oid", "", "tgrelid" + lasting},
	{"pg_foreign_table", "ftrelid", "", ""}, {"pg_foreign_server", "oid", "", ""}, {"pg_foreign_data_wrapper", "oid", "", ""},
	// Schemas and their grants.
	{"pg_namespace", "oid", "", "oid" + ofSchema},
}

// fingerprintValues are by their values: the server and the session, with the settings by which types and constants are written; the
// roles whose privileges the user has, which is by its own roles and those roles', by owning the database and by being a superuser;
// what the wrappers of foreign tables say, which may be anything; and whether commits wait for a standby.
const fingerprintValues = `version(), current_database(), current_user, current_schemas(false)::text,
  (SELECT string_agg(current_setting(s), ' ') FROM unnest('{search_path,quote_all_identifiers,DateStyle,IntervalStyle,TimeZone,` +
	`extra_float_digits,bytea_output,lc_monetary,standard_conforming_strings,default_text_search_config}'::text[]) s),
  CASE WHEN (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN 'all roles'
       ELSE (SELECT string_agg(oid::text, ' ' ORDER BY oid) FROM pg_catalog.pg_roles WHERE pg_has_role(oid, 'USAGE')) END,
  (SELECT string_agg(f.ftrelid || ' ' || pg_relation_is_updatable(f.ftrelid, true), ' ' ORDER BY f.ftrelid) FROM pg_catalog.pg_foreign_table f
   JOIN pg_catalog.pg_foreign_server s ON s.oid = f.ftserver JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw WHERE w.fdwhandler <> 0), ` + unawaited

// fingerprintQuery has the fingerprint as one text. The transaction is hashed with the name as seed: hashint8 joins the halves of its
// number by XOR, so that the changes of two rows could make up for each other.
var fingerprintQuery = func() string {
	var b strings.Builder
	b.WriteString("SELECT concat_ws(';', " + fingerprintValues)
	for _, w := range fingerprinted {
		seed, where := w.name+"::int8 << 32", ""
		if w.and != "" {
			seed += " | " + w.and
		}
		if w.where != "" {
			where = " WHERE " + w.where
		}
		b.WriteString(",\n  (SELECT count(*) || ' ' || coalesce(sum(hashint8extended(xmin::text::int8, " + seed + ")), 0)" +
			" FROM pg_catalog." + w.catalogue + where + ")")
	}
	b.WriteString(")")
	return b.String()
}()

// fingerprint returns the catalogue's fingerprint; "" if the database cannot tell it, as one that only speaks PostgreSQL's
// protocol.
func (d *db) fingerprint(ctx context.Context, conn *conn) (string, error) {
	var found string
	err := conn.QueryRow(ctx, fingerprintQuery).Scan(&found)
	if err != nil && answered(err) {
		return "", nil
	}
	return strings.Join(append(d.notes(), found), ";"), err
}

// Unchanged implements database.Watched.
func (d *db) Unchanged(ctx context.Context) (bool, error) {
	seen := d.seen.Load()
	if seen == nil || *seen == "" {
		return false, nil
	}
	conn, err := d.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	conn.guard(1)
	found, err := d.fingerprint(ctx, conn)
	if err != nil {
		return false, d.statementError(ctx, err)
	}
	return found == *seen, nil
}
