package sheet

// A Tile is one image: samples of 8 bits, the samples of a pixel together, row by row from the top.
type Tile struct {
	Width, Height int    // at least 1
	Channels      int    // 1: grey, 3: RGB, 4: RGB and an alpha they are not multiplied with
	Pix           []byte // Height·Width·Channels samples
}

// rgb is the pixel at (x, y) as it looks on black.
func (t Tile) rgb(x, y int) [3]byte {
	p := t.Pix[(y*t.Width+x)*t.Channels:][:t.Channels]
	switch t.Channels {
	case 1:
		return [3]byte{p[0], p[0], p[0]}
	case 3:
		return [3]byte(p)
	}
	var dimmed [3]byte
	for i := range dimmed {
		dimmed[i] = byte((int(p[i])*int(p[3]) + 127) / 255)
	}
	return dimmed
}

// enlarged is t with every pixel n times as wide and high.
func (t Tile) enlarged(n int) Tile {
	if n == 1 {
		return t
	}
	big := Tile{Width: n * t.Width, Height: n * t.Height, Channels: t.Channels}
	big.Pix = make([]byte, big.Width*big.Height*big.Channels)
	for y := range big.Height {
		for x := range big.Width {
			at := (y*big.Width + x) * t.Channels
			copy(big.Pix[at:at+t.Channels], t.Pix[(y/n*t.Width+x/n)*t.Channels:])
		}
	}
	return big
}

// reduced is t with squares of n×n pixels made one, their mean; what is left at the right and below makes smaller ones.
func (t Tile) reduced(n int) Tile {
	if n == 1 {
		return t
	}
	small := Tile{Width: (t.Width + n - 1) / n, Height: (t.Height + n - 1) / n, Channels: t.Channels}
	small.Pix = make([]byte, 0, small.Width*small.Height*small.Channels)
	for y := range small.Height {
		for x := range small.Width {
			for c := range t.Channels {
				small.Pix = append(small.Pix, t.mean(x*n, y*n, n, c))
			}
		}
	}
	return small
}

// mean is the mean of channel c over the n×n pixels from (left, top) that there are.
func (t Tile) mean(left, top, n, c int) byte {
	right, bottom := min(left+n, t.Width), min(top+n, t.Height)
	sum := 0
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			sum += int(t.Pix[(y*t.Width+x)*t.Channels+c])
		}
	}
	count := (right - left) * (bottom - top)
	return byte((sum + count/2) / count)
}
