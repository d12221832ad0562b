package observe

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// connection asks one pod, one question at a time, and stays open between them. A connection of net/http's Transport has two
// goroutines of its own; one that waits for a pod nearly all the time needs none. Pods are asked directly, never through a
// proxy, and a redirect is no answer: the key goes nowhere else.
type connection struct {
	address string
	// open is nil before the first question, and after one that failed.
	open net.Conn
	// received bounds what is read of one answer; buffer reads from it.
	received io.LimitedReader
	buffer   *bufio.Reader
}

const (
	dialTimeout = 3 * time.Second
	// maxHead is how much longer than its body an answer may be.
	maxHead = 128 << 10
	// bufferBytes is for the head of an answer; a body is read past it. There is one for every pod.
	bufferBytes = 512
)

// get asks for a path and returns the body of the answer. It is a stranger's: one of more than so many bytes is an error.
func (c *connection) get(ctx context.Context, path, key string, most int64) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.address+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	if c.open == nil {
		if c.open, err = (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, "tcp", c.address); err != nil {
			return nil, err
		}
		c.received.R = c.open
		c.buffer = bufio.NewReaderSize(&c.received, bufferBytes)
	}
	open := c.open
	keep := context.AfterFunc(ctx, func() { _ = open.Close() })
	body, last, err := c.exchange(request, most)
	if !keep() || err != nil || last {
		c.close()
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return body, err
}

// exchange sends a request and reads its answer. It reports whether no other may follow on this connection.
func (c *connection) exchange(request *http.Request, most int64) (body []byte, last bool, err error) {
	if err := request.Write(c.open); err != nil {
		return nil, true, err
	}
	c.received.N = most + maxHead
	response, err := http.ReadResponse(c.buffer, request)
	if err != nil {
		return nil, true, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		c.close() // or the rest of the answer would be read
		return nil, true, fmt.Errorf("the pod answered %s", response.Status)
	}
	body, err = io.ReadAll(io.LimitReader(response.Body, most+1))
	if err == nil && int64(len(body)) > most {
		c.close()
		err = fmt.Errorf("the pod answered more than %d bytes", most)
	}
	return body, response.Close, err
}

func (c *connection) close() {
	if c.open != nil {
		_ = c.open.Close()
		c.open, c.buffer = nil, nil
	}
}
