package main

import "fmt"

// pgpool is Pgpool-II before the PostgreSQL of a URI, as it is for a primary with standbys: it reads each statement, and could give
// reads to another server.
type pgpool struct {
	unpacked
	primary string
}

func (pgpool) account() string { return "postgres" }
func (p pgpool) find() string  { return p.unpacked.find("pgpool") }
func (pgpool) halt() string    { return haltProcesses }
func (pgpool) crash() string   { return killProcesses }

func (p pgpool) initialise(s *server, _ string) error {
	u, err := serverBehind(p.primary)
	if err != nil {
		return err
	}
	password, _ := u.User.Password()
	if err := s.write("password.new", password); err != nil { // of the server behind it
		return err
	}
	if err := s.write("hba", "host all all 127.0.0.1/32 scram-sha-256\n"); err != nil {
		return err
	}
	return s.write("users", fmt.Sprintf("%s:TEXT%s\n", u.User.Username(), password))
}

func (pgpool) running(s *server) (int, error) { return s.process() }

func (p pgpool) launch(s *server, port int) error {
	u, err := serverBehind(p.primary)
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
sr_check_period = 0
load_balance_mode = on
enable_pool_hba = on
pool_passwd = '%s'
num_init_children = 40
max_pool = 1
pid_file_name = '%s'
logdir = '%s'
`, port, s.folder, control, s.folder, u.Hostname(), u.Port(), s.path("users"), s.path("pid"), s.folder))
	if err != nil {
		return err
	}
	return s.detach(s.program("pgpool", "-n", "-f", s.path("ini"), "-a", s.path("hba")), "port", port, listens)
}

func (p pgpool) uri(_ *server, port int, password string) string {
	return postgres{}.uri(nil, port, password)
}
