package tools

import (
	"encoding/json"
	"fmt"
	"time"
)

// RateLimited is the answer to a call of a token that calls more often than it may. wait is how long it must let pass.
func RateLimited(wait time.Duration) Result {
	ms := RetryAfterMilliseconds(wait)
	r := Result{IsError: true, Code: CodeRateLimited, Message: fmt.Sprintf("too many calls: this token may call again in %d ms", ms)}
	r.Text, _ = json.Marshal(struct {
		Error      string `json:"error"`
		Code       Code   `json:"code"`
		RetryAfter int64  `json:"retry_after_ms"`
	}{r.Message, r.Code, ms}) // two strings and a number: it cannot fail
	return r
}

// RetryAfterMilliseconds is a wait in whole milliseconds, of which the last one is not cut off.
func RetryAfterMilliseconds(wait time.Duration) int64 {
	return int64((wait + time.Millisecond - 1) / time.Millisecond)
}
