package contract_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// readSecret reads a Secret of testdata/secrets.
func readSecret(t *testing.T, name string) map[string][]byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "secrets", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var secret struct {
		StringData map[string]string `json:"stringData"`
	}
	if err := yaml.Unmarshal(text, &secret); err != nil {
		t.Fatal(err)
	}
	data := map[string][]byte{}
	for key, value := range secret.StringData {
		data[key] = []byte(value)
	}
	return data
}

// The Secrets are as operators and charts write them. Some lack the database, which the endpoint can name; some the host.
func TestSecretsOfOperatorsAndCharts(t *testing.T) {
	const postgres, mysql = contract.EnginePostgreSQL, contract.EngineMySQL
	at := func(engine, host string, port int, database, user, password string) contract.Connection {
		return contract.Connection{Engine: engine, Host: host, Port: port, Database: database, User: user, Password: password}
	}
	database := contract.ConnectionSource{Database: "shop"}
	seen := map[string]bool{}
	for _, test := range []struct {
		secret string
		source contract.ConnectionSource
		want   contract.Connection
		// lacks is the error's text if the endpoint names no database, or, without want, though it does; "" if the Secret
		// is enough.
		lacks string
	}{
		{"cloudnative-pg", contract.ConnectionSource{}, at(postgres, "shop-rw.prod", 5432, "app", "app", "hunter2"), ""},
		{"cloudnative-pg-superuser", database, at(postgres, "shop-rw.prod", 5432, "shop", "postgres", "hunter2"), "stands for every database"},
		{"crunchy", contract.ConnectionSource{}, at(postgres, "shop-primary.prod.svc", 5432, "app", "app", "hunter2"), ""},
		{"crunchy", contract.ConnectionSource{Key: "pgbouncer-uri"}, at(postgres, "shop-pgbouncer.prod.svc", 5432, "app", "app", "hunter2"), ""},
		{"crunchy-without-database", database, at("", "shop-primary.prod.svc", 5432, "shop", "app", "hunter2"), `lacks "dbname" or "database"; it has`},
		{"percona-postgresql", contract.ConnectionSource{}, at(postgres, "shop-primary.prod.svc", 5432, "app", "app", "hunter2"), ""},
		{"percona-mysql", database, at(mysql, "shop-mysql-primary.prod.svc", 3306, "shop", "root", "h@nter2"), "names no database"},
		{"percona-mysql", contract.ConnectionSource{Key: "proxy-readonly-uri", Database: "shop"},
			at(mysql, "shop-haproxy.prod.svc", 3307, "shop", "root", "h@nter2"), ""},
		{"zalando", database, contract.Connection{}, `lacks "host" or "hostname"`},
		{"bitnami-postgresql", database, contract.Connection{}, `lacks "host" or "hostname"`},
		{"bitnami-postgresql-svcbind", contract.ConnectionSource{}, at(postgres, "shop-postgresql", 5432, "app", "app", "h/nt#r2"), ""},
		{"bitnami-mysql", database, contract.Connection{}, `lacks "host" or "hostname"`},
		{"bitnami-mysql-svcbind-root", database, at(mysql, "shop-mysql", 3306, "shop", "root", "hunter2"), "names no database"},
		{"bitnami-mariadb", database, contract.Connection{}, `lacks "host" or "hostname"`},
		{"bitnami-mariadb-svcbind", contract.ConnectionSource{}, at(mysql, "shop-mariadb", 3306, "app", "app", "hunter2"), ""},
		{"mariadb-operator", contract.ConnectionSource{}, at(mysql, "shop.prod.svc.cluster.local", 3306, "app", "app", "h@nt:er/2"), ""},
		{"mariadb-operator-keys", contract.ConnectionSource{}, func() contract.Connection {
			c := at(mysql, "shop-primary.prod.svc.cluster.local", 3306, "app", "app", "hunter2")
			c.Options = map[string]string{"parseTime": "true"}
			return c
		}(), ""},
		{"service-binding", database, at(mysql, "localhost", 3306, "shop", "root", "root"), `lacks "dbname" or "database"`},
		{"service-binding-certificates", contract.ConnectionSource{}, func() contract.Connection {
			c := at(postgres, "shop.example.com", 5432, "app", "app", "")
			c.SSLMode = "verify-full"
			c.ClientCertificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
			c.ClientKey = "-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n"
			return c
		}(), ""},
	} {
		seen[test.secret] = true
		t.Run(test.secret, func(t *testing.T) {
			data := readSecret(t, test.secret)
			got, err := test.source.Resolve(data)
			if test.want.User == "" {
				if err == nil || !strings.Contains(err.Error(), test.lacks) {
					t.Errorf("got %v, want that it %s", err, test.lacks)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				type plain contract.Connection // which prints what it holds
				t.Errorf("got %+v, want %+v", plain(got), plain(test.want))
			}
			if test.lacks == "" {
				return
			}
			if _, err := contract.ResolveConnection(data, ""); err == nil || !strings.Contains(err.Error(), test.lacks) || strings.Contains(err.Error(), "nter2") {
				t.Errorf("without more: %v, want that it %s", err, test.lacks)
			}
		})
	}
	files, err := filepath.Glob("testdata/secrets/*.yaml")
	if err != nil || len(files) != len(seen) {
		t.Errorf("%d Secrets, of which %d were read: %v", len(files), len(seen), err)
	}
}
