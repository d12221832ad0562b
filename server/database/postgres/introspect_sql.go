package postgres

// Introspection's queries. The first takes no argument, tablesQuery takes the names of the schemas, and the others take
// the tables that tablesQuery found.

const databaseQuery = `SELECT current_setting('server_version'), current_database(), current_schemas(false)::text[],
  EXISTS (SELECT FROM pg_catalog.pg_foreign_table), ` + unawaited

// tablesQuery finds the tables of the schemas, and tables outside of them whose foreign keys lead to a table that was
// found. It asks whether updates (4), inserts (8) or deletions (16) reach a table, also through a rule or trigger; a
// foreign-data wrapper without a handler cannot be asked. The privileges are the bits of database.Privileges; the right to
// one column is enough. A row's ctid is unique only in a table without children, and only a user who may read the whole
// table may read it. A trigger's type has the bits 1 for each row, 2 before and 4 for INSERT. What a write returns is what the
// triggers before it made of the row.
const tablesQuery = `
WITH RECURSIVE found AS (
  SELECT c.oid FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = ANY($1::text[]) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
UNION
  SELECT f.conrelid FROM pg_catalog.pg_constraint f JOIN found ON found.oid = f.confrelid WHERE f.contype = 'f'
)
SELECT c.oid, n.nspname, c.relname, c.relkind::text, coalesce(obj_description(c.oid, 'pg_class'), ''),
       CASE WHEN c.relkind <> 'f' OR w.fdwhandler <> 0 THEN (pg_relation_is_updatable(c.oid, true) & 28) <> 0 ELSE false END,
       coalesce(CASE WHEN c.relispartition THEN pg_partition_root(c.oid) END, 0)::oid,
       coalesce((SELECT p.partattrs::int2[]::int4[] FROM pg_catalog.pg_partitioned_table p WHERE p.partrelid = c.oid), '{}'),
       n.nspname <> ALL($1::text[]),
       CASE WHEN has_schema_privilege(n.oid, 'USAGE') THEN has_any_column_privilege(c.oid, 'SELECT')::int4 + has_any_column_privilege(c.oid, 'INSERT')::int4 * 2
         + has_any_column_privilege(c.oid, 'UPDATE')::int4 * 4 + has_table_privilege(c.oid, 'DELETE')::int4 * 8 ELSE 0 END,
       c.relkind = 'r' AND NOT c.relhassubclass AND has_table_privilege(c.oid, 'SELECT'),
       EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgtype & 7 = 7),
       c.relkind = 'r' AND NOT (c.relhassubclass OR c.relrowsecurity) AND NOT EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid)
         AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D' AND g.tgtype & 2 = 0),
       c.relrowsecurity
FROM found
JOIN pg_catalog.pg_class c ON c.oid = found.oid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_foreign_table f ON f.ftrelid = c.oid
LEFT JOIN pg_catalog.pg_foreign_server s ON s.oid = f.ftserver
LEFT JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw`

// columnsQuery asks what is the same for all columns of a type once for each type: a database has thousands of columns and a dozen
// types. It follows domains, which may be based on domains, down to their base type. A type has no equality if
// neither it nor the type that it is stored as has an operator class of B-trees or hash indexes: the = of boxes and
// circles compares areas. A column without privileges of its own has its table's. A default names no column, so that it is read
// without the table's, which takes long; what computes a generated column is not needed.
const columnsQuery = `
WITH RECURSIVE columns AS (
  SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attidentity, a.attgenerated, a.attcollation, a.attacl
  FROM pg_catalog.pg_attribute a
  WHERE a.attrelid = ANY($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
), typed AS (
  SELECT c.declared, c.precise, c.declared AS type, c.precise AS modifier, false AS required, NULL::text AS fallback, 0 AS depth
  FROM (SELECT DISTINCT atttypid AS declared, atttypmod AS precise FROM columns) c
UNION ALL
  SELECT t.declared, t.precise, d.typbasetype, CASE WHEN d.typtypmod >= 0 THEN d.typtypmod ELSE t.modifier END,
         t.required OR d.typnotnull, coalesce(t.fallback, d.typdefault COLLATE "default"), t.depth + 1
  FROM typed t
  JOIN pg_catalog.pg_type d ON d.oid = t.type AND d.typtype = 'd'
), indexed AS (
  SELECT o.opcintype AS type FROM pg_catalog.pg_opclass o JOIN pg_catalog.pg_am m ON m.oid = o.opcmethod
  WHERE m.amname IN ('btree', 'hash') AND o.opcdefault
), equated AS (
  SELECT type FROM indexed
UNION
  SELECT k.castsource FROM pg_catalog.pg_cast k JOIN indexed ON indexed.type = k.casttarget
  WHERE k.castmethod = 'b' AND k.castcontext = 'i'
), types AS (
  SELECT DISTINCT ON (b.declared, b.precise) b.declared, b.precise, format_type(b.declared, b.precise) AS native, b.required, b.fallback, b.modifier,
         y.typname::text AS name, y.typtype::text AS class, y.typcategory::text AS category,
         coalesce(el.typname::text, '') AS element, coalesce(el.typtype::text, '') AS element_class,
         CASE WHEN y.typtype = 'e' THEN ARRAY(SELECT l.enumlabel::text FROM pg_catalog.pg_enum l WHERE l.enumtypid = y.oid ORDER BY l.enumsortorder)
              ELSE '{}' END AS choices,
         coalesce(el.typtype, y.typtype) = 'b' AND coalesce(el.oid, y.oid) NOT IN (SELECT type FROM equated) AS incomparable
  FROM typed b
  JOIN pg_catalog.pg_type y ON y.oid = b.type
  LEFT JOIN pg_catalog.pg_type ed ON ed.oid = y.typelem AND y.typcategory = 'A'
  LEFT JOIN pg_catalog.pg_type el ON el.oid = CASE WHEN ed.typtype = 'd' THEN ed.typbasetype ELSE ed.oid END
  ORDER BY b.declared, b.precise, b.depth DESC
), granted AS (
  SELECT DISTINCT c.oid, has_schema_privilege(c.relnamespace, 'USAGE') AS usage, has_table_privilege(c.oid, 'SELECT')::int4
         + has_table_privilege(c.oid, 'INSERT')::int4 * 2 + has_table_privilege(c.oid, 'UPDATE')::int4 * 4 AS bits
  FROM pg_catalog.pg_class c WHERE c.oid = ANY($1::oid[])
)
SELECT a.attrelid, a.attnum, a.attname, t.native, NOT (a.attnotnull OR t.required),
       CASE WHEN a.attgenerated <> '' THEN 'generated' ELSE coalesce(pg_get_expr(e.adbin, 0), t.fallback, '') END, a.attidentity::text, a.attgenerated::text,
       t.name, t.class, t.category, t.modifier, t.element, t.element_class,
       coalesce(NOT o.collisdeterministic, false), t.choices, coalesce(d.description, ''), t.incomparable,
       coalesce(quote_ident(n.nspname) || '.' || quote_ident(o.collname), ''),
       CASE WHEN NOT g.usage THEN 0 WHEN a.attacl IS NULL THEN g.bits ELSE has_column_privilege(a.attrelid, a.attnum, 'SELECT')::int4
         + has_column_privilege(a.attrelid, a.attnum, 'INSERT')::int4 * 2 + has_column_privilege(a.attrelid, a.attnum, 'UPDATE')::int4 * 4 END
FROM columns a
JOIN types t ON t.declared = a.atttypid AND t.precise = a.atttypmod
JOIN granted g ON g.oid = a.attrelid
LEFT JOIN pg_catalog.pg_collation o ON o.oid = a.attcollation
LEFT JOIN pg_catalog.pg_namespace n ON n.oid = o.collnamespace
LEFT JOIN pg_catalog.pg_attrdef e ON e.adrelid = a.attrelid AND e.adnum = a.attnum
LEFT JOIN pg_catalog.pg_description d ON d.objoid = a.attrelid AND d.classoid = 'pg_catalog.pg_class'::regclass AND d.objsubid = a.attnum
ORDER BY a.attrelid, a.attnum`

// keysQuery finds primary keys and the unique indexes that hold for every row: neither partial nor on expressions.
const keysQuery = `
SELECT i.indrelid, i.indisprimary, (i.indkey::int2[]::int4[])[0:i.indnkeyatts - 1]
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
WHERE i.indrelid = ANY($1::oid[]) AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
ORDER BY i.indrelid, x.relname`

// foreignKeysQuery tells apart the constraints that a partition has from its table, and those that PostgreSQL makes for each
// partition of a referenced table.
const foreignKeysQuery = `
SELECT f.conname, f.conrelid, f.conkey::int4[], f.confrelid, f.confkey::int4[], f.confdeltype::text, f.confupdtype::text,
       p.oid IS NOT NULL AND p.conrelid <> f.conrelid, p.oid IS NOT NULL AND p.conrelid = f.conrelid
FROM pg_catalog.pg_constraint f
LEFT JOIN pg_catalog.pg_constraint p ON p.oid = f.conparentid
WHERE f.conrelid = ANY($1::oid[]) AND f.contype = 'f'
ORDER BY f.conrelid, f.conname`

// constraintsQuery finds what violations can be about: constraints, except the ones that only mark a column NOT NULL, and
// unique indexes without a constraint. An index on expressions is about the columns in them.
const constraintsQuery = `
SELECT k.conrelid, k.conname, k.conkey::int4[]
FROM pg_catalog.pg_constraint k
WHERE k.conrelid = ANY($1::oid[]) AND k.contype IN ('p', 'u', 'f', 'c', 'x') AND NOT 0 = ANY(coalesce(k.conkey, '{}'))
UNION ALL
SELECT i.indrelid, x.relname, ARRAY(
    SELECT k.attnum::int4 FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attnum, place) WHERE k.attnum > 0 AND k.place <= i.indnkeyatts
    UNION
    SELECT d.refobjsubid FROM pg_catalog.pg_depend d
    WHERE 0 = ANY(i.indkey::int2[]) AND d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid
      AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid AND d.refobjsubid > 0)
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
WHERE i.indrelid = ANY($1::oid[]) AND i.indisunique AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u', 'x'))
ORDER BY 1, 2`

// checksQuery finds the checks of single columns: the tables' own, and the checks of the domains that a column's type is
// based on. Older rows need not meet a check that is not validated.
const checksQuery = `
WITH RECURSIVE part AS (
  SELECT d.oid AS domain, d.oid AS part FROM pg_catalog.pg_type d WHERE d.typtype = 'd'
UNION ALL
  SELECT p.domain, d.typbasetype FROM part p JOIN pg_catalog.pg_type d ON d.oid = p.part AND d.typtype = 'd'
)
SELECT k.conrelid, k.conname, k.conkey[1]::int4, pg_get_expr(k.conbin, k.conrelid)
FROM pg_catalog.pg_constraint k
WHERE k.conrelid = ANY($1::oid[]) AND k.contype = 'c' AND cardinality(k.conkey) = 1 AND k.convalidated
UNION ALL
SELECT a.attrelid, k.conname, a.attnum::int4, pg_get_expr(k.conbin, 0)
FROM pg_catalog.pg_attribute a
JOIN part p ON p.domain = a.atttypid
JOIN pg_catalog.pg_constraint k ON k.contypid = p.part AND k.contype = 'c' AND k.convalidated
WHERE a.attrelid = ANY($1::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY 1, 3, 2`
