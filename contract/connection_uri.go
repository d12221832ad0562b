package contract

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

var uriScheme = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]{0,19}$`)

// engineOfScheme returns the engine of a URI's scheme, or of the Service Binding specification's `type`; "" where it is
// none that we know.
func engineOfScheme(scheme string) string {
	switch strings.ToLower(scheme) {
	case "postgres", "postgresql":
		return EnginePostgreSQL
	}
	return ""
}

// parseConnectionURI reads postgres://, postgresql:// and jdbc:postgresql:// URIs. Its errors say what is wrong, to
// stand after the key's name, and hold nothing of the URI but its scheme.
func parseConnectionURI(text string) (Connection, error) {
	scheme, rest, ok := strings.Cut(strings.TrimPrefix(text, "jdbc:"), "://")
	if !ok || !uriScheme.MatchString(scheme) {
		return Connection{}, errors.New("is no URI: postgresql://user:password@host:port/database is")
	}
	engine := engineOfScheme(scheme)
	if engine == "" {
		return Connection{}, fmt.Errorf("has the scheme %q, which is not supported; postgres and postgresql are", scheme)
	}
	authority, _, _ := strings.Cut(rest, "/")
	if _, hosts, ok := strings.Cut(authority, "@"); strings.Contains(hosts, ",") || !ok && strings.Contains(authority, ",") {
		return Connection{}, errors.New("names several hosts; name the one that takes writes")
	}
	// url.Parse's own error quotes the URI, password and all.
	u, err := url.Parse("postgresql://" + rest)
	if err != nil || u.Fragment != "" {
		return Connection{}, errors.New("is no valid URI; characters such as @ : / ? # % in the password must be percent-encoded")
	}
	parameters, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Connection{}, errors.New("has parameters after its ? that are not validly percent-encoded")
	}
	c := Connection{
		Engine: engine, Host: u.Hostname(), Port: DefaultPostgreSQLPort, Database: strings.TrimPrefix(u.Path, "/"),
		User: u.User.Username(),
	}
	c.Password, _ = u.User.Password()
	port := u.Port()
	for name, values := range parameters {
		value := values[len(values)-1]
		switch name {
		case "host":
			c.Host = value
		case "port":
			port = value
		case "dbname":
			c.Database = value
		case "user":
			c.User = value
		case "password":
			c.Password = value
		case "sslmode":
			c.SSLMode = value
		case "ssl":
			if value == "true" && c.SSLMode == "" && !parameters.Has("sslmode") {
				c.SSLMode = "require"
			}
		default:
			if c.Options == nil {
				c.Options = map[string]string{}
			}
			c.Options[name] = value
		}
	}
	if port != "" {
		if c.Port, err = parsePort(port); err != nil {
			return Connection{}, fmt.Errorf("has a port that %w", err)
		}
	}
	switch {
	case c.Host == "":
		return Connection{}, errors.New("names no host: postgresql://user:password@host:port/database does")
	case c.User == "":
		return Connection{}, errors.New("names no user: postgresql://user:password@host:port/database does")
	case c.Database == "":
		return Connection{}, errors.New("names no database: postgresql://user:password@host:port/database does")
	}
	return c, nil
}
