// Random numbers from 0 up to 1, the same in every run of a test for the same seed: mulberry32.

export function createRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Returns a function that returns whole numbers from 0 to below its argument. */
export function createRandomBelow(seed: number): (below: number) => number {
  const random = createRandom(seed)
  return (below) => Math.floor(random() * below)
}
