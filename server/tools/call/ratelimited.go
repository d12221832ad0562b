package call

import (
	"fmt"
	"time"
)

// RateLimited is the answer to a call of a token that calls more often than it may. wait is how long it must let pass.
func RateLimited(wait time.Duration) Result {
	return ResultOf(nil, rateLimited(wait, "too many calls: this token may call again in %d ms", RetryAfterMilliseconds(wait)))
}

// rateLimited is the error of what may be done again after a wait.
func rateLimited(wait time.Duration, format string, args ...any) error {
	return &ToolError{Code: CodeRateLimited, Message: fmt.Sprintf(format, args...), RetryAfter: RetryAfterMilliseconds(wait)}
}

// RetryAfterMilliseconds is a wait in whole milliseconds, rounded up.
func RetryAfterMilliseconds(wait time.Duration) int64 {
	return int64((wait + time.Millisecond - 1) / time.Millisecond)
}
