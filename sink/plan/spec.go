package plan

import (
	"fmt"
	"strings"
)

// mostRanges are as many as messages list.
const mostRanges = 10

// shortSpec is Spec, or its beginning.
func shortSpec(indices []int) string {
	text := Spec(indices)
	ranges := strings.SplitN(text, ",", mostRanges+1)
	if len(ranges) <= mostRanges {
		return text
	}
	return strings.Join(ranges[:mostRanges], ",") + ",…"
}

// Spec writes indices, which rise, as schedulers take them for arrays: 3,7-9.
func Spec(indices []int) string {
	var ranges []string
	for i := 0; i < len(indices); {
		k := i
		for k+1 < len(indices) && indices[k+1] == indices[k]+1 {
			k++
		}
		if k == i {
			ranges = append(ranges, fmt.Sprint(indices[i]))
		} else {
			ranges = append(ranges, fmt.Sprintf("%d-%d", indices[i], indices[k]))
		}
		i = k + 1
	}
	return strings.Join(ranges, ",")
}
