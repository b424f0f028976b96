package images

import (
	"strconv"

	"github.com/idxport/idxport/fault"
	"github.com/idxport/idxport/schema"
)

// RowDigits is the number of digits in the names of files that are called after their rows: those of the source's last row, so that names do not
// depend on the rows that are converted. The error is fault.Usage if only the end can tell.
func RowDigits(format string, s *schema.Schema) (int, error) {
	if s.Source < 0 {
		return 0, fault.New(fault.Usage, "%s: file names have as many digits as the number of rows, and this input tells that only at its end", format).
			WithHint("write Parquet or Arrow first, and convert that file")
	}
	return Digits(s.Source - 1), nil
}

// Digits is the number of decimal digits of n, at least 1.
func Digits(n int64) int {
	count := 1
	for ; n >= 10; n /= 10 {
		count++
	}
	return count
}

// AppendPadded appends n, which is not negative, with zeros before it up to width digits.
func AppendPadded(dst []byte, n int64, width int) []byte {
	for range width - Digits(n) {
		dst = append(dst, '0')
	}
	return strconv.AppendInt(dst, n, 10)
}
