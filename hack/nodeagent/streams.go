package nodeagent

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/mcp-admin/mcp-admin-operator/hack/nodeagent/process"
)

// streamIdle is how long a stream may be silent, as long as the kubelet lets it.
const streamIdle = 4 * time.Hour

// portForward answers what the API server asks a kubelet for "kubectl port-forward".
func (a *Agent) portForward(w http.ResponseWriter, r *http.Request) {
	worker := a.workerOf(r.PathValue("namespace"), r.PathValue("pod"))
	if worker == nil {
		http.Error(w, "this node has no such pod", http.StatusNotFound)
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, forwarder{worker}, worker.name, string(worker.uid), options, streamIdle,
		remotecommand.DefaultStreamCreationTimeout, portforward.SupportedProtocols)
}

// forwarder leads to a pod. A pod's localhost is its own address, as all pods share the machine's.
type forwarder struct{ *worker }

// PortForward copies both ways between a stream and a port of the pod.
func (f forwarder) PortForward(ctx context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	server, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(f.address(), strconv.Itoa(int(port))))
	if err != nil {
		return err
	}
	defer server.Close()
	defer context.AfterFunc(f.killed, func() { _ = server.Close() })()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(server, stream) // the client's end is no failure
		if half, ok := server.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	})
	_, err = io.Copy(stream, server)
	_ = stream.Close()
	both.Wait()
	return err
}

// exec answers what the API server asks a kubelet for "kubectl exec".
func (a *Agent) exec(w http.ResponseWriter, r *http.Request) {
	c := a.container(r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	if c == nil {
		http.Error(w, "this node has no such pod or container", http.StatusNotFound)
		return
	}
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	remotecommand.ServeExec(w, r, executor{c}, c.pod.name, string(c.pod.uid), c.spec.Name, r.URL.Query()["command"], options,
		streamIdle, remotecommand.DefaultStreamCreationTimeout, remotecommand.SupportedStreamingProtocols)
}

// executor runs commands in a container's environment and folder.
type executor struct{ *container }

// ExecInContainer runs a command until it ends, the client goes away, or the container has ended.
func (e executor) ExecInContainer(ctx context.Context, _, _, _ string, words []string, in io.Reader, out, errOut io.WriteCloser, tty bool,
	sizes <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if !e.runs() {
		return fmt.Errorf("container %s does not run", e.spec.Name)
	}
	path, args, env, err := e.inside(words)
	if err != nil {
		return err
	}
	s := &streams{}
	defer s.wait()
	spec := process.Spec{
		Path: path, Args: args, Env: env, Dir: e.pod.dir,
		Record: filepath.Join(e.pod.agent.o.RecordDir, fmt.Sprintf("exec-%s-%d.pid", e.pod.uid, time.Now().UnixNano())),
	}
	if tty {
		spec.Env = append(spec.Env, "TERM=xterm") // as container runtimes have it
		if spec.Terminal, err = s.terminal(in, out, sizes); err != nil {
			return err
		}
	} else {
		spec.Input, spec.Output, spec.Errors = s.read(in), s.write(out), s.write(errOut)
	}
	p, err := process.Start(spec)
	s.closeOurs()
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
	case <-e.pod.ended:
	}
	if exit := p.Stop(0); exit.Code != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("exit code %d", exit.Code), Code: exit.Code}
	}
	return nil
}

func (e executor) runs() bool {
	e.pod.mu.Lock()
	defer e.pod.mu.Unlock()
	return e.state.Running != nil
}

// inside is a command as the container would find it: the image's program by whatever path, another by the machine's
// PATH. Paths of volumes are replaced by their folders'.
func (e executor) inside(words []string) (path string, args, env []string, err error) {
	own, _, env, err := e.command()
	if err != nil {
		return "", nil, nil, err
	}
	m, err := e.pod.mounts(e.spec)
	if err != nil {
		return "", nil, nil, err
	}
	for _, word := range words[1:] {
		args = append(args, m.rewrite(word))
	}
	name := filepath.Base(words[0])
	if name == filepath.Base(own) || len(e.spec.Command) > 0 && name == filepath.Base(e.spec.Command[0]) {
		return own, args, env, nil
	}
	path, err = exec.LookPath(words[0])
	return path, args, env, err
}

// streams joins the pipes of a process with the streams of its client.
type streams struct {
	copying sync.WaitGroup
	// ours are the process's ends, which it has for itself once it runs.
	ours []*os.File
	// feed is read by the process.
	feed *os.File
}

// read returns a file from which the process reads the stream; nil if there is none.
func (s *streams) read(stream io.Reader) *os.File {
	if stream == nil {
		return nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil
	}
	s.ours, s.feed = append(s.ours, from), to
	go func() { // not waited for: the client may never end its input
		_, _ = io.Copy(to, stream)
		_ = to.Close()
	}()
	return from
}

// write returns a file whose content goes to the stream; nil if there is none.
func (s *streams) write(stream io.Writer) *os.File {
	if stream == nil {
		return nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil
	}
	s.ours = append(s.ours, to)
	s.copying.Go(func() {
		_, _ = io.Copy(stream, from)
		_ = from.Close()
	})
	return to
}

// terminal returns a terminal that shows on one stream what is typed on the other, in the size of the client's.
func (s *streams) terminal(in io.Reader, out io.Writer, sizes <-chan remotecommand.TerminalSize) (*os.File, error) {
	ours, theirs, err := process.OpenTerminal()
	if err != nil {
		return nil, err
	}
	s.ours, s.feed = append(s.ours, theirs), ours
	if in != nil {
		go func() { _, _ = io.Copy(ours, in) }()
	}
	go func() {
		for size := range sizes {
			_ = process.ResizeTerminal(ours, size.Width, size.Height) // the old size will do
		}
	}()
	s.copying.Go(func() { _, _ = io.Copy(out, ours) }) // ends with an error when the process has ended
	return theirs, nil
}

func (s *streams) closeOurs() {
	for _, file := range s.ours {
		_ = file.Close()
	}
}

// wait waits until all that the process wrote is with the client.
func (s *streams) wait() {
	s.copying.Wait()
	if s.feed != nil {
		_ = s.feed.Close()
	}
}
