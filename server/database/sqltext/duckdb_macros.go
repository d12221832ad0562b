package sqltext

// The macros that statements call. They lie in the instance's own catalog, whichever one is served.
const (
	// duckDBQuotient takes two HUGEINTs: it is the first divided by the second, as a DECIMAL of 12 digits behind the point, for a dividend
	// that was multiplied by 10 to the power of 12. Halves are rounded away from zero, and it is NULL if the divisor is 0. DuckDB itself
	// divides as doubles.
	duckDBQuotient = "memory.main.mcp_quotient"
	// duckDBDeviations is n times the sum of the squares of n numbers, less the square of their sum, divided by a power of 10: a DOUBLE
	// that was rounded once. Each number is high * limb + low; what is taken are the power, their number, the sums of high and low, and the
	// sums of the products of both.
	duckDBDeviations = "memory.main.mcp_deviations"
	// These carry, so that no great numbers are subtracted as doubles: what is beyond a limb goes to the next higher one.
	duckDBLow   = "memory.main.mcp_low"
	duckDBJoin  = "memory.main.mcp_join"
	duckDBCarry = "memory.main.mcp_carry"
	// duckDBDouble is high * 2^64 + rest. DuckDB rounds a great HUGEINT twice on its way to a DOUBLE, and its text once. A number that is
	// too great for a HUGEINT has one bit that stands for the rest.
	duckDBDouble = "memory.main.mcp_double"
)

// DuckDBMacros are the statements that make the macros, each of which calls only those before it.
var DuckDBMacros = []string{
	"CREATE MACRO " + duckDBQuotient + `(dividend, divisor) AS CASE WHEN divisor = 0 THEN NULL
  ELSE (CASE WHEN (dividend < 0) = (divisor < 0) THEN 1 ELSE -1 END * ((abs(dividend) * 2 + abs(divisor)) // (abs(divisor) * 2)))::DECIMAL(38,0) * 0.000000000001::DECIMAL(38,12) END`,
	"CREATE MACRO " + duckDBLow + "(number) AS ((number % " + limb + ") + " + limb + ") % " + limb,
	"CREATE MACRO " + duckDBDouble + `(power, high, rest) AS CASE WHEN high < 1152921504606846976
  THEN ((high * 18446744073709551616::HUGEINT + rest)::VARCHAR || 'e-' || power)::DOUBLE
  ELSE (high * 2 + CASE WHEN rest = 0 THEN 0 ELSE 1 END)::VARCHAR::DOUBLE * 9223372036854775808::DOUBLE / ('1e' || power)::DOUBLE END`,
	"CREATE MACRO " + duckDBJoin + "(power, high, middle, low) AS " + duckDBDouble + "(power, high + (middle - " + duckDBLow + "(middle)) // " + limb + ", " +
		duckDBLow + "(middle) * " + limb + " + low)",
	"CREATE MACRO " + duckDBCarry + "(power, high, middle, low) AS " + duckDBJoin + "(power, high, middle + low // " + limb + ", low % " + limb + ")",
	"CREATE MACRO " + duckDBDeviations + "(power, n, high, low, highs, mixed, lows) AS " + duckDBCarry +
		"(power, n * highs - high * high, 2 * (n * mixed - high * low), n * lows - low * low)",
}
