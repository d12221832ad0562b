package main

import (
	"fmt"
	"os"
	"os/exec"
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

// initialise lets the first node begin a cluster, and gives the second a copy of what it then has.
func (g galera) initialise(s *server, password string) error {
	if err := g.mariaDB.initialise(s, password); err != nil {
		return err
	}
	if err := s.write("wsrep_sst_nothing", transfer); err != nil {
		return err
	}
	if err := quietly(s.shell(`chmod 700 "$1/wsrep_sst_nothing"`)); err != nil {
		return err
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	if err := s.detach(g.first(s, ports, "--init-file="+s.path("users.sql")), "port", ports[0], greets); err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	return quietly(s.shell(`cp -r "$1/cluster" "$1/cluster2"`))
}

// transfer is the script that nodes call to send a state: the joining node learns which changes it has, and gets the others
// from Galera itself.
const transfer = `#!/bin/sh
shared=$(dirname "$0")/gtid
while [ $# -gt 0 ]; do case "$1" in --role) role=$2 ;; --gtid) gtid=$2 ;; esac; shift; done
if [ "$role" = donor ]; then
  echo "$gtid" > "$shared.new" && mv "$shared.new" "$shared"
  echo "done $gtid"
else
  rm -f "$shared"
  echo "ready 127.0.0.1"
  until [ -e "$shared" ]; do sleep 0.1; done
  cat "$shared"
fi
`

func (g galera) launch(s *server, port int) error {
	ports, err := freePorts(4)
	if err != nil {
		return err
	}
	if err := s.detach(g.first(s, []int{port, ports[0], ports[1]}), "port", port, greets); err != nil {
		return err
	}
	second := g.node(s, "2", []int{ports[2], ports[3], ports[1]}, "--wsrep-cluster-address=gcomm://"+address(ports[0]))
	return s.detach(second, "port2", ports[2], greets)
}

func freePorts(n int) ([]int, error) {
	ports := make([]int, n)
	for i := range ports {
		var err error
		if ports[i], err = freePort(0); err != nil {
			return nil, err
		}
	}
	return ports, nil
}

// first is the node that begins the cluster.
func (g galera) first(s *server, ports []int, more ...string) *exec.Cmd {
	return g.node(s, "", ports, append(more, "--wsrep-cluster-address=gcomm://", "--wsrep-new-cluster")...)
}

// node prepares a call of the server as one of the nodes. Its ports are for clients, for the other node, and for changes that
// it missed.
func (g galera) node(s *server, node string, ports []int, more ...string) *exec.Cmd {
	port, link, missed := ports[0], ports[1], ports[2]
	c := g.mariadbd(s)
	c.Env = append(c.Env, "PATH="+s.folder+":"+os.Getenv("PATH"))
	args := append([]string{"--no-defaults", "--datadir=" + s.path("cluster"+node)}, networkOptions(s, node, port)...)
	args = append(args, "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2", "--wsrep-on=ON", "--wsrep-provider="+provider,
		"--wsrep-cluster-name=tests", "--wsrep-sst-method=nothing", "--wsrep-node-address="+address(link), "--wsrep-node-name=node"+node,
		fmt.Sprintf("--wsrep-provider-options=gmcast.listen_addr=tcp://%s;ist.recv_addr=%s;gcache.size=32M", address(link), address(missed)))
	c.Args = append(c.Args, append(args, more...)...)
	return c
}

// uri has the first node's URI and, after a blank, the second's.
func (g galera) uri(s *server, port int, password string) string {
	second, err := readNumber(s.path("port2"))
	if err != nil {
		return ""
	}
	return g.mariaDB.uri(s, port, password) + " " + g.mariaDB.uri(s, second, password)
}
