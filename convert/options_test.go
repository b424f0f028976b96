package convert

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestOptionsAreData sets every field of Options that is data, and demands that JSON returns all of
// them. Plans store options like this.
func TestOptionsAreData(t *testing.T) {
	t.Parallel()
	var o Options
	fill := func(v reflect.Value) {
		for i := range v.NumField() {
			f := v.Field(i)
			if v.Type().Field(i).Tag.Get("json") == "-" {
				continue
			}
			switch f.Interface().(type) {
			case string:
				f.SetString("x")
			case []string:
				f.Set(reflect.ValueOf([]string{"x", "y,z"}))
			case []int:
				f.Set(reflect.ValueOf([]int{-1, 28}))
			case bool:
				f.SetBool(true)
			case *bool:
				f.Set(reflect.ValueOf(new(bool))) // false, which differs from nil
			case int64:
				f.SetInt(1 << 40)
			default:
				t.Errorf("%s has the type %s, for which this test has no value", v.Type().Field(i).Name, f.Type())
			}
		}
	}
	fill(reflect.ValueOf(&o.Source).Elem())
	fill(reflect.ValueOf(&o.View).Elem())
	fill(reflect.ValueOf(&o.Target).Elem())
	text, err := json.Marshal(o)
	var back Options
	if err != nil || json.Unmarshal(text, &back) != nil || !reflect.DeepEqual(o, back) {
		t.Errorf("%s came back as %+v, expected %+v (%v)", text, back, o, err)
	}
	if part := back.ofParts(); len(part.Inputs)+len(part.Outputs)+len(part.To)+len(part.Split) > 0 || part.Overwrite || part.Dataset != "" {
		t.Errorf("found %+v among the options of parts", part)
	}
}
