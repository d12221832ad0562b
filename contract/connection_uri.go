package contract

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// sslModeParameters are the parameters of a URI that say all that "ssl" says, and more.
var sslModeParameters = []string{"sslmode", "ssl-mode", "sslMode", "ssl_mode", "tls"}

var uriScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{0,19}$`)

// engineOfScheme returns the engine of a URI's scheme, or of the Service Binding specification's `type`; "" if it is
// none that we know.
func engineOfScheme(scheme string) string {
	scheme, _, _ = strings.Cut(strings.ToLower(scheme), "+") // SQLAlchemy's name of a driver
	switch scheme {
	case "postgres", "postgresql":
		return EnginePostgreSQL
	case "mysql", "mysql2", "mariadb":
		return EngineMySQL
	}
	return ""
}

// schemeOf is the scheme that a URI of the engine is best written with.
func schemeOf(engine string) string {
	if engine == EngineMySQL {
		return "mysql"
	}
	return "postgresql"
}

// DefaultPort is the port of an engine's servers if nothing names one.
func DefaultPort(engine string) int {
	if engine == EngineMySQL {
		return DefaultMySQLPort
	}
	return DefaultPostgreSQLPort
}

// mysqlModes are the words of MySQL's and MariaDB's own drivers for libpq's sslmode.
var mysqlModes = map[string]string{
	"disabled": "disable", "false": "disable", "preferred": "prefer", "required": "require", "true": "require",
	"trust": "require", "skip-verify": "require", "verify_ca": "verify-ca", "verify_identity": "verify-full",
}

// sslModeOf returns libpq's word for a mode; an unknown word is returned unchanged.
func sslModeOf(mode string) string {
	if known := mysqlModes[strings.ToLower(mode)]; known != "" {
		return known
	}
	return mode
}

// goName is a data source name of Go's MySQL driver, which MariaDB's operator writes: user:password@tcp(host:port)/database.
// Nothing in it is encoded but the database's name and the parameters.
var goName = regexp.MustCompile(`^([^:@/]+)(?::(.*))?@(?:tcp\(\[?([^()\]]*?)\]?(?::([0-9]+))?\)|unix\(([^()]*)\))/([^/?]*)(?:\?(.*))?$`)

func parseGoName(parts []string) (Connection, error) {
	c := Connection{Engine: EngineMySQL, User: parts[1], Password: parts[2], Host: parts[3] + parts[5], Port: DefaultMySQLPort}
	var err error
	if c.Database, err = url.PathUnescape(parts[6]); err != nil || c.Database == "" || c.Host == "" {
		return Connection{}, errors.New("names no host or no database; write user:password@tcp(host:port)/database")
	}
	if parts[4] != "" {
		if c.Port, err = parsePort(parts[4]); err != nil {
			return Connection{}, fmt.Errorf("has a port that %w", err)
		}
	}
	if parameters, err := url.ParseQuery(parts[7]); err == nil {
		c.SSLMode = sslModeOf(parameters.Get("tls")) // the others concern the driver's own ways
	}
	return c, nil
}

// parseConnectionURI reads postgres://, postgresql://, mysql:// and mariadb:// URIs, with jdbc: before them or not. Its
// errors say what is wrong, to stand after the key's name, and hold nothing of the URI but its scheme.
func parseConnectionURI(text string) (Connection, error) {
	if parts := goName.FindStringSubmatch(text); parts != nil {
		return parseGoName(parts)
	}
	scheme, rest, ok := strings.Cut(strings.TrimPrefix(text, "jdbc:"), "://")
	if !ok || !uriScheme.MatchString(scheme) {
		return Connection{}, errors.New("is not a URI; use postgresql://user:password@host:port/database or mysql://…")
	}
	engine := engineOfScheme(scheme)
	if engine == "" {
		return Connection{}, fmt.Errorf("has the scheme %q, which is not supported; use postgresql or mysql", scheme)
	}
	authority, path := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, path = rest[:end], rest[end:]
	}
	first, hosts, ports, err := cutHosts(authority)
	if err != nil {
		return Connection{}, err
	}
	// url.Parse's own error quotes the URI, password and all.
	u, err := url.Parse("postgresql://" + first + path)
	if err != nil || u.Fragment != "" {
		return Connection{}, errors.New("is not a valid URI; characters such as @ : / ? # % in the password must be percent-encoded")
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Connection{}, errors.New("has parameters after its ? that are not validly percent-encoded")
	}
	c := Connection{Engine: engine, Database: strings.TrimPrefix(u.Path, "/"), User: u.User.Username()}
	c.Password, _ = u.User.Password()
	for name, values := range parameters {
		value := values[len(values)-1]
		switch name {
		case "host":
			hosts = value
		case "port":
			ports = value
		case "dbname":
			c.Database = value
		case "user":
			c.User = value
		case "password":
			c.Password = value
		case "sslmode", "ssl-mode", "sslMode", "ssl_mode", "tls":
			c.SSLMode = sslModeOf(value)
		case "ssl", "useSSL":
			if value == "true" && c.SSLMode == "" && !slices.ContainsFunc(sslModeParameters, parameters.Has) {
				c.SSLMode = "require"
			}
		case "targetServerType":
			c.setOption("target_session_attrs", cmp.Or(sessionAttributes[value], value))
		default:
			c.setOption(name, value)
		}
	}
	if err := c.setHosts(hosts, ports, DefaultPort(engine)); err != nil {
		return Connection{}, fmt.Errorf("has a port that %w", err)
	}
	return c, nil
}
