package mcp

import (
	"compress/gzip"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/server/gzipped"
	"github.com/mcp-admin/mcp-admin-operator/server/tools"
)

// compressors are the gzip writers. One takes most of a megabyte, so that there are no more than can run at once; who
// needs one waits for it, which takes milliseconds.
var compressors = newCompressors(runtime.GOMAXPROCS(0))

func newCompressors(size int) chan *gzip.Writer {
	free := make(chan *gzip.Writer, size)
	for range size {
		free <- nil // made when it is first needed
	}
	return free
}

// putList puts a list where the answer ends now. A small one, and one of a batch, is copied.
func (x *exchange) putList(list tools.List) {
	if list.Packed == nil && (x.inBatch || len(list.Plain) < gzipped.Least) {
		x.out = append(x.out, list.Plain...)
		return
	}
	x.shared, x.listAt = list, len(x.out)
}

// compress replaces a large answer by its compressed form, if the client takes it and it is smaller. It runs while the
// request has the memory of a whole result, but the answer needs only half; the rest is room for the compressed form.
func (x *exchange) compress() {
	x.varies = len(x.out)+x.shared.Size() >= gzipped.Least
	switch {
	case x.shared.Packed != nil:
		x.compressAround(x.shared.Packed)
		return
	case !x.varies || x.shared.Size() > 0 || !acceptsGzip(x.header):
		return
	}
	writer := <-compressors
	if writer == nil {
		writer, _ = gzip.NewWriterLevel(io.Discard, gzip.BestSpeed) // the level is a valid one
	}
	buffer := buffers.Get().(*[]byte)
	packed := appender{(*buffer)[:0]}
	writer.Reset(&packed)
	_, err := writer.Write(x.out)
	if closed := writer.Close(); err == nil {
		err = closed
	}
	compressors <- writer
	if err != nil || len(packed.bytes) >= len(x.out) {
		giveBuffer(buffer, packed.bytes)
		return
	}
	giveBuffer(x.buffer, x.out)
	x.buffer, x.out, x.compressed = buffer, packed.bytes, true
}

// compressAround replaces the answer by its compressed form if its list is compressed already.
func (x *exchange) compressAround(list *gzipped.Text) {
	buffer := buffers.Get().(*[]byte)
	packed := list.AppendBetween((*buffer)[:0], x.out[:x.listAt], x.out[x.listAt:])
	giveBuffer(x.buffer, x.out)
	x.buffer, x.out, x.compressed = buffer, packed, true
	x.shared, x.listAt, x.varies = tools.List{}, 0, true
}

// appender is a writer into memory.
type appender struct{ bytes []byte }

// Write implements io.Writer.
func (a *appender) Write(p []byte) (int, error) {
	a.bytes = append(a.bytes, p...)
	return len(p), nil
}

// describeEncoding sets the headers that say how an answer is encoded, and that another client may get it otherwise.
func (x *exchange) describeEncoding(a *answer) {
	if !x.varies {
		return
	}
	header := a.w.Header()
	header["Vary"] = append(slices.Clip(header["Vary"]), "Accept-Encoding")
	if x.compressed {
		header["Content-Encoding"] = []string{"gzip"}
	}
}

// acceptsGzip reports whether a request takes answers that are compressed by gzip (RFC 9110, section 12.5.3). What names
// gzip goes before *; a quality of 0 refuses.
func acceptsGzip(header http.Header) bool {
	accepts, named := false, false
	for _, value := range header["Accept-Encoding"] {
		for coding := range strings.SplitSeq(value, ",") {
			name, parameters, _ := strings.Cut(coding, ";")
			switch name = strings.ToLower(strings.TrimSpace(name)); {
			case name == "gzip" || name == "x-gzip":
				accepts, named = isWanted(parameters), true
			case name == "*" && !named:
				accepts = isWanted(parameters)
			}
		}
	}
	return accepts
}

// isWanted reports whether the parameters of a coding give it a quality above 0. One that cannot be read is not wanted.
func isWanted(parameters string) bool {
	parameters = strings.TrimSpace(parameters)
	if parameters == "" {
		return true
	}
	name, value, _ := strings.Cut(parameters, "=")
	quality, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err == nil && strings.EqualFold(strings.TrimSpace(name), "q") && quality > 0 && quality <= 1
}
