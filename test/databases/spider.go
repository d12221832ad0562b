package main

import (
	"errors"
	"os/exec"
	"path/filepath"
)

// spider is three MariaDB nodes: the first has the storage engine Spider, by which its tables show those of the other two.
type spider struct {
	mariaDB
	// plugin is the package with the storage engine.
	plugin unpacked
}

func newSpider(project string) spider {
	plugin := in(project, "mariadb-plugin-spider", false)
	plugin.Alone = true // the server that it is for is there already
	return spider{newMariaDB(project), plugin}
}

// find asks for the storage engine as well.
func (p spider) find() string {
	if p.engine() == "" {
		return ""
	}
	return p.mariaDB.find()
}

func (p spider) engine() string {
	return newest(filepath.Join(p.plugin.Root(), "usr/lib/mysql/plugin/ha_spider.so"))
}

func (p spider) install() error {
	var server error
	if p.mariaDB.find() == "" {
		server = p.mariaDB.install()
	}
	return errors.Join(server, p.plugin.install())
}

func (p spider) initialise(s *server, password string) error {
	if err := p.mariaDB.initialise(s, password); err != nil {
		return err
	}
	return quietly(s.shell(`cp -r "$1/cluster" "$1/cluster2" && cp -r "$1/cluster" "$1/cluster3"`))
}

func (p spider) launch(s *server, port int) error {
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	for i, node := range []string{"2", "3"} {
		if err := s.detach(p.node(s, node, ports[i]), "port"+node, ports[i], greets); err != nil {
			return err
		}
	}
	first := p.node(s, "", port, "--plugin-dir="+filepath.Dir(p.engine()), "--plugin-load-add=ha_spider.so", "--plugin-maturity=unknown")
	return s.detach(first, "port", port, greets)
}

func (p spider) node(s *server, node string, port int, more ...string) *exec.Cmd {
	args := append([]string{"--no-defaults", "--datadir=" + s.path("cluster"+node), "--skip-log-bin", "--init-file=" + s.path("users.sql")}, p.home(s)...)
	return p.mariadbd(s, append(append(args, networkOptions(s, node, port)...), more...)...)
}

// behind returns the URIs of the nodes that have the rows.
func (p spider) behind(s *server, password string) ([]string, error) {
	var all []string
	for _, node := range []string{"2", "3"} {
		port, err := readNumber(s.path("port" + node))
		if err != nil {
			return nil, err
		}
		all = append(all, p.uri(s, port, password))
	}
	return all, nil
}
