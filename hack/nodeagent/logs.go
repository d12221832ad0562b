package nodeagent

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

// followInterval is how often a followed log is checked.
const followInterval = 100 * time.Millisecond

// logOptions are the options of "kubectl logs". tail and limit are -1 if everything is wanted.
type logOptions struct {
	follow, previous bool
	tail, limit      int64
}

func readLogOptions(r *http.Request) (o logOptions, err error) {
	query := r.URL.Query()
	for _, name := range []string{"sinceSeconds", "sinceTime", "timestamps"} {
		if value := query.Get(name); value != "" && value != "false" {
			return o, fmt.Errorf("%s: the local cluster does not know when a line was written; use tailLines", name)
		}
	}
	o = logOptions{follow: query.Get("follow") == "true", previous: query.Get("previous") == "true", tail: -1, limit: -1}
	for name, to := range map[string]*int64{"tailLines": &o.tail, "limitBytes": &o.limit} {
		if value := query.Get(name); value != "" {
			if *to, err = strconv.ParseInt(value, 10, 64); err != nil {
				return o, fmt.Errorf("%s: %q is not a number", name, value)
			}
		}
	}
	return o, nil
}

func (a *Agent) containerLogs(w http.ResponseWriter, r *http.Request) {
	options, err := readLogOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := a.container(r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container"))
	if c == nil {
		http.Error(w, "this node has no such pod or container", http.StatusNotFound)
		return
	}
	path := c.logPath()
	if options.previous {
		path = c.previousLogPath()
	}
	file, err := os.Open(path)
	if err != nil {
		http.Error(w, fmt.Sprintf("container %q of pod %q has no log of such a run", c.spec.Name, c.pod.name), http.StatusBadRequest)
		return
	}
	defer file.Close()
	if err := c.copyLog(r, w, file, options); err != nil && r.Context().Err() == nil {
		a.logf("logs of %s/%s: %v", c.pod.namespace, c.pod.name, err)
	}
}

// copyLog writes a log's end to the answer. If the log is followed, it writes more as long as the container runs.
func (c *container) copyLog(r *http.Request, w http.ResponseWriter, file *os.File, o logOptions) error {
	if o.tail >= 0 {
		if err := seekLines(file, o.tail); err != nil {
			return err
		}
	}
	var from io.Reader = file
	if o.limit >= 0 {
		from = io.LimitReader(file, o.limit)
	}
	for {
		goesOn := o.follow && !o.previous && c.writes(file) // asked before the rest is read
		if _, err := io.Copy(w, from); err != nil || !goesOn {
			return err
		}
		if err := http.NewResponseController(w).Flush(); err != nil || !sleep(r.Context(), followInterval) {
			return err
		}
	}
}

// writes reports whether the container runs and writes to this log.
func (c *container) writes(log *os.File) bool {
	c.pod.mu.Lock()
	running := c.state.Running != nil
	c.pod.mu.Unlock()
	mine, err := log.Stat()
	current, errCurrent := os.Stat(c.logPath())
	return running && err == nil && errCurrent == nil && os.SameFile(mine, current)
}

// seekLines moves to the beginning of a file's last lines.
func seekLines(file *os.File, lines int64) error {
	position, err := file.Seek(0, io.SeekEnd)
	if err != nil || lines == 0 {
		return err
	}
	block := make([]byte, 32<<10)
	for first := true; position > 0; first = false {
		part := block[:min(int64(len(block)), position)]
		position -= int64(len(part))
		if _, err := file.ReadAt(part, position); err != nil {
			return err
		}
		end := len(part)
		if first && part[end-1] == '\n' {
			end-- // the newline of the last line itself
		}
		for end = bytes.LastIndexByte(part[:end], '\n'); end >= 0; end = bytes.LastIndexByte(part[:end], '\n') {
			if lines--; lines == 0 {
				_, err := file.Seek(position+int64(end)+1, io.SeekStart)
				return err
			}
		}
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}
