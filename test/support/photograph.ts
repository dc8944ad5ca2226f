import { png } from '../../src/demo/pictures.ts'

const side = 660
const octaves = 8
/** How much fainter each finer octave is. With this, a picture is compressed to as many bytes as a usual photograph. */
const persistence = 0.8

/** Returns a number from 0 to 1 that depends on `seed` alone. */
function hash(seed: number): number {
  let mixed = Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
}

const smooth = (part: number): number => part * part * (3 - 2 * part)

/** Interpolates between random values at the corners of cells (value noise). */
function noise(x: number, y: number, cell: number, seed: number): number {
  const [column, row] = [Math.floor(x / cell), Math.floor(y / cell)]
  const [right, below] = [smooth(x / cell - column), smooth(y / cell - row)]
  const at = (dx: number, dy: number) =>
    hash(Math.imul(column + dx, 73_856_093) ^ Math.imul(row + dy, 19_349_663) ^ Math.imul(seed, 83_492_791))
  return (at(0, 0) * (1 - right) + at(1, 0) * right) * (1 - below) + (at(0, 1) * (1 - right) + at(1, 1) * right) * below
}

/**
 * Draws a PNG as a photograph of a product: a subject with fine details in front of a plain wall.
 * @param radius how far the subject reaches from the middle, as a part of the side; from 0.71 it fills the picture
 */
export function photograph(seed: number, radius = 0.42): Buffer<ArrayBuffer> {
  return png(side, side, (x, y) => {
    const isSubject = Math.hypot(x / side - 0.5, y / side - 0.5) < radius
    let light = 0
    for (let octave = 0; octave < (isSubject ? octaves : 2); octave++)
      light += (noise(x, y, side / 2 ** (octave + 1), seed * 31 + octave + 1) - 0.5) * persistence ** octave
    const tone = isSubject ? 128 + light * 110 : 220 + light * 25
    const channel = (value: number) => Math.max(0, Math.min(255, Math.round(value)))
    return [channel(tone * 1.1), channel(tone), channel(tone * 0.8)]
  })
}
