package engines

import (
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

var (
	longText = "'" + strings.Repeat("long ", 2000) + "'"
	oddTexts = []string{"''", "' '", "'trailing  '", "'O''Brien \"quoted\" \\ %_'", "'äöü ß 日本語 😀'", "'line\nbreak\ttab'", "'NULL'", "'null'", "'true'", "'0'", "'1.50'", "'AP8Q'", "'{}'"}
)

// storedTypesNeed are the types that the tables of storedTypes need.
var storedTypesNeed = map[string]string{
	contract.EnginePostgreSQL: `CREATE TYPE mood AS ENUM ('sad', 'it''s ok', 'ÄÖ'); CREATE DOMAIN positive AS integer CHECK (VALUE > 0); CREATE DOMAIN shout AS text;
CREATE TYPE parcel AS (weight numeric(6,2), label text, at point); CREATE DOMAIN large AS parcel;
`,
}

// storedTypes are the types of each engine.
var storedTypes = map[string][]storedType{
	contract.EngineSQLite: {
		{declared: "INTEGER", values: []string{"0", "-1", "9007199254740991", "9007199254740993", "9223372036854775807", "-9223372036854775808"},
			sameRowOnly: []string{"''", "'abc'", "1.5", "x'00ff10'", "x''", "1e300", "1e19", "-9e999"}},
		{declared: "BIGINT UNSIGNED", values: []string{"5"}, sameRowOnly: []string{"'n/a'"}},
		{declared: "REAL", values: []string{"0.0", "0.1", "174.0", "1e300", "-4.9e-300", "123456789.123", "1e17", "9e999", "-9e999"}, sameRowOnly: []string{"'abc'", "''", "x'01'"}},
		{declared: "DOUBLE PRECISION", values: []string{"2.5"}},
		{declared: "NUMERIC(10,2)", values: []string{"0", "12.5", "-0.01", "99999999.99"}, sameRowOnly: []string{"1.005", "0.1 + 0.2", "'n/a'", "x'00ff10'", "12345678901234567890", "9e999"}},
		{declared: "DECIMAL", values: []string{"0", "0.1", "1e-7", "123456789012345678", "1.7976931348623157e308"}},
		{declared: "money", values: []string{"1.5", "7", "-0.01"}, sameRowOnly: []string{"'€ 5'"}},
		{declared: "TEXT", values: append([]string{longText}, oddTexts...), sameRowOnly: []string{"x'00ff10'", "x''", "x'deadbeef'", "CAST(x'610062' AS BLOB)"}},
		{declared: "VARCHAR(10)", values: []string{"'short'", "'äöüß'"}, sameRowOnly: []string{"'much longer than ten'"}},
		{declared: "TEXT COLLATE NOCASE", values: []string{"'aB'", "'Ab'"}},
		{declared: "STRING", values: []string{"'abc'"}, sameRowOnly: []string{"'007'", "'1.50'", "7", "1.5"}},
		{declared: "BLOB", values: []string{"x''", "x'00ff10'", "x'ff'", "zeroblob(3000)"}, sameRowOnly: []string{"'abc'", "'AP8Q'", "5", "1.5", "''"}},
		{declared: "bytea", values: []string{"x''", "x'00ff10'", "x'ff'"}, sameRowOnly: []string{"'abc!'", "'AP8Q'", "5", "1.5"}},
		{declared: "VARBINARY(16)", values: []string{"x'00ff10'", "x'00112233445566778899aabbccddeeff'"}},
		{declared: "", values: []string{"174", "174.5", "-1", "'174'", "'abc'", "''", "'AP8Q'"}, sameRowOnly: []string{"9e999", "174.0", "x'00ff10'", "x''", "9223372036854775807", "1e17"}},
		{declared: "any", values: []string{"174", "174.5", "'abc'"}, sameRowOnly: []string{"x'00ff10'", "9223372036854775807"}},
		{declared: "geometry", values: []string{"'POINT(1 2)'", "5"}, sameRowOnly: []string{"x'0001'"}},
		{declared: "BOOLEAN", values: []string{"0", "1"}, sameRowOnly: []string{"2", "'t'", "'true'", "1.5", "x'01'"}},
		{declared: "DATE", values: []string{"'2016-07-04'", "'0001-01-01'", "'9999-12-31'"}, sameRowOnly: []string{"'2016-07-04 00:00:00'", "'04.07.2016'", "'0000-00-00'", "2016", "1467590400", "2457573.5", "''", "x'00ff10'"}},
		{declared: "TIME", values: []string{"'10:30:00'", "'10:30:00.5'", "'23:59:59.999999'"}, sameRowOnly: []string{"'10:30'", "'10:30:00.500'", "37800", "'noon'"}},
		{declared: "DATETIME", values: []string{"'2016-07-04 10:30:00'", "'2016-07-04 10:30:00.5'", "'0001-01-01 00:00:00'"},
			sameRowOnly: []string{"'2016-07-04'", "'2016-07-04T10:30:00'", "'2016-07-04T10:30:00Z'", "'2016-07-04 10:30'", "'2016-07-04 10:30:00+02:00'", "'2016-07-04 10:30:00+02'", "'2016-07-04 10:30:00.500'",
				"1467590400", "1467590400123", "2457573.5", "'0000-00-00 00:00:00'", "'2016-02-31 10:00:00'", "'2016-07-04 25:00:00'", "'soon'", "''", "x'00ff10'"}},
		{declared: "TIMESTAMPTZ", values: []string{"'2016-07-04 10:30:00'"}, sameRowOnly: []string{"'2016-07-04'", "'2016-07-04T10:30:00Z'", "'2016-07-04 10:30:00+02:00'", "1467590400", "'0000-00-00 00:00:00'"}},
		{declared: "UUID", values: []string{"'123e4567-e89b-12d3-a456-426614174000'", "'123E4567-E89B-12D3-A456-426614174000'"}, sameRowOnly: []string{"x'123e4567e89b12d3a456426614174000'", "'no uuid'"}},
		{declared: "JSON", values: []string{`'{"a":[1,2,{"b":null}],"c":"x"}'`, "'[]'", `'"text"'`, "'false'", "5"}, unequal: true,
			sameRowOnly: []string{`'{ "a" : 1.10 }'`, "'not json'", "1.5", "x'00ff10'", "9223372036854775807", "'null'"}},
	},
	contract.EnginePostgreSQL: {
		{declared: "smallint", values: []string{"0", "-32768", "32767"}}, {declared: "integer", values: []string{"-2147483648", "2147483647"}},
		{declared: "bigint", values: []string{"9007199254740993", "-9223372036854775808"}}, {declared: "positive", values: []string{"1"}}, {declared: "oid", values: []string{"4294967295"}},
		{declared: "numeric", values: []string{"0", "1.50", "-0.000001", "12345678901234567890.123456789", "'NaN'", "'Infinity'", "'-Infinity'", "1e100", "1e-30"}},
		{declared: "numeric(10,2)", values: []string{"12.5", "-99999999.99"}}, {declared: "numeric(3,-2)", values: []string{"12345", "99900"}, since: 15},
		{declared: "real", values: []string{"0.1", "'-0'", "3.4028235e38", "1e-45", "'NaN'", "'Infinity'"}}, {declared: "double precision", values: []string{"0.1", "'-0'", "1.7976931348623157e308", "5e-324", "'NaN'", "'-Infinity'"}},
		{declared: "money", values: []string{"'12.50'", "'-1234567.89'", "0"}},
		{declared: "text", values: append([]string{longText}, oddTexts...)}, {declared: "shout", values: []string{"''", "'A'"}}, {declared: "varchar(10)", values: []string{"''", "'0123456789'", "'a '"}},
		{declared: "char(5)", values: []string{"''", "'ab'", "'abcde'"}}, {declared: "name", values: []string{"'n'"}}, {declared: "\"char\"", values: []string{"'c'"}},
		{declared: "bytea", values: []string{"''", `'\x00ff10'`}},
		{declared: "date", values: []string{"'2024-02-29'", "'infinity'", "'-infinity'", "'0044-03-15 BC'", "'4713-01-01 BC'", "'5874897-12-31'"}},
		{declared: "time", values: []string{"'00:00'", "'24:00:00'", "'23:59:59.999999'", "'10:00:00.5'"}}, {declared: "time(0)", values: []string{"'10:00:01'"}},
		{declared: "timetz", values: []string{"'10:00+02'", "'10:00:00.123456-03:30'"}},
		{declared: "timestamp", values: []string{"'2024-02-29 10:00:00.123456'", "'infinity'", "'0044-03-15 10:00:00 BC'", "'294276-12-31 23:59:59'"}},
		{declared: "timestamptz", values: []string{"'2024-02-29 10:00:00.5+02'", "'-infinity'", "'0044-03-15 10:00:00+00 BC'", "'20000-01-01 00:00:00+00'"}},
		{declared: "interval", values: []string{"'1 year 2 mons -3 days 04:05:06.789'", "'0'", "'-1 day'"}},
		{declared: "boolean", values: []string{"true", "false"}},
		{declared: "json", values: []string{`'{"a":[1,2,{"b":null}],"c":1.10}'`, "'[]'", `'"text"'`, "'null'", "'12345678901234567890'"}, unequal: true},
		{declared: "jsonb", values: []string{`'{"a":[1,2,{"b":null}],"c":1.10}'`, `'"text"'`, "'null'", "'{}'"}, unequal: true},
		{declared: "uuid", values: []string{"'123e4567-e89b-12d3-a456-426614174000'"}},
		{declared: "inet", values: []string{"'10.0.0.1'", "'10.0.0.1/8'", "'::1'"}}, {declared: "cidr", values: []string{"'10.0.0.0/8'"}}, {declared: "macaddr", values: []string{"'08:00:2b:01:02:03'"}}, {declared: "macaddr8", values: []string{"'08:00:2b:01:02:03:04:05'"}},
		{declared: "int4range", values: []string{"'empty'", "'[1,5)'", "'(,)'"}}, {declared: "numrange", values: []string{"'(1.5,2.50]'"}}, {declared: "daterange", values: []string{"'[2024-01-01,2024-02-01)'"}}, {declared: "tstzrange", values: []string{"'[2024-01-01 00:00+00,)'"}},
		{declared: "int4multirange", values: []string{"'{}'", "'{[1,3),[5,7)}'"}},
		{declared: "bit(3)", values: []string{"'101'"}}, {declared: "bit varying", values: []string{"''", "'1'"}},
		{declared: "integer[]", values: []string{"'{}'", "'{1,NULL,3}'", "'{{1,2},{3,4}}'"}, unequal: true}, {declared: "text[]", values: []string{`'{"",NULL,"NULL","a,b","\"q\""}'`}, unequal: true},
		{declared: "mood", values: []string{"'sad'", "'it''s ok'", "'ÄÖ'"}},
		{declared: "xml", values: []string{"'<a>b</a>'", "''"}, unequal: true}, {declared: "point", values: []string{"'(1,2.5)'"}, unequal: true}, {declared: "polygon", values: []string{"'((0,0),(1,1),(1,0))'"}, unequal: true},
		{declared: "box", values: []string{"'(2,2),(0,0)'"}, unequal: true}, {declared: "circle", values: []string{"'<(1,2),3>'"}, unequal: true}, {declared: "line", values: []string{"'{1,-1,0}'"}, unequal: true}, {declared: "lseg", values: []string{"'[(0,0),(1,1)]'"}, unequal: true}, {declared: "path", values: []string{"'((0,0),(1,1))'"}, unequal: true},
		{declared: "tsvector", values: []string{"'a fat cat'", "''"}}, {declared: "tsquery", values: []string{"'fat & (rat | cat)'"}}, {declared: "pg_lsn", values: []string{"'16/B374D848'"}}, {declared: "jsonpath", values: []string{`'$."a"'`}, unequal: true},
		{declared: "regclass", values: []string{"'pg_class'", "'pg_catalog.pg_type'", "4294967295"}}, {declared: "regtype", values: []string{"'integer'", "'text[]'"}}, {declared: "regproc", values: []string{"'now'"}},
		{declared: "parcel", values: []string{`row(1.5, 'a "b", (c)', '(1,2)')::parcel`, "row(null, '', null)::parcel"}}, {declared: "large", values: []string{"row(1, 'x', null)::parcel::large"}},
	},
	contract.EngineMySQL: {
		{declared: "tinyint", values: []string{"-128", "127"}}, {declared: "tinyint(1)", values: []string{"0", "1", "2"}}, {declared: "tinyint unsigned", values: []string{"255"}}, {declared: "smallint", values: []string{"-32768"}}, {declared: "mediumint", values: []string{"8388607"}},
		{declared: "int unsigned", values: []string{"4294967295"}}, {declared: "bigint", values: []string{"9007199254740993", "-9223372036854775808"}}, {declared: "bigint unsigned", values: []string{"18446744073709551615"}}, {declared: "int(5) zerofill", values: []string{"42"}}, {declared: "year", values: []string{"0", "1901", "2155"}},
		{declared: "decimal(10,2)", values: []string{"0", "12.50", "-99999999.99"}}, {declared: "decimal(65,30)", values: []string{"12345678901234567890.123456789"}},
		{declared: "float", values: []string{"0.1", "-0.0", "3.40282e38", "123456.789"}}, {declared: "double", values: []string{"0.1", "-0.0", "1.7976931348623157e308", "5e-324", "123456789.123"}},
		{declared: "bit(1)", values: []string{"b'0'", "b'1'"}}, {declared: "bit(10)", values: []string{"b'1000000001'", "0"}}, {declared: "bit(64)", values: []string{"b'1'"}},
		{declared: "text", values: append([]string{strings.ReplaceAll(longText, `\`, `\\`)}, escapedForMySQL(oddTexts)...)}, {declared: "varchar(10)", values: []string{"''", "'0123456789'", "'a '"}}, {declared: "char(5)", values: []string{"''", "'ab'", "'abcde'"}},
		{declared: "tinytext", values: []string{"'t'"}}, {declared: "longtext", values: []string{"'l'"}}, {declared: "varchar(10) collate utf8mb4_bin", values: []string{"'aB'"}},
		{declared: "binary(3)", values: []string{"x'00ff10'", "x'01'"}}, {declared: "varbinary(10)", values: []string{"''", "x'00ff10'"}}, {declared: "blob", values: []string{"''", "x'00ff10'"}}, {declared: "longblob", values: []string{"x'ff'"}},
		{declared: "date", values: []string{"'2024-02-29'", "'1000-01-01'", "'9999-12-31'"}}, {declared: "time", values: []string{"'10:00:01'", "'-838:59:59'", "'838:59:59'"}}, {declared: "time(6)", values: []string{"'10:00:01.500000'", "'00:00:00.000001'"}},
		{declared: "datetime", values: []string{"'2024-02-29 10:00:00'", "'1000-01-01 00:00:00'"}}, {declared: "datetime(6)", values: []string{"'2024-02-29 10:00:00.123456'", "'2024-02-29 10:00:00.5'"}}, {declared: "timestamp(3) null", values: []string{"'2024-02-29 10:00:00.125'"}},
		{declared: "json", values: []string{`'{"a":[1,2,{"b":null}],"c":1.10}'`, "'[]'", `'"text"'`, "'null'"}, unequal: true},
		{declared: "enum('a','b ä','it''s')", values: []string{"'a'", "'b ä'", "'it''s'"}}, {declared: "set('a','b','c')", values: []string{"''", "'a'", "'a,c'"}},
		{declared: "uuid", mariaDB: true, values: []string{"'123e4567-e89b-12d3-a456-426614174000'"}}, {declared: "inet4", mariaDB: true, values: []string{"'10.0.0.1'"}}, {declared: "inet6", mariaDB: true, values: []string{"'::1'"}},
		{declared: "point", values: []string{"ST_GeomFromText('POINT(1 2.5)')"}, unequal: true}, {declared: "geometry", values: []string{"ST_GeomFromText('LINESTRING(0 0,1 1)')", "ST_GeomFromText('POINT(1 1)', 4326)"}, unequal: true},
	},
}

func escapedForMySQL(texts []string) []string {
	var escaped []string
	for _, text := range texts {
		escaped = append(escaped, strings.ReplaceAll(text, `\`, `\\`))
	}
	return escaped
}

// knownGaps are the values that do not come back as they were. A document that is null is shown as NULL is.
var knownGaps = map[string][]gap{
	contract.EnginePostgreSQL: {
		{"json", "'null'", stepUpdate}, {"json", "'null'", stepCopy}, {"jsonb", "'null'", stepUpdate}, {"jsonb", "'null'", stepCopy},
	},
	contract.EngineMySQL: {
		{"json", "'null'", stepUpdate}, {"json", "'null'", stepCopy},
	},
}
