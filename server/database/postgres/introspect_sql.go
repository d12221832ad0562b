package postgres

// Introspection's queries. Each takes the names of the schemas as its one value.

const databaseQuery = `SELECT current_setting('server_version'), current_database(), current_schemas(false)::text[]`

// tablesQuery asks whether updates (4), inserts (8) or deletions (16) reach a table, be it by a rule or trigger, and which
// partitioned table a partition belongs to. A foreign-data wrapper without a handler cannot be asked.
const tablesQuery = `
SELECT c.oid, n.nspname, c.relname, c.relkind::text, coalesce(obj_description(c.oid, 'pg_class'), ''),
       CASE WHEN c.relkind <> 'f' OR w.fdwhandler <> 0 THEN (pg_relation_is_updatable(c.oid, true) & 28) <> 0 ELSE false END,
       coalesce(CASE WHEN c.relispartition THEN pg_partition_root(c.oid) END, 0)::oid
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_foreign_table f ON f.ftrelid = c.oid
LEFT JOIN pg_catalog.pg_foreign_server s ON s.oid = f.ftserver
LEFT JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
WHERE n.nspname = ANY($1::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')`

// columnsQuery follows domains, which may be made of domains, down to the type that they are made of. A column that our
// user may not read is not there.
const columnsQuery = `
WITH RECURSIVE typed AS (
  SELECT a.attrelid, a.attnum, a.atttypid AS type, a.atttypmod AS modifier, a.attnotnull AS required,
         NULL::text AS fallback, 0 AS depth
  FROM pg_catalog.pg_attribute a
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY($1::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
    AND has_column_privilege(c.oid, a.attnum, 'SELECT')
UNION ALL
  SELECT t.attrelid, t.attnum, d.typbasetype, CASE WHEN d.typtypmod >= 0 THEN d.typtypmod ELSE t.modifier END,
         t.required OR d.typnotnull, coalesce(t.fallback, d.typdefault COLLATE "default"), t.depth + 1
  FROM typed t
  JOIN pg_catalog.pg_type d ON d.oid = t.type AND d.typtype = 'd'
), based AS (
  SELECT DISTINCT ON (attrelid, attnum) * FROM typed ORDER BY attrelid, attnum, depth DESC
)
SELECT b.attrelid, b.attnum, a.attname, format_type(a.atttypid, a.atttypmod), NOT b.required,
       coalesce(pg_get_expr(e.adbin, e.adrelid), b.fallback, ''), a.attidentity::text, a.attgenerated::text,
       y.typname, y.typtype::text, y.typcategory::text, b.modifier,
       coalesce(el.typname, ''), coalesce(el.typtype::text, ''),
       coalesce(NOT o.collisdeterministic, false),
       ARRAY(SELECT l.enumlabel::text FROM pg_catalog.pg_enum l WHERE l.enumtypid = y.oid ORDER BY l.enumsortorder),
       coalesce(col_description(b.attrelid, b.attnum), '')
FROM based b
JOIN pg_catalog.pg_attribute a ON a.attrelid = b.attrelid AND a.attnum = b.attnum
JOIN pg_catalog.pg_type y ON y.oid = b.type
LEFT JOIN pg_catalog.pg_type ed ON ed.oid = y.typelem AND y.typcategory = 'A'
LEFT JOIN pg_catalog.pg_type el ON el.oid = CASE WHEN ed.typtype = 'd' THEN ed.typbasetype ELSE ed.oid END
LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
LEFT JOIN pg_catalog.pg_attrdef e ON e.adrelid = b.attrelid AND e.adnum = b.attnum
ORDER BY b.attrelid, b.attnum`

// keysQuery finds primary keys and the unique indexes that hold for every row: neither partial nor on expressions.
const keysQuery = `
SELECT i.indrelid, i.indisprimary, ARRAY(SELECT k.attnum::int4 FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place)
                                         WHERE k.place <= i.indnkeyatts ORDER BY k.place)
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY($1::text[]) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
ORDER BY i.indrelid, x.relname`

// foreignKeysQuery leaves out the constraints that PostgreSQL makes for each partition of a referenced table.
const foreignKeysQuery = `
SELECT f.conname, f.conrelid, f.conkey::int4[], f.confrelid, f.confkey::int4[], f.confdeltype::text
FROM pg_catalog.pg_constraint f
JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_constraint p ON p.oid = f.conparentid
WHERE n.nspname = ANY($1::text[]) AND f.contype = 'f' AND (p.oid IS NULL OR p.conrelid <> f.conrelid)
ORDER BY f.conrelid, f.conname`

// constraintsQuery finds what violations can be about: constraints, but for those that only mark a column NOT NULL, and
// the unique indexes that are none. An index on expressions is about the columns in them.
const constraintsQuery = `
SELECT k.conrelid, k.conname, k.conkey::int4[]
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY($1::text[]) AND k.contype IN ('p', 'u', 'f', 'c', 'x') AND NOT 0 = ANY(coalesce(k.conkey, '{}'))
UNION ALL
SELECT i.indrelid, x.relname, ARRAY(
    SELECT k.attnum::int4 FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place) WHERE k.attnum > 0 AND k.place <= i.indnkeyatts
    UNION
    SELECT d.refobjsubid FROM pg_catalog.pg_depend d
    WHERE 0 = ANY(i.indkey::int2[]) AND d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid AND d.refobjsubid > 0)
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = ANY($1::text[]) AND i.indisunique AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
ORDER BY 1, 2`
