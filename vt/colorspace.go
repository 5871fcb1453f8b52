package vt

import (
	"math"
	"sort"
	"strconv"
	"strings"
)

// A colour of XParseColor(3) that names a space of CIE or Tektronix, or intensities,
// becomes the one that X11 shows for it without a calibrated screen: matrix, white
// point and intensities are the defaults of Xlib.

// intensities are linear red, green and blue from 0 to 1. xyz is CIE 1931 XYZ and
// uvY CIE 1976 u'v' with the luminance Y.
type (
	intensities [3]float64
	xyz         struct{ x, y, z float64 }
	uvY         struct{ u, v, y float64 }
)

// maxSpec bounds what the parts of a colour may be; XParseColor has no use for more.
const maxSpec = 1e6

// parseSpace reads NAME:a/b/c in the spaces RGBi, CIEXYZ, CIEuvY, CIExyY, CIELab,
// CIELuv and TekHVC. spec is in lower case.
func parseSpace(spec string) (c Color, ok bool) {
	name, rest, ok := strings.Cut(spec, ":")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) != 3 {
		return 0, false
	}
	var v [3]float64
	for i, p := range parts {
		f, err := strconv.ParseFloat(p, 64)
		if err != nil || math.IsNaN(f) || math.Abs(f) > maxSpec {
			return 0, false
		}
		v[i] = f
	}
	if name == "rgbi" {
		return intensities(v).color(), true
	}
	space, ok := spaces[name]
	if !ok {
		return 0, false
	}
	where, ok := space(v[0], v[1], v[2])
	if !ok || math.IsNaN(where.u+where.v) || math.IsInf(where.u+where.v, 0) {
		return 0, false
	}
	return where.intensities().color(), true
}

// spaces read the three numbers of a colour; ok is false for one that cannot be.
var spaces = map[string]func(a, b, c float64) (uvY, bool){
	"ciexyz": func(x, y, z float64) (uvY, bool) { return xyz{x, y, z}.uvY(), y >= 0 && y <= 1 },
	"cieuvy": func(u, v, y float64) (uvY, bool) { return uvY{u, v, y}, y >= 0 && y <= 1 },
	"ciexyy": func(x, y, lum float64) (uvY, bool) {
		d := -2*x + 12*y + 3
		return uvY{4 * x / d, 9 * y / d, lum}, lum >= 0 && lum <= 1
	},
	"cielab": func(l, a, b float64) (uvY, bool) { return lab(l, a, b).uvY(), l >= 0 && l <= 100 },
	"cieluv": func(l, u, v float64) (uvY, bool) {
		d := 13 * l / 100
		return uvY{u/d + whiteU, v/d + whiteV, luminance(l)}, l > 0 && l <= 100
	},
	"tekhvc": func(h, v, c float64) (uvY, bool) {
		sin, cos := math.Sincos(h*math.Pi/180 + bestRed)
		d := v * chromaScale
		return uvY{cos*c/d + whiteU, sin*c/d + whiteV, luminance(v)}, v > 0 && v <= 100 && c >= 0
	},
}

// The white point of the screen in XYZ with Y = 1, and in u'v'.
const (
	whiteX, whiteZ = 0.94966440, 1.40604029
	whiteSum       = whiteX + 15 + 3*whiteZ
	whiteU, whiteV = 4 * whiteX / whiteSum, 9 / whiteSum
)

// bestRed is the direction in u'v' where the hues of TekHVC begin, in radians.
var bestRed = math.Atan((0.4931 - whiteV) / (0.7127 - whiteU))

// chromaScale is what TekHVC counts its chroma in.
const chromaScale = 7.50725

// luminance is Y of a lightness L* from 0 to 100 (CIE 1976).
func luminance(l float64) float64 {
	if l < 7.99953624 {
		return l / 903.29
	}
	f := (l + 16) / 116
	return f * f * f
}

// lab is CIE L*a*b* with the scale that Xlib gives a*, b* and the darkest L*.
func lab(l, a, b float64) xyz {
	f := (l + 16) / 116
	if y := f * f * f; y >= 0.008856 {
		cube := func(v float64) float64 { return v * v * v }
		return xyz{whiteX * cube(f+a/5), y, whiteZ * cube(f-b/2)}
	}
	dark := l / 9.03292
	return xyz{whiteX * (a/3893.5 + dark), dark, whiteZ * (dark - b/1557.4)}
}

func (c xyz) uvY() uvY {
	d := c.x + 15*c.y + 3*c.z
	if d == 0 {
		return uvY{whiteU, whiteV, c.y}
	}
	return uvY{4 * c.x / d, 9 * c.y / d, c.y}
}

func (c uvY) xyz() xyz {
	if c.v == 0 {
		return xyz{y: c.y}
	}
	return xyz{x: c.y * 9 * c.u / (4 * c.v), y: c.y, z: c.y * (12 - 3*c.u - 20*c.v) / (4 * c.v)}
}

// toIntensities is the screen's matrix.
func (c xyz) toIntensities() intensities {
	return intensities{
		3.48340481253539000*c.x - 1.52176374927285200*c.y - 0.55923133354049780*c.z,
		-1.07152751306193600*c.x + 1.96593795204372400*c.y + 0.03673691339553462*c.z,
		0.06351179790497788*c.x - 0.20020501000496480*c.y + 0.81070942031648220*c.z,
	}
}

// shown reports whether the screen can show c, but for an error of calculation.
func (c intensities) shown() bool {
	const slack = 1e-5
	for _, v := range c {
		if !(v >= -slack && v <= 1+slack) {
			return false
		}
	}
	return true
}

// intensities is what the screen shows for c. Where it cannot show that, hue and
// lightness stay and the chroma becomes the largest that it can.
func (c uvY) intensities() intensities {
	if out := c.xyz().toIntensities(); out.shown() {
		return out
	}
	low, high := 0.0, 1.0 // parts of the way from white to c
	for range 50 {
		if mid := (low + high) / 2; c.toward(mid).shown() {
			low = mid
		} else {
			high = mid
		}
	}
	return c.toward(low)
}

// toward is the colour at a part of the way from white to c.
func (c uvY) toward(part float64) intensities {
	return uvY{whiteU + part*(c.u-whiteU), whiteV + part*(c.v-whiteV), c.y}.xyz().toIntensities()
}

// color is the colour with the values that make these intensities on the screen.
func (c intensities) color() Color {
	var v [3]uint8
	for i, f := range c {
		v[i] = response[i].value(min(max(f, 0), 1))
	}
	return RGBColor(v[0], v[1], v[2])
}

// curve is how bright a channel is: nothing up to dark, then the intensities for
// the first value and for every fifth one after it.
type curve struct {
	dark, first uint8
	levels      []float64
}

// value is the value of the channel with an intensity, between the known ones in
// proportion.
func (c *curve) value(intensity float64) uint8 {
	i := sort.SearchFloat64s(c.levels, intensity)
	value := func(i int) float64 { return float64(c.first) + 5*float64(i) }
	from, to, low := float64(c.dark), float64(c.first), 0.0
	if i > 0 {
		from, to, low = value(i-1), value(i), c.levels[i-1]
	}
	if i == len(c.levels) {
		return 0xff
	}
	return uint8(math.Round(from + (to-from)*(intensity-low)/(c.levels[i]-low)))
}

// response are the curves of red, green and blue.
var response = [3]curve{
	{dark: 0x09, first: 0x0a, levels: []float64{
		0.000936, 0.001481, 0.002329, 0.003529, 0.005127, 0.007169, 0.009699, 0.012759, 0.016392,
		0.020637, 0.025533, 0.031119, 0.037431, 0.044504, 0.052373, 0.061069, 0.070624, 0.08107,
		0.092433, 0.104744, 0.118026, 0.132307, 0.14761, 0.163958, 0.181371, 0.199871, 0.219475,
		0.240202, 0.262069, 0.285089, 0.309278, 0.334647, 0.361208, 0.388971, 0.417945, 0.448138,
		0.479555, 0.512202, 0.546082, 0.581199, 0.617552, 0.655144, 0.693971, 0.734031, 0.775322,
		0.817837, 0.861571, 0.906515, 0.952662, 1,
	}},
	{dark: 0x13, first: 0x14, levels: []float64{
		0.000832, 0.001998, 0.003612, 0.005736, 0.008428, 0.011745, 0.01574, 0.020463, 0.02596,
		0.032275, 0.039449, 0.047519, 0.05652, 0.066484, 0.077439, 0.089409, 0.102418, 0.116485,
		0.131625, 0.147853, 0.165176, 0.183604, 0.20314, 0.223783, 0.245533, 0.268384, 0.292327,
		0.317351, 0.343441, 0.37058, 0.398747, 0.427919, 0.458068, 0.489165, 0.521176, 0.554067,
		0.587797, 0.622324, 0.657604, 0.693588, 0.730225, 0.767459, 0.805235, 0.843491, 0.882164,
		0.921187, 0.96049, 1,
	}},
	{dark: 0x0e, first: 0x0f, levels: []float64{
		0.001341, 0.00208, 0.003188, 0.004729, 0.006766, 0.009357, 0.012559, 0.016424, 0.021004,
		0.026344, 0.032489, 0.039481, 0.047357, 0.056154, 0.065903, 0.076634, 0.088373, 0.101145,
		0.114968, 0.129862, 0.145841, 0.162915, 0.181095, 0.200386, 0.220791, 0.242309, 0.264937,
		0.28867, 0.313499, 0.33941, 0.36639, 0.394421, 0.423481, 0.453547, 0.484592, 0.516587,
		0.549498, 0.583291, 0.617925, 0.653361, 0.689553, 0.726454, 0.764013, 0.802178, 0.840891,
		0.880093, 0.919723, 0.959715, 1,
	}},
}
