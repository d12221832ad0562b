// Package schemas serves the databases of other people's programs, as Debian packages bring them, on every engine that
// each knows, and asks for all of them what can be asked.
//
//	make test-schemas
package schemas

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/test/debian"
)

// application is a program and the scripts by which it makes its tables on one engine.
type application struct {
	name, engine string
	// debian is the package, scripts are patterns of files in it, run in that order.
	debian  string
	scripts []string
}

const (
	postgres = contract.EnginePostgreSQL
	mysql    = contract.EngineMySQL
	sqlite   = contract.EngineSQLite
)

var applications = []application{
	{"roundcube", postgres, "roundcube-core", []string{"usr/share/roundcube/SQL/postgres.initial.sql"}},
	{"roundcube", mysql, "roundcube-core", []string{"usr/share/roundcube/SQL/mysql.initial.sql"}},
	{"roundcube", sqlite, "roundcube-core", []string{"usr/share/roundcube/SQL/sqlite.initial.sql"}},
	{"mediawiki", postgres, "mediawiki", []string{"usr/share/mediawiki/maintenance/postgres/tables-generated.sql"}},
	{"mediawiki", mysql, "mediawiki", []string{"usr/share/mediawiki/maintenance/tables-generated.sql"}},
	{"mediawiki", sqlite, "mediawiki", []string{"usr/share/mediawiki/maintenance/sqlite/tables-generated.sql"}},
	{"zabbix", postgres, "zabbix-server-pgsql", []string{"usr/share/zabbix-server-pgsql/schema.sql.gz", "usr/share/zabbix-server-pgsql/images.sql.gz", "usr/share/zabbix-server-pgsql/data.sql.gz"}},
	{"zabbix", mysql, "zabbix-server-mysql", []string{"usr/share/zabbix-server-mysql/schema.sql.gz", "usr/share/zabbix-server-mysql/images.sql.gz", "usr/share/zabbix-server-mysql/data.sql.gz"}},
	{"zabbix proxy", sqlite, "zabbix-proxy-sqlite3", []string{"usr/share/zabbix-proxy-sqlite3/schema.sql.gz"}},
	{"powerdns", postgres, "pdns-backend-pgsql", []string{"usr/share/pdns-backend-pgsql/schema/schema.pgsql.sql"}},
	{"powerdns", mysql, "pdns-backend-mysql", []string{"usr/share/pdns-backend-mysql/schema/schema.mysql.sql"}},
	{"powerdns", sqlite, "pdns-backend-sqlite3", []string{"usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"}},
	{"freeradius", postgres, "freeradius-config", []string{"etc/freeradius/3.0/mods-config/sql/main/postgresql/schema.sql"}},
	{"freeradius", mysql, "freeradius-config", []string{"etc/freeradius/3.0/mods-config/sql/main/mysql/schema.sql"}},
	{"freeradius", sqlite, "freeradius-config", []string{"etc/freeradius/3.0/mods-config/sql/main/sqlite/schema.sql"}},
	{"icinga", postgres, "icinga2-ido-pgsql", []string{"usr/share/icinga2-ido-pgsql/schema/pgsql.sql"}},
	{"icinga", mysql, "icinga2-ido-mysql", []string{"usr/share/icinga2-ido-mysql/schema/mysql.sql"}},
	{"ejabberd", postgres, "ejabberd", []string{"usr/share/ejabberd/sql/pg.new.sql"}},
	{"ejabberd", mysql, "ejabberd", []string{"usr/share/ejabberd/sql/mysql.new.sql"}},
	{"ejabberd", sqlite, "ejabberd", []string{"usr/share/ejabberd/sql/lite.new.sql"}},
	{"bacula", postgres, "bacula-director-pgsql", []string{"usr/share/dbconfig-common/data/bacula-director-pgsql/install/pgsql"}},
	{"bacula", mysql, "bacula-director-mysql", []string{"usr/share/dbconfig-common/data/bacula-director-mysql/install/mysql"}},
	{"bacula", sqlite, "bacula-director-sqlite3", []string{"usr/share/dbconfig-common/data/bacula-director-sqlite3/install/sqlite3"}},
	{"kamailio", postgres, "kamailio-postgres-modules", []string{"usr/share/kamailio/postgres/standard-create.sql", "usr/share/kamailio/postgres/[!i]*-create.sql"}},
	{"kamailio", mysql, "kamailio-mysql-modules", []string{"usr/share/kamailio/mysql/standard-create.sql", "usr/share/kamailio/mysql/[!i]*-create.sql"}},
	{"kea", postgres, "kea-admin", []string{"usr/share/kea/scripts/pgsql/dhcpdb_create.pgsql"}},
	{"kea", mysql, "kea-admin", []string{"usr/share/kea/scripts/mysql/dhcpdb_create.mysql"}},
	{"cacti", mysql, "cacti", []string{"usr/share/cacti/conf_templates/cacti.sql"}},
}

// script returns the application's scripts as one.
func (a application) script(t *testing.T) string {
	t.Helper()
	folder, err := unpacked(a.debian)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, pattern := range a.scripts {
		found, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("package %s has no %s", a.debian, pattern)
		}
		for _, file := range found {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	var all strings.Builder
	for _, file := range files {
		text, err := content(file)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(text + "\n")
	}
	return withoutDelimiters(all.String())
}

// withoutDelimiters takes out what MySQL's own client understands and its server does not: DELIMITER lines, and the
// delimiters that they set. The server itself finds the end of a function.
func withoutDelimiters(script string) string {
	var kept strings.Builder
	delimiter := ";"
	for line := range strings.Lines(script) {
		if set, ok := strings.CutPrefix(strings.ToUpper(strings.TrimSpace(line)), "DELIMITER "); ok {
			delimiter = strings.TrimSpace(set)
			continue
		}
		if delimiter != ";" {
			if statement, ends := strings.CutSuffix(strings.TrimSpace(line), delimiter); ends {
				line = strings.TrimSuffix(statement, ";") + ";\n"
				if statement == "" && strings.HasSuffix(strings.TrimSpace(kept.String()), ";") {
					continue // the server takes no empty statement
				}
			}
		}
		if joined, goesOn := strings.CutSuffix(line, "\\\n"); goesOn { // the client takes the sign for a command of its own
			line = joined + "\n"
		}
		kept.WriteString(line)
	}
	return kept.String()
}

func content(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var from io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if from, err = gzip.NewReader(f); err != nil {
			return "", err
		}
	}
	text, err := io.ReadAll(from)
	return string(text), err
}

// unpacked returns the folder with a package's files. It is fetched if it is not there yet.
func unpacked(name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	p := debian.Package{Cache: filepath.Join(cache, "mcp-admin-tests", "debian"), Name: name, Alone: true}
	return p.Root(), p.Install()
}
