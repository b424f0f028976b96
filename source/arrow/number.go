package arrow

import "github.com/idxport/idxport/source"

// storeOf is how the elements of f stand, or source.NoNumber if f is no column of numbers.
func storeOf(f *field) source.Number {
	if f.encoded {
		return source.NoNumber
	}
	type width struct {
		kind   byte
		width  int
		signed bool
	}
	return map[width]source.Number{
		{typeInt, 8, false}: source.NumberUint8, {typeInt, 8, true}: source.NumberInt8,
		{typeInt, 16, false}: source.NumberUint16, {typeInt, 16, true}: source.NumberInt16,
		{typeInt, 32, false}: source.NumberUint32, {typeInt, 32, true}: source.NumberInt32,
		{typeInt, 64, false}: source.NumberUint64, {typeInt, 64, true}: source.NumberInt64,
		{typeFloat, 16, false}: source.NumberFloat16, {typeFloat, 32, false}: source.NumberFloat32, {typeFloat, 64, false}: source.NumberFloat64,
		{typeBool, 0, false}: source.NumberBool,
	}[width{f.kind, f.width, f.signed}]
}
