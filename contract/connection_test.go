package contract_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

const secret = "hunter2"

func data(pairs ...string) map[string][]byte {
	m := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = []byte(pairs[i+1])
	}
	return m
}

// shop is the connection that most Secrets below describe.
func shop(change func(*contract.Connection)) contract.Connection {
	c := contract.Connection{Host: "shop-rw", Port: 5432, Database: "app", User: "app", Password: secret}
	if change != nil {
		change(&c)
	}
	return c
}

func TestResolveConnection(t *testing.T) {
	postgres := func(c *contract.Connection) { c.Engine = contract.EnginePostgreSQL }
	mysql := func(c *contract.Connection) { c.Engine, c.Port = contract.EngineMySQL, 3306 }
	for _, test := range []struct {
		name string
		data map[string][]byte
		key  string
		want contract.Connection
	}{
		{"CloudNativePG", data("dbname", "app", "fqdn-jdbc-uri", "jdbc:postgresql://x/y", "fqdn-uri", "postgresql://x@y/z", "host", "shop-rw",
			"jdbc-uri", "jdbc:postgresql://shop-rw:5432/app?password=hunter2&user=app", "password", secret, "pgpass", "shop-rw:5432:app:app:hunter2\n",
			"port", "5432", "uri", "postgresql://app:hunter2@shop-rw:5432/app", "user", "app", "username", "app"), "", shop(postgres)},
		{"Crunchy and Percona, with PgBouncer", data("dbname", "app", "host", "shop-rw", "jdbc-uri", "jdbc:postgresql://shop-rw/app", "password", secret,
			"pgbouncer-host", "shop-pgbouncer", "pgbouncer-port", "5432", "pgbouncer-uri", "postgresql://app:hunter2@shop-pgbouncer:5432/app",
			"port", "5432", "uri", "postgresql://app:hunter2@shop-rw:5432/app", "user", "app", "verifier", "SCRAM-SHA-256$…"), "", shop(postgres)},
		{"the key that is named", data("uri", "postgresql://a:b@c/d", "pgbouncer-uri", "postgresql://app:hunter2@shop-pgbouncer:6432/app"), "pgbouncer-uri",
			shop(func(c *contract.Connection) {
				c.Engine, c.Host, c.Port = contract.EnginePostgreSQL, "shop-pgbouncer", 6432
			})},
		{"a JDBC URI alone", data("jdbc-uri", "jdbc:postgresql://shop-rw:5432/app?user=app&password=hunter2"), "", shop(postgres)},
		{"keys alone, the default port", data("host", "shop-rw", "dbname", "app", "user", "app", "password", secret), "", shop(nil)},
		{"Service Binding and Bitnami", data("type", "postgresql", "provider", "bitnami", "host", "shop-rw", "port", "5433", "database", "app",
			"username", "app", "password", secret), "", shop(func(c *contract.Connection) { c.Engine, c.Port = contract.EnginePostgreSQL, 5433 })},
		{"libpq's variables", data("PGHOST", "shop-rw", "PGDATABASE", "app", "PGUSER", "app", "PGPASSWORD", secret, "PGSSLMODE", "require"), "",
			shop(func(c *contract.Connection) { c.SSLMode = "require" })},
		{"line breaks at the end", data("host", "shop-rw\n", "dbname", "app\r\n", "user", "app\n", "password", secret+"\n"), "", shop(nil)},
		{"DATABASE_URL with options", data("DATABASE_URL", "postgres://app:hunter2@shop-rw/app?sslmode=verify-full&application_name=x&options=-c%20geqo%3Doff"), "",
			shop(func(c *contract.Connection) {
				c.Engine, c.SSLMode = contract.EnginePostgreSQL, "verify-full"
				c.Options = map[string]string{"application_name": "x", "options": "-c geqo=off"}
			})},
		{"sslmode beside the URI", data("url", "postgres://app:hunter2@shop-rw/app", "sslmode", "disable"), "",
			shop(func(c *contract.Connection) { c.Engine, c.SSLMode = contract.EnginePostgreSQL, "disable" })},
		{"ssl=true", data("uri", "postgres://app:hunter2@shop-rw/app?ssl=true"), "",
			shop(func(c *contract.Connection) { c.Engine, c.SSLMode = contract.EnginePostgreSQL, "require" })},
		{"percent-encoded", data("uri", "postgres://app%40x:h%2Fu%3F%23@shop-rw/a%20b"), "", shop(func(c *contract.Connection) {
			c.Engine, c.User, c.Password, c.Database = contract.EnginePostgreSQL, "app@x", "h/u?#", "a b"
		})},
		{"IPv6", data("uri", "postgres://app:hunter2@[2001:db8::1]:5433/app"), "", shop(func(c *contract.Connection) {
			c.Engine, c.Host, c.Port = contract.EnginePostgreSQL, "2001:db8::1", 5433
		})},
		{"without a password", data("uri", "postgres://app@shop-rw/app"), "", shop(func(c *contract.Connection) {
			c.Engine, c.Password = contract.EnginePostgreSQL, ""
		})},
		{"a socket", data("uri", "postgres://app:hunter2@/app?host=/run/postgresql"), "", shop(func(c *contract.Connection) {
			c.Engine, c.Host = contract.EnginePostgreSQL, "/run/postgresql"
		})},
		{"a MySQL URI", data("uri", "mysql://app:hunter2@shop-rw/app?ssl-mode=VERIFY_IDENTITY"), "", shop(func(c *contract.Connection) {
			mysql(c)
			c.SSLMode = "verify-full"
		})},
		{"JDBC of MariaDB", data("jdbc-url", "jdbc:mariadb://shop-rw:3307/app?user=app&password=hunter2&useSSL=true"), "", shop(func(c *contract.Connection) {
			mysql(c)
			c.Port, c.SSLMode = 3307, "require"
		})},
		{"SQLAlchemy", data("DATABASE_URL", "mysql+pymysql://app:hunter2@shop-rw/app"), "", shop(mysql)},
		{"MariaDB's operator", data("dsn", "app:hunter2@tcp(shop-rw:3306)/app?timeout=5s&parseTime=true"), "", shop(mysql)},
		{"MariaDB's operator, with TLS", data("dsn", "app:h@u:n/t@tcp([2001:db8::1])/app?tls=true"), "", shop(func(c *contract.Connection) {
			mysql(c)
			c.Password, c.Host, c.SSLMode = "h@u:n/t", "2001:db8::1", "require"
		})},
		{"Service Binding of MySQL", data("type", "mysql", "host", "shop-rw", "database", "app", "username", "app", "password", secret), "", shop(mysql)},
		{"Bitnami MySQL, with a host", data("host", "shop-rw", "port", "3306", "database", "app", "username", "app", "mysql-password", secret,
			"mysql-root-password", "other"), "", shop(mysql)},
		{"MySQL's operator, with a host", data("host", "shop-rw", "port", "3306", "database", "app", "rootUser", "app", "rootHost", "%",
			"rootPassword", secret), "", shop(mysql)},
		{"several hosts", data("uri", "postgresql://app:hunter2@shop-1:5433,shop-2/app?target_session_attrs=prefer-standby"), "",
			shop(func(c *contract.Connection) {
				c.Engine, c.Host, c.Port = contract.EnginePostgreSQL, "shop-1", 5433
				c.Others = []contract.Host{{Name: "shop-2", Port: 5432}}
				c.Options = map[string]string{"target_session_attrs": "prefer-standby"}
			})},
		{"several hosts by key", data("host", "shop-1,shop-2,2001:db8::1", "port", "5433", "dbname", "app", "user", "app", "password", secret, "target_session_attrs", "read-write"), "",
			shop(func(c *contract.Connection) {
				c.Host, c.Port = "shop-1", 5433
				c.Others = []contract.Host{{Name: "shop-2", Port: 5433}, {Name: "2001:db8::1", Port: 5433}}
				c.Options = map[string]string{"target_session_attrs": "read-write"}
			})},
		{"several hosts as parameters", data("uri", "postgresql://app:hunter2@/app?host=shop-1,shop-2&port=1,2"), "",
			shop(func(c *contract.Connection) {
				c.Engine, c.Host, c.Port, c.Others = contract.EnginePostgreSQL, "shop-1", 1, []contract.Host{{Name: "shop-2", Port: 2}}
			})},
		{"several hosts of MySQL", data("uri", "jdbc:mysql://shop-1,[2001:db8::1]:3307/app?user=app&password=hunter2"), "",
			shop(func(c *contract.Connection) {
				mysql(c)
				c.Host, c.Others = "shop-1", []contract.Host{{Name: "2001:db8::1", Port: 3307}}
			})},
		{"several hosts of JDBC", data("jdbc-uri", "jdbc:postgresql://shop-1:1,shop-2:2/app?user=app&password=hunter2&targetServerType=preferSecondary"), "",
			shop(func(c *contract.Connection) {
				c.Engine, c.Host, c.Port, c.Others = contract.EnginePostgreSQL, "shop-1", 1, []contract.Host{{Name: "shop-2", Port: 2}}
				c.Options = map[string]string{"target_session_attrs": "prefer-standby"}
			})},
		{"a client certificate for the password", data("host", "shop-rw", "dbname", "app", "user", "app", "sslcert", "-----BEGIN CERTIFICATE-----", "sslkey", "-----BEGIN PRIVATE KEY-----"), "",
			shop(func(c *contract.Connection) {
				c.Password, c.ClientCertificate, c.ClientKey = "", "-----BEGIN CERTIFICATE-----", "-----BEGIN PRIVATE KEY-----"
			})},
		{"a client certificate's files", data("uri", "postgres://app:hunter2@shop-rw/app", "sslcert", "/etc/client.crt", "sslkey", "/etc/client.key"), "", shop(postgres)},
		{"the MySQL image's variables", data("MYSQL_HOST", "shop-rw", "MYSQL_DATABASE", "app", "MYSQL_USER", "app", "MYSQL_PASSWORD", secret), "", shop(mysql)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := contract.ResolveConnection(test.data, test.key)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				type plain contract.Connection // which prints what it holds
				t.Errorf("got %+v, want %+v", plain(got), plain(test.want))
			}
		})
	}
}

func TestResolveConnectionOfAnEngine(t *testing.T) {
	keys := data("host", "shop-rw", "dbname", "app", "user", "app", "password", secret)
	source := contract.ConnectionSource{Engine: contract.EngineMySQL}
	got, err := source.Resolve(keys)
	if err != nil || got.Port != 3306 || got.Engine != "" {
		t.Errorf("the port is %d, the engine %q, %v", got.Port, got.Engine, err)
	}
	keys["type"] = []byte("postgresql")
	if got, err := source.Resolve(keys); err != nil || got.Port != 5432 {
		t.Errorf("the port is %d, %v", got.Port, err)
	}
}

func TestResolveConnectionSaysWhatIsMissing(t *testing.T) {
	for _, test := range []struct {
		name string
		data map[string][]byte
		key  string
		want []string
	}{
		{"an empty Secret", nil, "", []string{"no keys", `"host" or "hostname"`, `"password"`, `"uri"`}},
		{"Zalando", data("username", "app", "password", secret), "", []string{`lacks "host" or "hostname", "dbname" or "database"`, `the keys "password", "username"`}},
		{"an empty value", data("host", "h", "dbname", "d", "user", "", "password", secret), "", []string{`lacks "user" or "username"`}},
		{"the key that is named", data("password", secret), "dsn", []string{`key "dsn" is missing or empty`, `"password"`}},
		{"another engine's URI", data("uri", "oracle://app:hunter2@h/d"), "", []string{`key "uri"`, `scheme "oracle"`, "postgresql"}},
		{"another engine", data("type", "oracle", "host", "h", "database", "d", "username", "u", "password", secret), "", []string{`key "type"`}},
		{"no URI", data("uri", "hunter2"), "", []string{`key "uri" is not a URI`}},
		{"a password that looks like a scheme", data("uri", "hunter2/@://x"), "", []string{`key "uri" is not a URI`}},
		{"a password that is not encoded", data("uri", "postgres://app:hunter2#x@h/d"), "", []string{`key "uri" is not a valid URI`, "percent-encoded"}},
		{"a bad escape", data("uri", "postgres://app:hunter2%zz@h/d"), "", []string{`key "uri" is not a valid URI`}},
		{"bad parameters", data("uri", "postgres://app:hunter2@h/d?x=%zz"), "", []string{`key "uri" has parameters`}},
		{"no host", data("uri", "postgres://app:hunter2@/d"), "", []string{`key "uri" names no host`}},
		{"no user", data("uri", "postgres://h/d"), "", []string{`key "uri" names no user`}},
		{"no database", data("uri", "postgres://app:hunter2@h"), "", []string{`key "uri" names no database`}},
		{"several hosts, one without a name", data("uri", "postgres://app:hunter2@h1:1,/d"), "", []string{`key "uri" is not a valid URI`, "host:port,host:port"}},
		{"several hosts by key, one without a name", data("host", "h1,", "dbname", "d", "user", "u", "password", secret), "", []string{`key "host" is not a host name`}},
		{"several ports", data("host", "h1,h2", "port", "1,2,3", "dbname", "d", "user", "u", "password", secret), "", []string{`key "port" is not one for each host`, "3 ports and 2 hosts"}},
		{"too many hosts", data("host", strings.Repeat("h,", 20)+"h", "dbname", "d", "user", "u", "password", secret), "", []string{"more than 16 hosts"}},
		{"every database", data("host", "h", "dbname", "*", "user", "postgres", "password", secret), "", []string{`key "dbname" stands for every database`}},
		{"a port in words", data("host", "h", "port", "hunter2", "dbname", "d", "user", "u", "password", secret), "", []string{`key "port" is not a port`}},
		{"a port too high", data("uri", "postgres://app:hunter2@h:70000/d"), "", []string{`key "uri" has a port`}},
		{"a URI for a host", data("host", "app:hunter2@h", "dbname", "d", "user", "u", "password", secret), "", []string{`key "host" is not a host name`}},
		{"an unknown sslmode", data("uri", "postgres://app:hunter2@h/d?sslmode=hunter2"), "", []string{`sslmode in key "uri"`, "verify-full"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := contract.ResolveConnection(test.data, test.key)
			if !errors.Is(err, contract.ErrSecretIncomplete) {
				t.Fatalf("got %v, want an error that wraps ErrSecretIncomplete", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %s", err, want)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q holds the password", err)
			}
			if !reflect.DeepEqual(got, contract.Connection{}) {
				t.Error("a connection came with the error")
			}
		})
	}
}

func TestConnectionPrintsAsItsAddress(t *testing.T) {
	c := shop(func(c *contract.Connection) { c.User, c.Options = "nobody", map[string]string{"x": secret} })
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("Connecting", "to", c)
	encoded, err := json.Marshal(map[string]any{"c": c, "p": &c})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", &c), "%#v": fmt.Sprintf("%#v", c), "%s": fmt.Sprintf("%s", []any{c}), "%x": fmt.Sprintf("%x", c),
		"slog": log.String(), "JSON": string(encoded), "error": fmt.Errorf("cannot reach %v", c).Error(),
	} {
		if !strings.Contains(text, "shop-rw:5432/app") || strings.Contains(text, secret) || strings.Contains(text, "nobody") {
			t.Errorf("%s shows %s", name, text)
		}
	}
}
