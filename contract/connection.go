package contract

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
)

// The ports of the engines' servers if a Secret gives none.
const (
	DefaultPostgreSQLPort = 5432
	DefaultMySQLPort      = 3306
)

// ErrSecretIncomplete is wrapped by every error of ResolveConnection; its report is ReasonSecretIncomplete.
var ErrSecretIncomplete = errors.New("the connection Secret is incomplete")

// Connection is where a database is and who we are there. It is secret: it prints as its address only.
type Connection struct {
	// Engine is EnginePostgreSQL or EngineMySQL; "" if the source does not tell.
	Engine string
	Host   string
	Port   int
	// Others are further hosts of the same database, in the order in which they are tried.
	Others         []Host
	Database       string
	User, Password string
	// ClientCertificate and ClientKey identify us to the server, as PEM; "" if the source has none.
	ClientCertificate, ClientKey string
	// SSLMode is libpq's; "" if the source does not tell.
	SSLMode string
	// Options are further parameters of a URI that the driver understands.
	Options map[string]string
}

// Host is a server of a database.
type Host struct {
	Name string
	Port int
}

// Hosts are all hosts, in the order in which they are tried.
func (c Connection) Hosts() []Host { return append([]Host{{c.Host, c.Port}}, c.Others...) }

// WithoutCredentials is the connection without what may change while it stays the same database: who we are there.
func (c Connection) WithoutCredentials() Connection {
	c.Engine, c.User, c.Password, c.ClientCertificate, c.ClientKey = "", "", "", "", ""
	return c
}

// Address is host:port; of several hosts all, with commas.
func (c Connection) Address() string {
	address := c.address()
	for _, host := range c.Others {
		address += "," + c.At(host).address()
	}
	return address
}

func (c Connection) address() string { return net.JoinHostPort(c.Host, strconv.Itoa(c.Port)) }

// At is the connection to one of its hosts alone.
func (c Connection) At(host Host) Connection {
	c.Host, c.Port, c.Others = host.Name, host.Port, nil
	return c
}

// String returns host:port/database.
func (c Connection) String() string { return c.Address() + "/" + c.Database }

// Format implements fmt.Formatter, so that no verb shows more than String: %d would print the fields.
func (c Connection) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// LogValue implements slog.LogValuer.
func (c Connection) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText implements encoding.TextMarshaler, so that encoding/json shows no more than String.
func (c Connection) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// The key names under which the parts of a connection stand in Secrets, the first that is there counts. They are the keys
// of CloudNativePG (uri, fqdn-uri, jdbc-uri, host, port, dbname, user, username, password), Crunchy and Percona (the same,
// and pgbouncer-…), Zalando (username, password), MariaDB's operator (dsn, or any that one names), MySQL's (rootUser,
// rootPassword), Bitnami and the Service Binding specification (type, host, port, database, username, password, uri;
// mysql-password), and the environment variables of libpq and the usual images. testdata/secrets has Secrets as these write
// them.
var (
	uriKeys = []string{"uri", "url", "DATABASE_URL", "database-url", "database_url", "DB_URL", "POSTGRES_URL",
		"MYSQL_URL", "MARIADB_URL", "dsn", "connection-string", "connectionString", "fqdn-uri", "pgbouncer-uri", "jdbc-uri",
		"jdbc-url", "fqdn-jdbc-uri", "pgbouncer-jdbc-uri"}
	hostKeys = []string{"host", "hostname", "PGHOST", "POSTGRES_HOST", "MYSQL_HOST", "MARIADB_HOST", "DB_HOST",
		"DATABASE_HOST", "db-host", "database-host", "pgbouncer-host"}
	portKeys = []string{"port", "PGPORT", "POSTGRES_PORT", "MYSQL_PORT", "MYSQL_TCP_PORT", "MARIADB_PORT", "DB_PORT",
		"DATABASE_PORT", "db-port", "database-port", "pgbouncer-port"}
	databaseKeys = []string{"dbname", "database", "db", "PGDATABASE", "POSTGRES_DB", "POSTGRES_DATABASE", "MYSQL_DATABASE",
		"MARIADB_DATABASE", "DB_NAME", "DATABASE_NAME", "DB_DATABASE", "db-name", "database-name"}
	userKeys = []string{"user", "username", "PGUSER", "POSTGRES_USER", "MYSQL_USER", "MARIADB_USER", "DB_USER",
		"DB_USERNAME", "DATABASE_USER", "db-user", "db-username", "database-user", "rootUser"}
	passwordKeys = []string{"password", "PGPASSWORD", "POSTGRES_PASSWORD", "MYSQL_PASSWORD", "MYSQL_PWD",
		"MARIADB_PASSWORD", "DB_PASSWORD", "DATABASE_PASSWORD", "db-password", "database-password", "postgres-password",
		"mysql-password", "mariadb-password", "rootPassword"}
	sslModeKeys = []string{"sslmode", "PGSSLMODE"}
	targetKeys  = []string{"target_session_attrs", "PGTARGETSESSIONATTRS"}
)

var sslModes = []string{"disable", "allow", "prefer", "require", "verify-ca", "verify-full"}

// ConnectionSource says how a Secret is read, and what is known beside it.
type ConnectionSource struct {
	// Engine decides the port if the Secret tells neither a port nor an engine.
	Engine string
	// Key names the one key that holds a URI. If it is "", well-known keys are looked for: a key with a URI first, then the
	// keys of host, database, user and password.
	Key string
	// Database takes the place of the name in the Secret. There is nothing such for the host: who may not read a Secret
	// must not have its password sent to a server of theirs.
	Database string
	// WithCertificate reports whether a client certificate from elsewhere may stand for the password.
	WithCertificate bool
}

// ResolveConnection finds a connection in the data of a Secret that nothing else is known about; key is as in
// ConnectionSource.
func ResolveConnection(data map[string][]byte, key string) (Connection, error) {
	return ConnectionSource{Key: key}.Resolve(data)
}

// Resolve finds a connection in a Secret's data. A line break at the end of a value is passed over.
//
// Every error wraps ErrSecretIncomplete. It names keys, never values, and says what would do.
func (s ConnectionSource) Resolve(data map[string][]byte) (Connection, error) {
	c, err := s.resolve(data)
	if err != nil {
		return Connection{}, fmt.Errorf("%w: %w", ErrSecretIncomplete, err)
	}
	return c, nil
}

func (s ConnectionSource) resolve(data map[string][]byte) (c Connection, err error) {
	key := s.Key
	if key == "" {
		key, _ = firstKey(data, uriKeys)
	} else if secretText(data, key) == "" {
		return Connection{}, fmt.Errorf("key %q is missing or empty; it has %s", key, keysOf(data))
	}
	if key == "" {
		c, err = s.fromKeys(data)
	} else if c, err = s.fromURI(data, key); err != nil && s.Key == "" {
		// Some write passwords into URIs as they are, and put the parts beside it.
		if parts, partsErr := s.fromKeys(data); partsErr == nil {
			c, err = parts, nil
		}
	}
	if err != nil {
		return Connection{}, err
	}
	if _, target := firstKey(data, targetKeys); target != "" && c.Options["target_session_attrs"] == "" {
		c.setOption("target_session_attrs", target)
	}
	return c, nil
}

// fromURI reads a connection from the one key that holds a URI.
func (s ConnectionSource) fromURI(data map[string][]byte, key string) (Connection, error) {
	c, err := parseConnectionURI(secretText(data, key))
	if err != nil {
		return Connection{}, fmt.Errorf("key %q %w", key, err)
	}
	c.Database = cmp.Or(s.Database, c.Database)
	c.readCertificate(data)
	if c.Database == "" && s.Key == "" {
		_, c.Database = firstKey(data, databaseKeys)
	}
	for _, part := range []struct{ name, value, or string }{{"host", c.Host, ""}, {"user", c.User, ""}, {"database", c.Database, ", or set spec.database.name"}} {
		if part.value == "" {
			return Connection{}, fmt.Errorf("key %q names no %s; write %s://user:password@host:port/database%s", key, part.name, schemeOf(c.Engine), part.or)
		}
	}
	if c.SSLMode == "" {
		_, c.SSLMode = firstKey(data, sslModeKeys)
	}
	return c, c.check(func(part string) string { return fmt.Sprintf("the %s in key %q", part, key) })
}

// fromKeys puts a connection together from one key for each of its parts.
func (s ConnectionSource) fromKeys(data map[string][]byte) (Connection, error) {
	var c Connection
	found := map[string]string{}
	var hosts, ports, kind string
	for _, part := range []struct {
		name string
		keys []string
		to   *string
	}{
		{"host", hostKeys, &hosts}, {"port", portKeys, &ports}, {"database", databaseKeys, &c.Database},
		{"user", userKeys, &c.User}, {"password", passwordKeys, &c.Password}, {"sslmode", sslModeKeys, &c.SSLMode},
		{"type", []string{"type"}, &kind},
	} {
		found[part.name], *part.to = firstKey(data, part.keys)
	}
	switch {
	case kind != "":
		if c.Engine = engineOfScheme(kind); c.Engine == "" {
			return Connection{}, fmt.Errorf("key %q names an engine that is not supported; use %q or %q", "type", "postgresql", "mysql")
		}
	case ports == strconv.Itoa(DefaultMySQLPort), strings.HasPrefix(found["host"], "MYSQL_"), strings.HasPrefix(found["host"], "MARIADB_"):
		c.Engine = EngineMySQL
	}
	if err := c.setHosts(hosts, ports, DefaultPort(cmp.Or(c.Engine, s.Engine))); err != nil {
		return Connection{}, fmt.Errorf("key %q %w", cmp.Or(found["port"], found["host"]), err)
	}
	c.Database = cmp.Or(s.Database, c.Database)
	c.readCertificate(data)
	if missing := s.missing(c); len(missing) > 0 {
		return Connection{}, fmt.Errorf("it lacks %s; it has %s. Add what is missing, or a URI under key %s",
			strings.Join(missing, ", "), keysOf(data), alternatives(uriKeys[:3]))
	}
	return c, c.check(func(part string) string { return fmt.Sprintf("key %q", found[part]) })
}

// missing are the keys of the parts that a connection lacks.
func (s ConnectionSource) missing(c Connection) (missing []string) {
	secret := c.Password
	if s.WithCertificate || c.ClientKey != "" {
		secret = "the certificate's key"
	}
	for _, part := range []struct {
		value string
		keys  []string
	}{{c.Host, hostKeys[:2]}, {c.Database, databaseKeys[:2]}, {c.User, userKeys[:2]}, {secret, passwordKeys[:1]}} {
		if part.value == "" {
			missing = append(missing, alternatives(part.keys))
		}
	}
	return missing
}

// check says what in a complete connection cannot be right; name says where a part of it stands.
func (c Connection) check(name func(part string) string) error {
	if c.Database == "*" {
		// CloudNativePG's superuser Secret.
		return fmt.Errorf("%s stands for every database; name one", name("database"))
	}
	for _, host := range c.Hosts() {
		if host.Name == "" || strings.ContainsAny(host.Name, " \t\r\n@") {
			return fmt.Errorf("%s is not a host name", name("host"))
		}
	}
	if c.SSLMode != "" && !slices.Contains(sslModes, c.SSLMode) {
		return fmt.Errorf("%s is none of %s", name("sslmode"), strings.Join(sslModes, ", "))
	}
	return nil
}

func firstKey(data map[string][]byte, keys []string) (key, value string) {
	for _, key := range keys {
		if value := secretText(data, key); value != "" {
			return key, value
		}
	}
	return "", ""
}

func secretText(data map[string][]byte, key string) string {
	return strings.TrimRight(string(data[key]), "\r\n")
}

func keysOf(data map[string][]byte) string {
	if len(data) == 0 {
		return "no keys"
	}
	keys := make([]string, 0, len(data))
	for key := range data {
		keys = append(keys, strconv.Quote(key))
	}
	slices.Sort(keys)
	const most = 20
	if len(keys) > most {
		keys = append(keys[:most], "…")
	}
	return "the keys " + strings.Join(keys, ", ")
}

func alternatives(keys []string) string {
	quoted := make([]string, len(keys))
	for i, key := range keys {
		quoted[i] = strconv.Quote(key)
	}
	return strings.Join(quoted, " or ")
}
