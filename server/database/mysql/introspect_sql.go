package mysql

// Introspection's queries. Each ? is the name of the same schema: a gateway before many servers (vtgate) finds the one to ask by a
// comparison of a schema's name with a value, and takes no comparison of it with a column. What the user may not see, the server
// leaves out.

const tablesQuery = `
SELECT t.TABLE_SCHEMA, t.TABLE_NAME, t.TABLE_TYPE, IF(t.TABLE_TYPE LIKE '%VIEW', '', t.TABLE_COMMENT), COALESCE(e.TRANSACTIONS, ''), COALESCE(e.SAVEPOINTS, ''),
       COALESCE(t.TABLE_COLLATION, ''), COALESCE(t.CREATE_OPTIONS, '')
FROM information_schema.TABLES t
LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
WHERE t.TABLE_SCHEMA = ? AND t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')`

const viewsQuery = `SELECT TABLE_SCHEMA, TABLE_NAME, IS_UPDATABLE, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = ?`

const columnsQuery = `
SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, IS_NULLABLE, COALESCE(COLUMN_DEFAULT, ''), COLUMN_DEFAULT IS NOT NULL, EXTRA, COLUMN_COMMENT,
       DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, COALESCE(COLLATION_NAME, ''),
       PRIVILEGES
FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = ?
ORDER BY TABLE_NAME, ORDINAL_POSITION`

// keysQuery finds the unique indexes. A part without a name is an expression.
const keysQuery = `
SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COALESCE(COLUMN_NAME, ''), SUB_PART IS NOT NULL
FROM information_schema.STATISTICS
WHERE TABLE_SCHEMA = ? AND NON_UNIQUE = 0
ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

// triggersQuery finds the tables with triggers that run before a row is inserted. A user without the right TRIGGER sees
// none.
const triggersQuery = `
SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE
FROM information_schema.TRIGGERS
WHERE EVENT_OBJECT_SCHEMA = ? AND ACTION_TIMING = 'BEFORE' AND EVENT_MANIPULATION = 'INSERT'`

// foreignKeysQuery finds the foreign keys. Their rules are "" for a user who may only read the tables.
const foreignKeysQuery = `
SELECT k.TABLE_SCHEMA, k.TABLE_NAME, k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME,
       k.REFERENCED_COLUMN_NAME, COALESCE(r.DELETE_RULE, ''), COALESCE(r.UPDATE_RULE, '')
FROM information_schema.KEY_COLUMN_USAGE k
LEFT JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = ?
  AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME AND r.TABLE_NAME = k.TABLE_NAME
WHERE k.TABLE_SCHEMA = ? AND k.REFERENCED_TABLE_NAME IS NOT NULL
ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`

// keysOfTableQuery finds the foreign keys of one table, without their rules.
const keysOfTableQuery = `
SELECT CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME, '', ''
FROM information_schema.KEY_COLUMN_USAGE
WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND REFERENCED_TABLE_NAME IS NOT NULL
ORDER BY CONSTRAINT_NAME, ORDINAL_POSITION`

// keyedTablesQuery finds the tables of all schemas that can have foreign keys.
const keyedTablesQuery = `
SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND ENGINE = 'InnoDB'`

// otherSchemasQuery finds the schemas from which foreign keys lead to a schema, that one among them.
const otherSchemasQuery = `SELECT DISTINCT TABLE_SCHEMA FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_SCHEMA = ?`

// toldQuery asks which name a schema has in the answers.
const toldQuery = `SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?`

// grantsQuery finds where the user itself may delete rows: everywhere, in schemas (their names may be patterns), or in
// tables.
const grantsQuery = `
SELECT '', '' FROM information_schema.USER_PRIVILEGES WHERE PRIVILEGE_TYPE = 'DELETE' AND GRANTEE = REPLACE(CONCAT("'", CURRENT_USER(), "'"), '@', "'@'")
UNION ALL
SELECT TABLE_SCHEMA, '' FROM information_schema.SCHEMA_PRIVILEGES WHERE PRIVILEGE_TYPE = 'DELETE' AND GRANTEE = REPLACE(CONCAT("'", CURRENT_USER(), "'"), '@', "'@'")
UNION ALL
SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLE_PRIVILEGES WHERE PRIVILEGE_TYPE = 'DELETE' AND GRANTEE = REPLACE(CONCAT("'", CURRENT_USER(), "'"), '@', "'@'")`

// MariaDB's names are unique within a table only: a check on a column has the column's name. MySQL's names are unique
// within a schema.
const (
	mariaDBChecksQuery = `
SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = ?`
	mysqlChecksQuery = `
SELECT t.TABLE_SCHEMA, t.TABLE_NAME, c.CONSTRAINT_NAME, c.CHECK_CLAUSE
FROM information_schema.CHECK_CONSTRAINTS c
JOIN information_schema.TABLE_CONSTRAINTS t ON t.CONSTRAINT_SCHEMA = ? AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME
  AND t.CONSTRAINT_TYPE = 'CHECK' AND t.ENFORCED = 'YES'
WHERE c.CONSTRAINT_SCHEMA = ?`
)
