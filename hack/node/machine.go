package node

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// bridge is the network device that the CNI plugins make for the pods.
const bridge = "mcpadmin0"

// sysctls are the settings of the kernel that the node needs. What they were is restored when it ends.
var sysctls = map[string]string{
	"/proc/sys/net/ipv4/ip_forward":                "1",
	"/proc/sys/net/bridge/bridge-nf-call-iptables": "1", // only if the module is loaded
	// These are changed by kubelet, kube-proxy and the CNI plugins.
	"/proc/sys/net/ipv4/conf/all/route_localnet": "",
	"/proc/sys/vm/overcommit_memory":             "",
	"/proc/sys/vm/panic_on_oom":                  "",
	"/proc/sys/kernel/panic":                     "",
	"/proc/sys/kernel/panic_on_oops":             "",
	"/proc/sys/kernel/keys/root_maxkeys":         "",
	"/proc/sys/kernel/keys/root_maxbytes":        "",
}

// Check says all that keeps a node from running on this machine; nil if nothing does.
func Check() error {
	var missing []error
	miss := func(format string, args ...any) { missing = append(missing, fmt.Errorf(format, args...)) }
	if runtime.GOOS != "linux" {
		return errors.New("a node needs Linux")
	}
	if os.Geteuid() != 0 {
		miss("a node needs root")
	}
	for _, program := range append([]string{"ip"}, tools...) {
		if _, err := find(program); err != nil {
			miss("the program %s is missing (Debian's packages are nftables, iproute2 and mount)", program)
		}
	}
	if known, err := os.ReadFile("/proc/filesystems"); err == nil && !strings.Contains(string(known), "overlay") {
		miss("the kernel has no overlay file system")
	}
	if len(missing) > 0 {
		return errors.Join(missing...)
	}
	if err := makeGroup(); err != nil {
		miss("control groups cannot be made: %w", err)
	}
	removeGroup(ownGroup) // one with processes, of a node that runs, stays
	if err := ownNetwork(); err != nil {
		miss("network namespaces cannot be made: %w", err)
	}
	if _, err := os.Stat("/proc/sys/net/bridge"); err != nil {
		if text, err := run("modprobe", "br_netfilter"); err != nil { // answers of pods of one bridge would miss kube-proxy's rules
			miss("the kernel's module br_netfilter cannot be loaded: %s", text)
		}
	}
	if text, err := run("nft", "list", "tables"); err != nil {
		miss("nft does not work: %s", text)
	}
	if _, err := nodeAddress(); err != nil {
		missing = append(missing, err)
	}
	return errors.Join(missing...)
}

// find finds a program, also in the folders that are only root's.
func find(program string) (string, error) {
	for _, folder := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/sbin") {
		if found, err := exec.LookPath(filepath.Join(folder, program)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s: %w", program, exec.ErrNotFound)
}

// run runs a program of the machine's and returns what it printed.
func run(program string, args ...string) (string, error) {
	path, err := find(program)
	if err != nil {
		return "", err
	}
	text, err := exec.Command(path, args...).CombinedOutput()
	return strings.TrimSpace(string(text)), err
}

// ownNetwork tries to make a network namespace, in a thread that ends with it.
func ownNetwork() error {
	made := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		made <- syscall.Unshare(syscall.CLONE_NEWNET)
	}()
	return <-made
}

// nodeAddress is the machine's own address towards others. Nothing is sent to find it out.
func nodeAddress() (string, error) {
	connection, err := net.Dial("udp4", "192.0.2.254:9")
	if err != nil {
		return "", fmt.Errorf("the machine has no IPv4 address that pods could reach: %w", err)
	}
	defer connection.Close()
	return connection.LocalAddr().(*net.UDPAddr).IP.String(), nil
}

// tools are all of the machine's programs that the components find. With iptables, kubelet and kube-proxy would leave rules.
var tools = []string{"nft", "mount", "umount"}

// prepareMachine changes the machine as far as the node needs it, and notes what was there before.
func (n *Node) prepareMachine() error {
	for _, name := range tools {
		program, err := find(name)
		if err != nil {
			return err
		}
		if err := os.Symlink(program, n.path("tools/"+name)); err != nil {
			return err
		}
	}
	tables, err := run("nft", "list", "tables")
	if err != nil {
		return fmt.Errorf("nft: %w: %s", err, tables)
	}
	var before strings.Builder
	for file := range sysctls {
		if value, err := os.ReadFile(file); err == nil {
			fmt.Fprintln(&before, file, strings.TrimSpace(string(value)))
		}
	}
	if err := errors.Join(os.WriteFile(n.path(tablesFile), []byte(tables), 0o600), os.WriteFile(n.path(sysctlsFile), []byte(before.String()), 0o600)); err != nil {
		return err
	}
	for file, value := range sysctls {
		if value == "" {
			continue
		}
		if err := os.WriteFile(file, []byte(value), 0o600); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return makeGroup()
}
