package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// load is what agents ask of a server: each connection sends a request, reads the answer, and sends the next.
type load struct {
	address     string
	header      string
	body        string // %d is a random number from 1 to most
	most        int
	connections int
	duration    time.Duration
}

// loaded is what came of it. The latencies are in order.
type loaded struct {
	latencies []time.Duration
	bytes     int64
	failures  []error
}

func (l load) run() loaded {
	var all loaded
	var mu sync.Mutex
	var agents sync.WaitGroup
	end := time.Now().Add(l.duration)
	for n := range l.connections {
		agents.Go(func() {
			latencies, size, err := l.agent(n, end)
			mu.Lock()
			defer mu.Unlock()
			all.latencies, all.bytes = append(all.latencies, latencies...), all.bytes+size
			if err != nil {
				all.failures = append(all.failures, err)
			}
		})
	}
	agents.Wait()
	slices.Sort(all.latencies)
	return all
}

// agent asks on one connection until the end, or the first failure.
func (l load) agent(n int, end time.Time) (latencies []time.Duration, size int64, err error) {
	c, err := dial(l.address)
	if err != nil {
		return nil, 0, err
	}
	defer c.Close()
	random := rand.New(rand.NewPCG(uint64(end.UnixNano()), uint64(n)))
	head, body := headOf(l.address, tokenOf(n), l.header), []byte(nil)
	pieces := strings.Split(l.body, "%d")
	for {
		began := time.Now()
		if began.After(end) {
			return latencies, size, nil
		}
		body = body[:0]
		for i, piece := range pieces {
			if i > 0 {
				body = strconv.AppendInt(body, random.Int64N(int64(l.most))+1, 10)
			}
			body = append(body, piece...)
		}
		answer, err := c.ask(head, body)
		if err != nil {
			return latencies, size, err
		}
		latencies, size = append(latencies, time.Since(began)), size+int64(len(answer))
	}
}

// client is one connection of HTTP/1.1, with next to no work of its own: it shares the machine with what is measured.
type client struct {
	net.Conn
	reader       *bufio.Reader
	sent, answer []byte
}

func dial(address string) (*client, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{Conn: conn, reader: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// headOf is a request's head but for its length; header is a further line, or "".
func headOf(address, token, header string) string {
	return "POST /mcp/ HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n" +
		"Authorization: Bearer " + token + "\r\n" + header + "Content-Length: "
}

// ask sends a body, and returns the answer's, which is valid until the next. An answer of a tool that failed is an error.
func (c *client) ask(head string, body []byte) ([]byte, error) {
	c.sent = strconv.AppendInt(append(c.sent[:0], head...), int64(len(body)), 10)
	c.sent = append(append(c.sent, "\r\n\r\n"...), body...)
	if _, err := c.Write(c.sent); err != nil {
		return nil, err
	}
	status, err := c.read()
	if err != nil {
		return nil, err
	}
	if status != "200" || bytes.Contains(c.answer, []byte(`"isError":true`)) || bytes.HasPrefix(c.answer, []byte(`{"jsonrpc":"2.0","id":1,"error"`)) {
		return nil, fmt.Errorf("%.200s: %s %.400s", body, status, c.answer)
	}
	return c.answer, nil
}

// read reads an answer, whose length stands in its head or before each of its chunks.
func (c *client) read() (status string, err error) {
	line, err := c.line()
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(line, " ")
	status, _, _ = strings.Cut(rest, " ")
	length, chunked := 0, false
	for {
		if line, err = c.line(); err != nil {
			return "", err
		}
		if line == "" {
			break
		}
		name, value, _ := strings.Cut(line, ": ")
		switch {
		case strings.EqualFold(name, "Content-Length"):
			if length, err = strconv.Atoi(value); err != nil {
				return "", err
			}
		case strings.EqualFold(name, "Transfer-Encoding"):
			chunked = true
		}
	}
	c.answer = c.answer[:0]
	if !chunked {
		return status, c.piece(length)
	}
	for {
		if line, err = c.line(); err != nil {
			return "", err
		}
		size, err := strconv.ParseInt(line, 16, 32)
		if err == nil {
			err = c.piece(int(size))
		}
		if err == nil {
			_, err = c.line()
		}
		if err != nil || size == 0 {
			return status, err
		}
	}
}

// line reads a line without its end.
func (c *client) line() (string, error) {
	line, err := c.reader.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	if len(line) < 2 {
		return "", errors.New("a line of the answer's head does not end as HTTP says")
	}
	return string(line[:len(line)-2]), nil
}

// piece appends so many bytes to the answer.
func (c *client) piece(size int) error {
	begin := len(c.answer)
	c.answer = slices.Grow(c.answer, size)[:begin+size]
	_, err := io.ReadFull(c.reader, c.answer[begin:])
	return err
}

// sample is one body.
func (l load) sample() string { return strings.ReplaceAll(l.body, "%d", strconv.Itoa(l.most/2)) }
