package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// galera is a cluster of two MariaDB nodes that both take writes. The second node's data are a copy of the first's, made
// before either runs, so that no state need be sent from one to the other.
type galera struct{ mariaDB }

const provider = "/usr/lib/galera/libgalera_smm.so"

// find asks for the provider as well: MariaDB alone is no Galera.
func (g galera) find() string {
	if _, err := os.Stat(provider); err != nil {
		return ""
	}
	return g.mariaDB.find()
}

func (g galera) install() error {
	return installPackages("mariadb-server-core", "mariadb-client-core", "galera-4")
}

func (g galera) initialise(s *server, password string) error {
	if err := g.mariaDB.initialise(s, password); err != nil {
		return err
	}
	text, err := os.ReadFile(s.path("users.sql"))
	if err != nil {
		return err
	}
	users := s.mariadbd("--no-defaults", "--datadir="+s.path("cluster"), "--bootstrap", "--log-error="+s.path("log"))
	users.Stdin = strings.NewReader("FLUSH PRIVILEGES;\n" + string(text))
	if err := quietly(users); err != nil {
		return err
	}
	if err := s.write("cluster/grastate.dat", state); err != nil {
		return err
	}
	return quietly(s.shell(`cp -r "$1/cluster" "$1/cluster2"`))
}

// state says that both nodes know the same history of changes, and that either may begin.
const state = `# GALERA saved state
version: 2.1
uuid:    11111111-2222-11ee-8333-444444444444
seqno:   0
safe_to_bootstrap: 1
`

func (g galera) launch(s *server, port int) error {
	var ports [4]int
	for i := range ports {
		var err error
		if ports[i], err = freePort(0); err != nil {
			return err
		}
	}
	second, between := ports[0], ports[1:]
	first := g.node(s, "", port, between[0], between[2], "--wsrep-cluster-address=gcomm://", "--wsrep-new-cluster")
	if err := s.detach(first, "port", port, greets); err != nil {
		return err
	}
	other := g.node(s, "2", second, between[1], between[2], "--wsrep-cluster-address=gcomm://"+address(between[0]))
	return s.detach(other, "port2", second, greets)
}

// node prepares a call of the server as one of the nodes. link is its port for the others, missed the one for changes that
// it did not see.
func (galera) node(s *server, node string, port, link, missed int, more ...string) *exec.Cmd {
	args := append([]string{"--no-defaults", "--datadir=" + s.path("cluster"+node)}, networkOptions(s, node, port)...)
	args = append(args, "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--wsrep-on=ON", "--wsrep-provider="+provider,
		"--wsrep-cluster-name=tests", "--wsrep-sst-method=skip", "--wsrep-node-address="+address(link), "--wsrep-node-name=node"+node,
		fmt.Sprintf("--wsrep-provider-options=gmcast.listen_addr=tcp://%s;ist.recv_addr=%s;gcache.size=32M", address(link), address(missed)))
	return s.mariadbd(append(args, more...)...)
}

// uri is that of the first node and, after a blank, that of the second.
func (g galera) uri(s *server, port int, password string) string {
	second, err := readNumber(s.path("port2"))
	if err != nil {
		return ""
	}
	return g.mariaDB.uri(s, port, password) + " " + g.mariaDB.uri(s, second, password)
}
