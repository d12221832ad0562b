package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
)

// book is what a call may give of a book.
type book struct {
	Title       string `json:"title"`
	AuthorID    int64  `json:"author_id"`
	Price       string `json:"price"`
	Published   string `json:"published"`
	Description string `json:"description"`
}

// request is a request of MCP, as far as it matters here.
type request struct {
	ID     json.RawMessage `json:"id"`
	Params struct {
		Name      string `json:"name"`
		Arguments struct {
			ID      int64  `json:"id"`
			Total   string `json:"total"`
			Data    book   `json:"data"`
			Filters struct {
				AuthorID int64 `json:"author_id"`
			} `json:"filters"`
		} `json:"arguments"`
	} `json:"params"`
}

type handler struct {
	engine engine
	// given are the answers to bodies that need no database.
	given map[string][]byte
}

// memory is what a request takes; it is used again. The engine writes the text of the answer.
type memory struct {
	body         bytes.Buffer
	page         page
	text, answer []byte
	changes      []byte
}

var memories = sync.Pool{New: func() any { return new(memory) }}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m := memories.Get().(*memory)
	defer memories.Put(m)
	m.body.Reset()
	m.page.reset()
	m.text, m.changes = m.text[:0], m.changes[:0]
	if _, err := io.Copy(&m.body, r.Body); err != nil {
		return // the client is gone
	}
	if answer, given := h.given[string(m.body.Bytes())]; given {
		reply(w, answer)
		return
	}
	var call request
	if err := json.Unmarshal(m.body.Bytes(), &call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := h.perform(r, m, &call); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	m.answer = append(append(m.answer[:0], `{"jsonrpc":"2.0","id":`...), call.ID...)
	m.answer = appendString(append(m.answer, `,"result":{"content":[{"type":"text","text":`...), m.text)
	m.answer = append(m.answer, `}]}}`...)
	reply(w, m.answer)
}

func reply(w http.ResponseWriter, answer []byte) {
	w.Header()["Content-Type"] = contentType
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(answer))}
	_, _ = w.Write(answer) // an error means that the client is gone
}

var contentType = []string{"application/json"}

var errNoTool = errors.New("limit has no such tool")

func (h *handler) perform(r *http.Request, m *memory, call *request) error {
	a := &call.Params.Arguments
	switch call.Params.Name {
	case "get_book":
		return h.engine.get(r.Context(), m, a.ID)
	case "list_book":
		return h.engine.list(r.Context(), m, a.Filters.AuthorID, a.Total != "none")
	case "aggregate_book":
		return h.engine.aggregate(r.Context(), m, a.Filters.AuthorID)
	case "create_book":
		return h.engine.create(r.Context(), m, &a.Data)
	case "update_book":
		return h.engine.update(r.Context(), m, a.ID, &a.Data)
	}
	return errNoTool
}
