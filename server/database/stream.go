package database

import (
	"context"
	"errors"
	"time"
)

// Stream takes the rows of a Select or Report one by one, while they are read, so that any number of them needs little memory. Nothing
// is appended to out then.
type Stream struct {
	// Row is called with each row in the plan's Form, and with the row's members. Both are good until it returns. Its error ends the
	// reading, which then succeeds: Err has the error.
	Row func(members []Output, row []byte) error
	// Within is how long the statement may take, instead of the settings' statement timeout, as who takes the rows sets the pace; 0 is
	// no longer than by the settings.
	Within time.Duration

	begun bool
	err   error
}

// Err is the error of Row that ended the reading.
func (s *Stream) Err() error { return s.err }

// errBegun ends a read that is tried again though rows of the first attempt were taken.
var errBegun = &Error{Code: Failed, Message: "the database went away while rows were read", Cause: errors.New("a stream cannot be read again")}

// Begin is called by an engine before the rows of each attempt to read them. A second attempt fails: it would repeat rows.
func (s *Stream) Begin() error {
	if s == nil {
		return nil
	}
	if s.begun {
		return errBegun
	}
	return nil
}

// take hands a row over, and reports whether to go on.
func (s *Stream) take(members []Output, row []byte) bool {
	s.begun = true
	s.err = s.Row(members, row)
	return s.err == nil
}

// Took ends the writing of a row, which begins at dst[from]. It returns dst for the next row, and reports whether to go on.
func (s *Select) Took(dst []byte, from int) ([]byte, bool) {
	if s.Stream == nil {
		return dst, true
	}
	return dst[:from], s.Stream.take(s.Output, dst[from:])
}

// Joint is what stands between a row and the one before it.
func (s *Select) Joint(dst []byte, count int) []byte {
	if count == 0 || s.Stream != nil {
		return dst
	}
	return append(dst, ',')
}

// Lengthens reports whether the statement may take longer than by the settings; s may be nil.
func (s *Stream) Lengthens() bool { return s != nil && s.Within > 0 }

// Time is how long the statement may take, which the settings bound so; 0 is no bound. s may be nil.
func (s *Stream) Time(settings time.Duration) time.Duration {
	if s.Lengthens() {
		return s.Within
	}
	return settings
}

// WithLimit returns a context that ends after a time, and with another context: that of a database that closes.
func WithLimit(ctx, closing context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(closing, cancel)
	return limited, func() {
		stop()
		cancel()
	}
}
