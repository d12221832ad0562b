package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// patroni is three PostgreSQL servers that Patroni looks after: one takes changes, and two follow it, one of them synchronously. Its
// store is an etcd, and HAProxy leads to the server that takes changes. The folder has a script, patronictl.
type patroni struct {
	unpacked
	postgres
}

func newPatroni(project string) patroni {
	p := patroni{in(project, "patroni", false), postgres{unpacked: in(project, "postgresql", false)}}
	p.Also, p.Python = []string{"etcd-server", "haproxy"}, true
	return p
}

func (p patroni) account() string { return p.postgres.account() }

func (p patroni) find() string {
	if p.postgres.find() == "" {
		return ""
	}
	return p.unpacked.find("patroni")
}

func (p patroni) install() error {
	var server error
	if p.postgres.find() == "" {
		server = p.postgres.install()
	}
	return errors.Join(server, p.unpacked.install())
}

func (p patroni) loader() []string { return p.unpacked.loader() }

// environment also lets Python find its own modules.
func (p patroni) environment(binaries string) []string {
	root := p.Root()
	var libraries []string // of Patroni, and of PostgreSQL if that was unpacked, too
	for _, variable := range append(p.unpacked.environment(binaries), p.postgres.environment(p.postgres.find())...) {
		libraries = append(libraries, strings.TrimPrefix(variable, libraryPath))
	}
	return append([]string{libraryPath + strings.Join(libraries, ":")}, "PYTHONHOME="+filepath.Join(root, "usr"),
		"PYTHONPATH="+filepath.Join(root, "usr/lib/python3/dist-packages"), "PYTHONDONTWRITEBYTECODE=1")
}

// python is Python, of which there may be several.
func (p patroni) python() string {
	return newest(filepath.Join(p.Root(), "usr/bin/python3.*[0-9]"))
}

// programs is the folder of PostgreSQL's programs, where all lie that Patroni needs.
func (p patroni) programs() string {
	const needed = "pg_controldata"
	return cmp.Or(findProgram(needed, "/usr/lib/postgresql/*/bin/"+needed), p.postgres.unpacked.find(needed))
}

// members are the servers' numbers.
var members = []string{"1", "2", "3"}

// The ports that do not change when a process starts again.
var patroniPorts = []string{"etcd", "peer", "haproxy", "api1", "api2", "api3", "server1", "server2", "server3"}

func (p patroni) initialise(s *server, password string) error {
	ports, err := freePorts(len(patroniPorts))
	if err != nil {
		return err
	}
	port := map[string]string{}
	for i, name := range patroniPorts {
		port[name] = strconv.Itoa(ports[i])
		if err := s.write("port-"+name, port[name]); err != nil {
			return err
		}
	}
	balanced := strings.NewReplacer("LISTEN", port["haproxy"]).Replace(haproxyConfig)
	for _, n := range members {
		balanced += fmt.Sprintf("  server member%s 127.0.0.1:%s check port %s\n", n, port["server"+n], port["api"+n])
		config := strings.NewReplacer("NAME", "member"+n, "API", port["api"+n], "ETCD", port["etcd"], "SERVER", port["server"+n],
			"DATA", s.path("cluster"+n), "PGPASS", s.path("pgpass"+n), "PROGRAMS", p.programs(), "PASSWORD", password).Replace(memberConfig)
		if err := s.write("member"+n+".yml", config); err != nil {
			return err
		}
	}
	if err := s.write("haproxy.cfg", balanced); err != nil {
		return err
	}
	script := "#!/bin/sh\nexport " + strings.Join(p.environment(s.binaries), " ") + "\nexec " + p.python() + " " + filepath.Join(s.binaries, "patronictl") +
		" -c " + s.path("member1.yml") + " \"$@\"\n"
	if err := s.write("patronictl", script); err != nil {
		return err
	}
	return os.Chmod(s.path("patronictl"), 0o700) //nolint:gosec // G302: it is a program
}

// memberConfig is Patroni's configuration of a member. A failure is noticed as soon as Patroni allows.
const memberConfig = `scope: tests
name: NAME
restapi: {listen: '127.0.0.1:API', connect_address: '127.0.0.1:API'}
etcd3: {host: '127.0.0.1:ETCD'}
bootstrap:
  dcs:
    ttl: 10
    loop_wait: 1
    retry_timeout: 3
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 100}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, data-checksums, no-sync]
postgresql:
  listen: 127.0.0.1:SERVER
  connect_address: 127.0.0.1:SERVER
  data_dir: DATA
  bin_dir: PROGRAMS
  pgpass: PGPASS
  authentication:
    superuser: {username: postgres, password: PASSWORD}
    replication: {username: follower, password: PASSWORD}
  parameters: {unix_socket_directories: '', fsync: false, full_page_writes: true, password_encryption: scram-sha-256}
  pg_hba: [host all all 127.0.0.1/32 scram-sha-256, host replication all 127.0.0.1/32 scram-sha-256]
`

// haproxyConfig is the one that Patroni's documents have, but it asks more often.
const haproxyConfig = `global
  maxconn 200
defaults
  mode tcp
  timeout client 30m
  timeout server 30m
  timeout connect 2s
  timeout check 2s
listen primary
  bind 127.0.0.1:LISTEN
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
`

// running returns HAProxy's port if all processes run.
func (p patroni) running(s *server) (int, error) {
	for _, name := range p.processes() {
		if !alive(s.path("pid-" + name)) {
			return 0, nil
		}
	}
	return readNumber(s.path("port-haproxy"))
}

func (patroni) processes() []string {
	return []string{"etcd", "member1", "member2", "member3", "haproxy"}
}

// launch starts the processes that do not run. Its port is not used: the ports are those that the members know of each other.
func (p patroni) launch(s *server, _ int) error {
	port := map[string]int{}
	for _, name := range patroniPorts {
		var err error
		if port[name], err = readNumber(s.path("port-" + name)); err != nil {
			return err
		}
	}
	clients, peers := "http://"+address(port["etcd"]), "http://"+address(port["peer"])
	root := p.Root()
	commands := map[string][]string{
		"etcd": {filepath.Join(root, "usr/bin/etcd"), "--data-dir", s.path("etcd"), "--listen-client-urls", clients, "--advertise-client-urls", clients,
			"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default=" + peers},
		"haproxy": {filepath.Join(root, "usr/sbin/haproxy"), "-db", "-f", s.path("haproxy.cfg")},
	}
	ports, answers := map[string]string{"etcd": "etcd", "haproxy": "haproxy"}, map[string]func(int) bool{"etcd": listens, "haproxy": listens}
	for _, n := range members {
		name := "member" + n
		commands[name] = []string{p.python(), filepath.Join(s.binaries, "patroni"), s.path(name + ".yml")}
		ports[name], answers[name] = "api"+n, serves
	}
	for _, name := range p.processes() {
		if alive(s.path("pid-" + name)) {
			continue
		}
		c := s.shell(`echo $$ >"$1/pid-$2"; exec >>"$1/error.log" 2>&1; shift 2; exec "$@"`, append([]string{name}, commands[name]...)...)
		if err := s.detach(c, "port-"+ports[name], port[ports[name]], answers[name]); err != nil {
			return err
		}
	}
	return nil
}

// serves reports whether Patroni says that its PostgreSQL runs.
func serves(port int) bool {
	client := http.Client{Timeout: 2 * time.Second}
	answer, err := client.Get("http://" + address(port) + "/health")
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// uri has the URI of all servers, of which the one that takes changes is meant, that of HAProxy, and the addresses by which Patroni
// tells of each.
func (p patroni) uri(s *server, _ int, password string) string {
	port, err := readNumber(s.path("port-haproxy"))
	if err != nil {
		return ""
	}
	var servers, apis []string
	for _, n := range members {
		server, err := readNumber(s.path("port-server" + n))
		api, apiErr := readNumber(s.path("port-api" + n))
		if err != nil || apiErr != nil {
			return ""
		}
		servers, apis = append(servers, address(server)), append(apis, "http://"+address(api))
	}
	balanced := p.postgres.uri(s, port, password)
	all := strings.Replace(balanced, address(port), strings.Join(servers, ","), 1) + "&target_session_attrs=read-write"
	return strings.Join(append([]string{all, balanced}, apis...), " ")
}

// halt ends the members first, which stop their servers. Whatever is left then is killed.
func (patroni) halt() string {
	return `members=$(cat "$1"/pid-member* 2>/dev/null); kill -CONT $members 2>/dev/null; kill $members 2>/dev/null
for pid in $members; do n=0; while kill -0 "$pid" 2>/dev/null && [ $n -lt 100 ]; do n=$((n+1)); sleep 0.1; done; done
` + killPatroni
}

func (patroni) crash() string { return killPatroni }

const killPatroni = `all="$(cat "$1"/pid-* 2>/dev/null) $(head -qn 1 "$1"/cluster*/postmaster.pid 2>/dev/null)"
kill -9 $all 2>/dev/null; for pid in $all; do while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done; done`
