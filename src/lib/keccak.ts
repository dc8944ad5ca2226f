/** Keccak-256 as Ethereum has it: SHA-3 with the padding of before the standard. `node:crypto` knows the standard's alone. */

const rateBytes = 136
const rounds = 24

/** Where each lane goes, by how many bits it turns, and what each round adds, in low words and high words. */
const places = new Uint8Array(rounds)
const turns = new Uint8Array(rounds)
const lowOf = new Uint32Array(rounds)
const highOf = new Uint32Array(rounds)
for (let round = 0, register = 1, x = 1, y = 0; round < rounds; round++) {
  ;[x, y] = [y, (2 * x + 3 * y) % 5]
  places[round] = 2 * (5 * y + x)
  turns[round] = (((round + 1) * (round + 2)) / 2) % 64
  for (let nth = 0; nth < 7; nth++) {
    register = ((register << 1) ^ ((register >> 7) * 0x71)) % 256
    if ((register & 2) === 0) continue
    const bit = 2 ** nth - 1
    if (bit < 32) lowOf[round] = (lowOf[round] as number) ^ (1 << bit)
    else highOf[round] = (highOf[round] as number) ^ (1 << (bit - 32))
  }
}

/** The half of a lane that turns left by some bits: the same half, and the other one. Never by 32. */
const turned = (same: number, other: number, bits: number): number =>
  bits < 32 ? (same << bits) | (other >>> (32 - bits)) : (other << (bits - 32)) | (same >>> (64 - bits))

/** Of the columns of a state; nobody else is here meanwhile. */
const row = new Uint32Array(10)

// Plain numbers and loops: what is taken apart and put together again costs ten times as much.
function permute(state: Uint32Array): void {
  for (let round = 0; round < rounds; round++) {
    for (let x = 0; x < 10; x++) {
      let sum = 0
      for (let y = x; y < 50; y += 10) sum ^= state[y] as number
      row[x] = sum
    }
    for (let x = 0; x < 10; x += 2) {
      const next = x === 8 ? 0 : x + 2
      const before = x === 0 ? 8 : x - 2
      const nextLow = row[next] as number
      const nextHigh = row[next + 1] as number
      const low = turned(nextLow, nextHigh, 1) ^ (row[before] as number)
      const high = turned(nextHigh, nextLow, 1) ^ (row[before + 1] as number)
      for (let y = x; y < 50; y += 10) {
        state[y] = (state[y] as number) ^ low
        state[y + 1] = (state[y + 1] as number) ^ high
      }
    }
    let low = state[2] as number
    let high = state[3] as number
    for (let nth = 0; nth < rounds; nth++) {
      const place = places[nth] as number
      const bits = turns[nth] as number
      const newLow = turned(low, high, bits)
      const newHigh = turned(high, low, bits)
      low = state[place] as number
      high = state[place + 1] as number
      state[place] = newLow
      state[place + 1] = newHigh
    }
    for (let y = 0; y < 50; y += 10) {
      for (let x = 0; x < 10; x++) row[x] = state[y + x] as number
      for (let x = 0; x < 10; x++) {
        const next = row[x < 8 ? x + 2 : x - 8] as number
        const third = row[x < 6 ? x + 4 : x - 6] as number
        state[y + x] = (state[y + x] as number) ^ (~next & third)
      }
    }
    state[0] = (state[0] as number) ^ (lowOf[round] as number)
    state[1] = (state[1] as number) ^ (highOf[round] as number)
  }
}

/** The Keccak-256 of bytes, in hex without `0x`. */
export function keccak256(bytes: Uint8Array): string {
  const padded = new Uint8Array((Math.floor(bytes.length / rateBytes) + 1) * rateBytes)
  padded.set(bytes)
  padded[bytes.length] = 1
  padded[padded.length - 1] = (padded[padded.length - 1] as number) | 0x80
  const words = new DataView(padded.buffer)
  const state = new Uint32Array(50)
  for (let block = 0; block < padded.length; block += rateBytes) {
    for (let word = 0; word < rateBytes / 4; word++) state[word] = (state[word] as number) ^ words.getUint32(block + 4 * word, true)
    permute(state)
  }
  const digest = Buffer.alloc(32)
  for (let word = 0; word < 8; word++) digest.writeUInt32LE(state[word] as number, 4 * word)
  return digest.toString('hex')
}
