package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// pgpool is Pgpool-II before the PostgreSQL of a URI and a standby of it. It reads each statement, and gives the sessions'
// reads to the standby: not those of endpoints, whose applications are named mcp-admin/….
type pgpool struct {
	unpacked
	standby standby
}

func newPgpool(project string) pgpool {
	return pgpool{in(project, "pgpool2", false), standby{postgres: postgres{unpacked: in(project, "postgresql", false)}}}
}

func (p pgpool) install() error {
	var server error
	if p.standby.find() == "" {
		server = p.standby.install()
	}
	return errors.Join(server, p.unpacked.install())
}

func (pgpool) account() string { return "postgres" }

func (p pgpool) find() string {
	if p.standby.find() == "" {
		return ""
	}
	return p.unpacked.find("pgpool")
}

func (pgpool) halt() string  { return haltProcesses }
func (pgpool) crash() string { return killProcesses }

func (p pgpool) initialise(s *server, password string) error {
	u, err := serverBehind(p.standby.primary)
	if err != nil {
		return err
	}
	if err := p.standby.initialise(p.behind(s), password); err != nil {
		return err
	}
	password, _ = u.User.Password()
	if err := s.write("hba", "host all all 127.0.0.1/32 scram-sha-256\n"); err != nil {
		return err
	}
	return s.write("users", fmt.Sprintf("%s:TEXT%s\n", u.User.Username(), password))
}

func (pgpool) running(s *server) (int, error) { return s.process() }

// behind is the standby, in the same folder.
func (p pgpool) behind(s *server) *server {
	return &server{engine: p.standby, folder: s.folder, binaries: p.standby.find(), owner: s.owner}
}

// launchStandby starts the standby, whose port and process are kept in files.
func (p pgpool) launchStandby(s *server) (int, error) {
	port, err := freePort(0)
	if err != nil {
		return 0, err
	}
	if err := p.standby.launch(p.behind(s), port); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(s.path("cluster/postmaster.pid"))
	if err != nil {
		return 0, err
	}
	process, _, _ := strings.Cut(string(text), "\n")
	if err := s.write("pid-standby", process); err != nil {
		return 0, err
	}
	return port, s.write("port-standby", fmt.Sprint(port))
}

func (p pgpool) launch(s *server, port int) error {
	u, err := serverBehind(p.standby.primary)
	if err != nil {
		return err
	}
	standby, err := p.launchStandby(s)
	if err != nil {
		return err
	}
	control, err := freePort(0)
	if err != nil {
		return err
	}
	err = s.write("ini", fmt.Sprintf(`listen_addresses = '127.0.0.1'
port = %d
unix_socket_directories = '%s'
pcp_listen_addresses = ''
pcp_port = %d
pcp_socket_dir = '%s'
backend_clustering_mode = 'streaming_replication'
backend_hostname0 = '%s'
backend_port0 = %s
backend_flag0 = 'ALWAYS_PRIMARY|DISALLOW_TO_FAILOVER'
backend_weight0 = 0
backend_hostname1 = '127.0.0.1'
backend_port1 = %d
backend_flag1 = 'DISALLOW_TO_FAILOVER'
backend_weight1 = 1
app_name_redirect_preference_list = 'mcp-admin.*:primary'
sr_check_period = 0
load_balance_mode = on
enable_pool_hba = on
pool_passwd = '%s'
num_init_children = 40
max_pool = 1
pid_file_name = '%s'
logdir = '%s'
`, port, s.folder, control, s.folder, u.Hostname(), u.Port(), standby, s.path("users"), s.path("pid"), s.folder))
	if err != nil {
		return err
	}
	return s.detach(s.program("pgpool", "-n", "-f", s.path("ini"), "-a", s.path("hba")), "port", port, listens)
}

func (p pgpool) uri(_ *server, port int, password string) string {
	return postgres{}.uri(nil, port, password)
}
