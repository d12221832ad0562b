package contract

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxHosts is the most hosts of one connection.
const maxHosts = 16

// setHosts takes hosts and ports as libpq has them: lists with commas, with one port for each host, or one for all. Hosts
// may be "". Its errors say what is wrong, to stand after the name of what gives the ports.
func (c *Connection) setHosts(hosts, ports string, otherwise int) error {
	names, numbers := strings.Split(hosts, ","), strings.Split(ports, ",")
	if len(numbers) > 1 && len(numbers) != len(names) {
		return fmt.Errorf("is not one for each host, nor one for all: there are %d ports and %d hosts", len(numbers), len(names))
	}
	if len(names) > maxHosts {
		return fmt.Errorf("is for more than %d hosts", maxHosts)
	}
	all := make([]Host, len(names))
	for i, name := range names {
		number := numbers[0]
		if len(numbers) > 1 {
			number = numbers[i]
		}
		all[i] = Host{name, otherwise}
		if number == "" {
			continue
		}
		var err error
		if all[i].Port, err = parsePort(number); err != nil {
			return err
		}
	}
	c.Host, c.Port, c.Others = all[0].Name, all[0].Port, nil
	if len(all) > 1 {
		c.Others = all[1:]
	}
	return nil
}

// cutHosts takes the hosts out of a URI's authority, and returns what url.Parse can read: the authority with the first of
// them alone. hosts and ports are lists for setHosts; a port may be "".
func cutHosts(authority string) (first, hosts, ports string, err error) {
	at := strings.LastIndex(authority, "@") + 1
	list := strings.Split(authority[at:], ",")
	names, numbers := make([]string, len(list)), make([]string, len(list))
	for i, one := range list {
		name, number := one, ""
		if colon := strings.LastIndex(one, ":"); colon > strings.LastIndex(one, "]") {
			name, number = one[:colon], one[colon+1:]
		}
		if len(list) > 1 && (name == "" || strings.ContainsAny(name, "%/?#")) {
			return "", "", "", errors.New("is not a valid URI; several hosts are written host:port,host:port")
		}
		names[i], numbers[i] = strings.Trim(name, "[]"), number
	}
	return authority[:at] + list[0], strings.Join(names, ","), strings.Join(numbers, ","), nil
}

func parsePort(text string) (int, error) {
	port, err := strconv.Atoi(text)
	if err != nil || port < 1 || port > 65535 {
		return 0, errors.New("is not a port; use a number from 1 to 65535")
	}
	return port, nil
}

// clientCertificateKeys are the pairs of keys under which Secrets have a certificate to show the database, and its key: the
// keys of the type kubernetes.io/tls, libpq's parameters, the Service Binding specification and hosted databases.
var clientCertificateKeys = [][2]string{
	{CertificateKey, CertificatePrivateKey}, {"sslcert", "sslkey"}, {"certificates", "private-key"}, {"client.crt", "client.key"},
	{"client-cert.pem", "client-key.pem"}, {"client-cert", "client-key"},
}

// readCertificate takes the certificate to show the database from a Secret that has one. Keys that name files count for
// nothing.
func (c *Connection) readCertificate(data map[string][]byte) {
	for _, keys := range clientCertificateKeys {
		certificate, key := string(data[keys[0]]), string(data[keys[1]])
		if isPEM(certificate) && isPEM(key) {
			c.ClientCertificate, c.ClientKey = certificate, key
			return
		}
	}
}

func isPEM(text string) bool { return strings.Contains(text, "-----BEGIN ") }

// setOption sets a parameter of the driver.
func (c *Connection) setOption(name, value string) {
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	c.Options[name] = value
}

// sessionAttributes are the words of JDBC's targetServerType for libpq's target_session_attrs.
var sessionAttributes = map[string]string{
	"any": "any", "primary": "primary", "master": "primary", "secondary": "standby", "slave": "standby",
	"preferSecondary": "prefer-standby", "preferSlave": "prefer-standby", "preferPrimary": "any",
}
